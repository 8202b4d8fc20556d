import { fileURLToPath } from 'node:url'
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPlace, MAIN, run } from '../support/processes.ts'
import { findTestData } from '../support/real-data.ts'

/** Real clients against the built program over a real port and over pipes: each does the main job. */

const INSPECTOR = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url),
)
const data = findTestData()
const place = createPlace()
let url = ''
let key = ''
let total = 0

/** The least that every client can do, whatever its version calls it. */
interface Connection {
  listTools(): Promise<string[]>
  callTool(name: string, args: Record<string, unknown>): Promise<{ isError: boolean; text: string; structured: unknown }>
  listPrompts(cursor?: string): Promise<{ names: string[]; nextCursor: string | undefined }>
  getPrompt(name: string, args?: Record<string, string>): Promise<string>
  close(): Promise<void>
}

beforeAll(async () => {
  const imported = await place.commonplace(['import', 'prompts', data.promptsFile, '--user', 'demo', '--public'])
  expect(imported.code, imported.stderr).toBe(0)
  total = Number(/^(\d+) read/m.exec(imported.stdout)?.[1])
  expect((await place.commonplace(['import', 'skills', data.skillsFolder, '--user', 'demo', '--public'])).code).toBe(0)
  key = (await place.commonplace(['keys', 'create', '--user', 'demo', '--name', 'test'])).stdout.trim()
  const server = await place.serve()
  url = server.url
}, 120_000)
afterAll(() => place.remove())

const INFO = { name: 'test', version: '1.0.0' }

function wrap(client: ClientV2 | ClientV1): Connection {
  return {
    listTools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    async callTool(name, args) {
      const result = await client.callTool({ name, arguments: args })
      const [block] = Array.isArray(result.content) ? result.content : []
      return { isError: result.isError === true, text: block?.type === 'text' ? block.text : '', structured: result.structuredContent }
    },
    async listPrompts(cursor) {
      const { prompts, nextCursor } = await client.listPrompts(cursor === undefined ? {} : { cursor })
      return { names: prompts.map((prompt) => prompt.name), nextCursor }
    },
    async getPrompt(name, args) {
      const { messages } = await client.getPrompt({ name, ...(args ? { arguments: args } : {}) })
      const content = messages[0]?.content
      return content?.type === 'text' ? content.text : ''
    },
    close: () => client.close(),
  }
}

type Mode = 'legacy' | 'auto' | { pin: '2026-07-28' }

async function overHttp(mode: Mode): Promise<Connection> {
  const client = new ClientV2(INFO, { versionNegotiation: { mode } })
  await client.connect(new HttpV2(new URL(`${url}/api/mcp`), { requestInit: { headers: { PROMPTS_API_KEY: key } } }))
  return wrap(client)
}

async function overStdio(args: readonly string[]): Promise<Connection> {
  const client = new ClientV2(INFO)
  await client.connect(
    new StdioV2({
      command: process.execPath,
      args: [MAIN, 'mcp', ...args],
      env: { ...place.env, PROMPTS_API_KEY: key },
      stderr: 'inherit',
    }),
  )
  return wrap(client)
}

async function withV1(): Promise<Connection> {
  const client = new ClientV1(INFO)
  const transport = new HttpV1(new URL(`${url}/api/mcp`), { requestInit: { headers: { PROMPTS_API_KEY: key } } })
  // Its own transport does not fit its own parameter under exactOptionalPropertyTypes, hence the untyped call.
  await Reflect.apply(client.connect, client, [transport])
  return wrap(client)
}

const CLIENTS: readonly (readonly [string, () => Promise<Connection>])[] = [
  ['client 2.x over HTTP', () => overHttp('legacy')],
  ['client 2.x over HTTP, version by itself', () => overHttp('auto')],
  ['client 2.x over HTTP, pinned to 2026-07-28', () => overHttp({ pin: '2026-07-28' })],
  ['sdk 1.x over HTTP', withV1],
  ['client 2.x over stdio on the local file', () => overStdio([])],
  ['client 2.x over stdio through the server', () => overStdio(['--url', url])],
]

