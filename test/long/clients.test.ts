import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLIENTS, type Connection, type Library, openLibrary } from '../support/clients.ts'

/** What real clients do beyond the columns of the matrix (client-matrix.test.ts): editing and faults, and what stdio says. */

let library: Library
beforeAll(async () => {
  library = await openLibrary()
}, 120_000)
afterAll(() => library.place.remove())

// Without the Inspector, which starts a process for each call and cannot send a cursor.
for (const client of CLIENTS.filter((one) => one.package !== '@modelcontextprotocol/inspector')) {
  describe(client.name, () => {
    let connection: Connection
    const call = async (name: string, args: Record<string, unknown>) => {
      const { isError, text } = await connection.callTool(name, args)
      return { isError, body: JSON.parse(text) }
    }
    beforeAll(async () => {
      connection = await client.connect(library, null)
    })
    afterAll(() => connection.close())

    it('saves a skill and edits its files', async () => {
      const files = [{ filename: 'SKILL.md', content: '# S\r\n' }]
      const skillId = (await call('save_skill', { title: `Skill by ${client.name}`, files })).body.skill.id
      const filename = 'a/b c#?.md'
      expect((await call('add_file_to_skill', { skillId, filename, content: 'one' })).isError).toBe(false)
      expect((await call('update_skill_file', { skillId, filename, content: 'two' })).isError).toBe(false)
      expect((await call('get_skill', { id: skillId })).body.files).toEqual([...files, { filename, content: 'two' }])
      expect((await call('remove_file_from_skill', { skillId, filename })).body).toMatchObject({ success: true, files: ['SKILL.md'] })
    })

    it('is told what is wrong', async () => {
      const refused = await call('save_prompt', { title: '', content: 'x' })
      expect([refused.isError, refused.body.code]).toEqual([true, 'invalid_input'])
      const missing = await call('get_prompt', { id: 'nothing-here' })
      expect([missing.isError, missing.body.code]).toEqual([true, 'not_found'])
      await expect(connection.getPrompt('nothing-here')).rejects.toThrow(/Prompt not found/)
      await expect(connection.listPrompts('AAAA')).rejects.toThrow(/cursor/)
    })
  })
}

const INITIALIZE = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } }

describe('stdio', () => {
  /** Opens MCP over stdio, and calls a tool: what is on stdout. */
  const say = async (options: readonly string[], name: string, args: object) => {
    const messages = [
      { id: 1, method: 'initialize', params: INITIALIZE },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name, arguments: args } },
    ]
    const input = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('')
    const { code, stdout } = await library.place.commonplace(['mcp', ...options], { input })
    const lines = stdout.trimEnd().split('\n')
    return { code, lines: lines.map((line) => JSON.parse(line)) }
  }

  it('writes nothing but protocol to stdout, and refuses to make a missing library', async () => {
    const { code, lines } = await say([], 'search_prompts', { query: 'writer', limit: 1 })
    expect(code).toBe(0)
    expect(lines.map((line) => line.id)).toEqual([1, 2])
    // Nothing is told over stdio, so nothing is promised.
    const { tools, prompts, resources } = lines[0].result.capabilities
    expect([tools, prompts, resources]).toEqual([{ listChanged: false }, { listChanged: false }, { listChanged: false }])
    const missing = `${library.place.folder}/nowhere.db`
    const refused = await library.place.commonplace(['mcp'], { env: { DATABASE_URL: `sqlite:${missing}` } })
    expect([refused.code, refused.stdout]).toEqual([66, ''])
    expect(refused.stderr).toContain(missing)
  })

  it('says where its key comes from, on the local library and through a service', async () => {
    for (const options of [[], ['--url', library.url]]) {
      const { lines } = await say(options, 'save_prompt', { title: 'T', content: 'C' })
      expect(JSON.parse(lines[1].result.content[0].text)).toEqual({
        error: 'save_prompt needs an API key: set PROMPTS_API_KEY in the environment of this MCP server.',
        code: 'unauthenticated',
      })
    }
    const command = await library.place.commonplace(['save-prompt', '--title', 'T', '--content', 'C'])
    expect([command.code, command.stderr]).toEqual([77, expect.stringContaining('add --user NAME, or set PROMPTS_API_KEY')])
  })

  it('refuses a bad key and an address that is neither https nor this machine', async () => {
    const bad = await library.place.commonplace(['mcp'], { env: { PROMPTS_API_KEY: 'cpb_wrong' } })
    expect([bad.code, bad.stdout]).toEqual([77, ''])
    expect(bad.stderr).not.toContain('cpb_wrong')
    const plain = await library.place.commonplace(['mcp', '--url', 'http://prompts.example.org'])
    expect([plain.code, plain.stderr]).toEqual([64, expect.stringContaining('https')])
  })
})
