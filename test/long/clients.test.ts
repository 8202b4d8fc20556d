import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLIENTS, type Connection, type Library, openLibrary } from '../support/clients.ts'
import { readJson, rpc } from '../support/test-app.ts'

/** What real clients do beyond the columns of the matrix (client-matrix.test.ts): editing, whole skills, faults, every single prompt. */

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

    it('reads a real skill whole', async () => {
      const [first] = (await call('search_skills', { query: '', limit: 1 })).body.skills
      const skill = (await call('get_skill', { id: first.slug })).body
      expect(skill.files.map((file: { filename: string }) => file.filename)).toEqual(first.files)
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

it('every public prompt of the walk is fetched back by prompts/get', async () => {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${library.url}/api/mcp`)))
  // Without a cursor the official client walks all pages by itself; there are several.
  const { prompts } = await client.listPrompts()
  const firstPage = await readJson(await fetch(`${library.url}/api/mcp`, rpc('prompts/list')))
  expect(firstPage.result.nextCursor).toEqual(expect.any(String))
  const seen = new Set(prompts.map((prompt) => prompt.name))
  expect([seen.size, prompts.length]).toEqual([library.promptCount, library.promptCount])
  for (const name of seen) {
    const { messages } = await client.getPrompt({ name })
    expect(messages[0]?.content.type === 'text' && messages[0].content.text.length > 0, name).toBe(true)
  }
  await client.close()
})

const INITIALIZE =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}'
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}'

describe('stdio', () => {
  it('writes nothing but protocol to stdout, and refuses to make a missing library', async () => {
    const input = [
      INITIALIZE,
      INITIALIZED,
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_prompts","arguments":{"query":"writer","limit":1}}}',
    ].join('\n')
    const { code, stdout } = await library.place.commonplace(['mcp'], { input: `${input}\n` })
    expect(code).toBe(0)
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
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
    const call = '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"save_prompt","arguments":{"title":"T","content":"C"}}}'
    for (const options of [[], ['--url', library.url]]) {
      const { stdout } = await library.place.commonplace(['mcp', ...options], { input: `${INITIALIZE}\n${INITIALIZED}\n${call}\n` })
      const [, answer] = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(JSON.parse(answer.result.content[0].text)).toEqual({
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