for (const [name, connect] of CLIENTS) {
  describe(name, () => {
    let client: Connection
    beforeAll(async () => {
      client = await connect()
    })
    afterAll(() => client.close())

    it('lists the tools', async () => {
      expect(await client.listTools()).toEqual([
        'search_prompts',
        'get_prompt',
        'save_prompt',
        'search_skills',
        'get_skill',
        'save_skill',
        'add_file_to_skill',
        'update_skill_file',
        'remove_file_from_skill',
      ])
    })

    it('searches, saves, finds, fills in and edits', async () => {
      const query = data.isReal ? 'linux terminal' : 'code review'
      const found = await client.callTool('search_prompts', { query, limit: 3 })
      expect(found.isError).toBe(false)
      expect(found.structured).toEqual(JSON.parse(found.text))
      if (data.isReal) expect(JSON.parse(found.text).prompts[0].title).toBe('Linux Terminal')

      const title = `Saved by ${name}`
      const saved = await client.callTool('save_prompt', { title, content: 'Greet ${who} with ${what:a smile}', tags: ['e2e'] })
      const { prompt } = JSON.parse(saved.text)
      expect(prompt).toMatchObject({ title, isPrivate: true, author: 'demo' })
      const filled = JSON.parse((await client.callTool('get_prompt', { id: prompt.id, variables: { who: 'Ada' } })).text)
      expect(filled.content).toBe('Greet Ada with a smile')
      expect(await client.getPrompt(prompt.slug, { who: 'Ada', what: 'tea' })).toBe('Greet Ada with tea')
      expect(await client.getPrompt(prompt.id)).toBe('Greet ${who} with a smile')

      const made = JSON.parse(
        (await client.callTool('save_skill', { title: `Skill by ${name}`, files: [{ filename: 'SKILL.md', content: '# S\r\n' }] })).text,
      )
      const skillId = made.skill.id
      expect((await client.callTool('add_file_to_skill', { skillId, filename: 'a/b c#?.md', content: 'one' })).isError).toBe(false)
      expect((await client.callTool('update_skill_file', { skillId, filename: 'a/b c#?.md', content: 'two' })).isError).toBe(false)
      const skill = JSON.parse((await client.callTool('get_skill', { id: skillId })).text)
      expect(skill.files).toEqual([
        { filename: 'SKILL.md', content: '# S\r\n' },
        { filename: 'a/b c#?.md', content: 'two' },
      ])
      const removed = JSON.parse((await client.callTool('remove_file_from_skill', { skillId, filename: 'a/b c#?.md' })).text)
      expect(removed).toMatchObject({ success: true, files: ['SKILL.md'] })
    })

    it('reads a real skill whole', async () => {
      const found = JSON.parse((await client.callTool('search_skills', { query: '', limit: 1 })).text)
      const skill = JSON.parse((await client.callTool('get_skill', { id: found.skills[0].slug })).text)
      expect(skill.files.map((file: { filename: string }) => file.filename)).toEqual(found.skills[0].files)
    })

    it('is told what is wrong', async () => {
      const refused = await client.callTool('save_prompt', { title: '', content: 'x' })
      expect([refused.isError, JSON.parse(refused.text).code]).toEqual([true, 'invalid_input'])
      const missing = await client.callTool('get_prompt', { id: 'nothing-here' })
      expect([missing.isError, JSON.parse(missing.text).code]).toEqual([true, 'not_found'])
      await expect(client.getPrompt('nothing-here')).rejects.toThrow(/No prompt/)
      await expect(client.listPrompts('AAAA')).rejects.toThrow(/cursor/)
    })

    it('walks to the last prompt', async () => {
      const names = new Set<string>()
      let pages = 0
      let cursor: string | undefined
      do {
        const page = await client.listPrompts(cursor)
        for (const one of page.names) {
          expect(names.has(one), one).toBe(false)
          names.add(one)
        }
        cursor = page.nextCursor
        pages++
      } while (cursor !== undefined && pages < 60)
      expect(pages).toBeLessThanOrEqual(40)
      expect(names.size).toBeGreaterThanOrEqual(total)
    })
  })
}

it('every public prompt of the walk is fetched back by prompts/get', async () => {
  const client = new ClientV2(INFO)
  await client.connect(new HttpV2(new URL(`${url}/api/mcp`)))
  // Without a cursor the official client walks all pages by itself.
  const { prompts } = await client.listPrompts()
  const seen = new Set(prompts.map((prompt) => prompt.name))
  expect([seen.size, prompts.length]).toEqual([total, total])
  for (const name of seen) {
    const { messages } = await client.getPrompt({ name })
    expect(messages[0]?.content.type === 'text' && messages[0].content.text.length > 0, name).toBe(true)
  }
  await client.close()
})

describe('Inspector', () => {
  const inspect = (...args: string[]) =>
    run(process.execPath, [INSPECTOR, '--cli', `${url}/api/mcp`, '--transport', 'http', ...args], { env: { HOME: place.folder } })

  it('lists tools and prompts and calls a tool', async () => {
    const tools = await inspect('--method', 'tools/list')
    expect(tools.code, tools.stderr).toBe(0)
    expect(JSON.parse(tools.stdout).tools.length).toBe(9)
    const prompts = await inspect('--method', 'prompts/list')
    expect(JSON.parse(prompts.stdout).prompts.length).toBeGreaterThan(0)
    const found = await inspect(
      '--method',
      'tools/call',
      '--tool-name',
      'search_prompts',
      '--tool-arg',
      'query=writer',
      '--tool-arg',
      'limit=2',
    )
    expect(JSON.parse(found.stdout).structuredContent.count).toBe(2)
  })
})

describe('stdio', () => {
  it('writes nothing but protocol to stdout, and refuses to make a missing library', async () => {
    const input = [
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_prompts","arguments":{"query":"writer","limit":1}}}',
    ].join('\n')
    const { code, stdout } = await place.commonplace(['mcp'], { input: `${input}\n` })
    expect(code).toBe(0)
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map((line) => line.id)).toEqual([1, 2])
    const missing = `${place.folder}/nowhere.db`
    const refused = await place.commonplace(['mcp'], { env: { DATABASE_URL: `sqlite:${missing}` } })
    expect([refused.code, refused.stdout]).toEqual([66, ''])
    expect(refused.stderr).toContain(missing)
  })

  it('refuses a bad key and an address that is neither https nor this machine', async () => {
    const bad = await place.commonplace(['mcp'], { env: { PROMPTS_API_KEY: 'cpb_wrong' } })
    expect([bad.code, bad.stdout]).toEqual([77, ''])
    expect(bad.stderr).not.toContain('cpb_wrong')
    const plain = await place.commonplace(['mcp', '--url', 'http://prompts.example.org'])
    expect([plain.code, plain.stderr]).toEqual([64, expect.stringContaining('https')])
  })
})
