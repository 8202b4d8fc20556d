import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { findTool } from '../../scripts/setup-tools.ts'
import { createMCPClient, ElicitationRequestSchema } from '../../tools/ai-sdk.ts'
import { Client as ClientV1, ElicitRequestSchema, StreamableHTTPClientTransport as HttpV1 } from '../../tools/sdk-v1.ts'
import { createKey, importStarter, savePrompts } from './library-fixtures.ts'
import { createPlace, MAIN, type Place, run } from './processes.ts'

/** Real clients against the built program, each behind the same few calls, and the library they work on. */

const INSPECTOR = findTool('@modelcontextprotocol/inspector/clients/launcher/build/index.js')
const MCP_REMOTE = findTool('mcp-remote/dist/proxy.js')
const INFO = { name: 'test', version: '1.0.0' }

/** A served library with the starter library in it, a public prompt with blanks, and a key. */
export interface Library {
  readonly place: Place
  readonly url: string
  readonly key: string
  readonly promptCount: number
  readonly skillCount: number
  /** The public prompt that says `LETTER`. */
  readonly letter: { readonly id: string; readonly slug: string }
}

export const LETTER = 'Write to ${who} about ${topic:tea}.'

/** More prompts than a page of `prompts/list` has room for. */
const FILLERS = Array.from({ length: 400 }, (_, n) => ({ title: `Filler ${n}`, content: `Write the number ${n} in words.` }))

/** Serves the starter library, prompts that fill pages, and the letter; makes a key for their owner. */
export async function openLibrary(): Promise<Library> {
  const place = createPlace()
  const { promptCount, skillCount } = await importStarter(place.databaseUrl, 'demo')
  const [letter, ...fillers] = await savePrompts(place.databaseUrl, 'demo', [
    { title: 'A letter of the test', content: LETTER },
    ...FILLERS,
  ])
  if (!letter) throw new Error('The letter was not saved.')
  const key = await createKey(place.databaseUrl, 'demo')
  const { url } = await place.serve()
  return { place, url, key, promptCount: promptCount + 1 + fillers.length, skillCount, letter }
}

/** What the user of a client answers when asked; null for a client that does not declare that it can ask. */
export type UserAnswer = { readonly action: 'accept'; readonly content: Record<string, string> } | { readonly action: 'decline' } | null

/** The least that every client can do, whatever its version calls it. */
export interface Connection {
  /** The fields of each form the user was shown. */
  readonly asked: readonly (readonly string[])[]
  listTools(): Promise<string[]>
  callTool(name: string, args: Record<string, unknown>): Promise<{ isError: boolean; text: string; structured: unknown }>
  /** A page, or all at once where the client walks the pages itself. */
  listPrompts(cursor?: string): Promise<{ names: string[]; nextCursor: string | undefined }>
  getPrompt(name: string, args?: Record<string, string>): Promise<string>
  listResources(): Promise<string[]>
  readResource(uri: string): Promise<string>
  /** Lists the skills by the extension and checks every file against its digest; how many skills. Not where a client knows no skills. */
  verifySkills?(): Promise<number>
  close(): Promise<void>
}

/** A client under test. */
export interface TestedClient {
  readonly name: string
  /** The npm package that is tested. */
  readonly package: string
  /** Why it cannot be asked, or cannot verify skills, where that is so. */
  readonly cannot: { readonly elicit?: string; readonly verifySkills?: string }
  connect(library: Library, answer: UserAnswer): Promise<Connection>
}

// ---- What is read from answers, the same for every client

const toolNames = z.object({ tools: z.array(z.object({ name: z.string() })) })
const texts = z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))
const callResult = z.object({ content: texts, isError: z.boolean().optional(), structuredContent: z.unknown().optional() })
const promptPage = z.object({ prompts: z.array(z.object({ name: z.string() })), nextCursor: z.string().optional() })
const promptResult = z.object({ messages: z.array(z.object({ content: z.object({ type: z.literal('text'), text: z.string() }) })).min(1) })
const resourcePage = z.object({ resources: z.array(z.object({ uri: z.string() })) })
const readResult = z.object({ contents: z.array(z.object({ uri: z.string(), text: z.string() })).min(1) })
const form = z.object({ requestedSchema: z.object({ properties: z.record(z.string(), z.unknown()) }) })

/** Each call's answer as the client gives it. */
type Raw = Pick<Connection, 'verifySkills' | 'close'> & {
  [Call in Exclude<keyof Connection, 'asked' | 'verifySkills' | 'close'>]: (...args: Parameters<Connection[Call]>) => Promise<unknown>
}

function toConnection(raw: Raw, asked: readonly (readonly string[])[]): Connection {
  return {
    asked,
    listTools: async () => toolNames.parse(await raw.listTools()).tools.map((tool) => tool.name),
    async callTool(name, args) {
      const { content, isError, structuredContent } = callResult.parse(await raw.callTool(name, args))
      return { isError: isError === true, text: content[0]?.text ?? '', structured: structuredContent }
    },
    async listPrompts(cursor) {
      const { prompts, nextCursor } = promptPage.parse(await raw.listPrompts(cursor))
      return { names: prompts.map((prompt) => prompt.name), nextCursor }
    },
    getPrompt: async (name, args) => promptResult.parse(await raw.getPrompt(name, args)).messages[0]?.content.text ?? '',
    listResources: async () => resourcePage.parse(await raw.listResources()).resources.map((resource) => resource.uri),
    readResource: async (uri) => readResult.parse(await raw.readResource(uri)).contents[0]?.text ?? '',
    ...(raw.verifySkills ? { verifySkills: raw.verifySkills } : {}),
    close: raw.close,
  }
}

/** A user who gives that answer, and a record of the forms shown. */
function createUser(answer: UserAnswer) {
  const asked: string[][] = []
  return {
    asked,
    capabilities: answer === null ? {} : { elicitation: {} },
    async fillIn(params: unknown) {
      asked.push(Object.keys(form.parse(params).requestedSchema.properties))
      if (answer === null) throw new Error('A user was asked who cannot be')
      return answer.action === 'accept' ? { action: answer.action, content: answer.content } : { action: answer.action }
    },
  }
}

function fromSdk(client: ClientV2 | ClientV1): Raw {
  return {
    listTools: () => client.listTools(),
    callTool: (name, args) => client.callTool({ name, arguments: args }),
    listPrompts: (cursor) => client.listPrompts(cursor === undefined ? {} : { cursor }),
    getPrompt: (name, args) => client.getPrompt({ name, ...(args ? { arguments: args } : {}) }),
    listResources: () => client.listResources(),
    readResource: (uri) => client.readResource({ uri }),
    close: () => client.close(),
  }
}

// ---- The clients

const keyHeader = (key: string) => ({ PROMPTS_API_KEY: key })

type Mode = 'legacy' | 'auto' | { pin: '2026-07-28' }

/** Reads every file of every skill; the client itself refuses one that is not what its entry says. */
async function verifyEverySkill(client: ClientV2): Promise<number> {
  const reader = new SkillsClient(client, { parseFrontmatter: (yaml) => z.record(z.string(), z.unknown()).parse(parseYaml(yaml)) })
  const { skills } = await reader.list()
  for (const skill of skills) {
    if (skill.resources === 'dynamic') throw new Error(`${skill.uri} has no digests`)
    const files = await Promise.all(skill.resources.map((file) => reader.read(skill, file.uri)))
    const unverified = files.find((file) => !file.verified)
    if (unverified) throw new Error(`${unverified.uri} was not verified`)
  }
  return skills.length
}

async function connectV2(answer: UserAnswer, mode: Mode, transport: HttpV2 | StdioV2): Promise<Connection> {
  const user = createUser(answer)
  const client = new ClientV2(INFO, { capabilities: user.capabilities, versionNegotiation: { mode } })
  if (answer !== null) client.setRequestHandler('elicitation/create', (request) => user.fillIn(request.params))
  await client.connect(transport)
  return toConnection({ ...fromSdk(client), verifySkills: () => verifyEverySkill(client) }, user.asked)
}

/** The official client, which can do everything, and the package that its transport is of. */
function official(
  name: string,
  mode: Mode,
  toTransport: (library: Library) => HttpV2 | StdioV2,
  from = '@modelcontextprotocol/client',
): TestedClient {
  return { name, package: from, cannot: {}, connect: (library, answer) => connectV2(answer, mode, toTransport(library)) }
}

const overHttp = ({ url, key }: Library) => new HttpV2(new URL(`${url}/api/mcp`), { requestInit: { headers: keyHeader(key) } })

function overStdio(args: readonly string[], env: Record<string, string>): StdioV2 {
  return new StdioV2({ command: process.execPath, args: [...args], env, stderr: 'inherit' })
}

const NO_SKILLS = 'does not support the skills extension; it reads skills as plain resources.'

const sdkV1: TestedClient = {
  name: 'sdk 1.x',
  package: '@modelcontextprotocol/sdk',
  cannot: { verifySkills: `\`@modelcontextprotocol/sdk\` ${NO_SKILLS}` },
  async connect({ url, key }, answer) {
    const user = createUser(answer)
    const client = new ClientV1(INFO, { capabilities: user.capabilities })
    if (answer !== null) client.setRequestHandler(ElicitRequestSchema, (request) => user.fillIn(request.params))
    const transport = new HttpV1(new URL(`${url}/api/mcp`), { requestInit: { headers: keyHeader(key) } })
    // Its own transport does not fit its own parameter under exactOptionalPropertyTypes, hence the untyped call.
    await Reflect.apply(client.connect, client, [transport])
    return toConnection(fromSdk(client), user.asked)
  },
}

function aiSdk(name: string, protocolVersionDiscovery: boolean): TestedClient {
  return {
    name,
    package: '@ai-sdk/mcp',
    cannot: { verifySkills: `\`@ai-sdk/mcp\` ${NO_SKILLS}` },
    async connect({ url, key }, answer) {
      const user = createUser(answer)
      const client = await createMCPClient({
        transport: { type: 'http', url: `${url}/api/mcp`, headers: keyHeader(key) },
        capabilities: user.capabilities,
        protocolVersionDiscovery,
      })
      if (answer !== null) client.onElicitationRequest(ElicitationRequestSchema, (request) => user.fillIn(request.params))
      return toConnection(
        {
          listTools: () => client.listTools(),
          callTool: (tool, args) => client.callTool({ name: tool, arguments: args }),
          listPrompts: (cursor) => client.listPrompts(cursor === undefined ? {} : { params: { cursor } }),
          getPrompt: (prompt, args) => client.getPrompt({ name: prompt, ...(args ? { arguments: args } : {}) }),
          listResources: () => client.listResources(),
          readResource: (uri) => client.readResource({ uri }),
          close: () => client.close(),
        },
        user.asked,
      )
    },
  }
}

/** As Claude Desktop runs it: a program on pipes. What it stores goes into the test's own folder. */
function mcpRemote(name: string, flags: readonly string[]): TestedClient {
  const toTransport = ({ url, key, place }: Library) => {
    const home = join(place.folder, 'mcp-remote')
    mkdirSync(home, { recursive: true })
    const args = [MCP_REMOTE, `${url}/api/mcp`, '--silent', '--header', 'PROMPTS_API_KEY:${KEY}', ...flags]
    return overStdio(args, { HOME: home, MCP_REMOTE_CONFIG_DIR: home, KEY: key })
  }
  return official(name, 'legacy', toTransport, 'mcp-remote')
}

function throughProgram(name: string, toArguments: (library: Library) => readonly string[]): TestedClient {
  const toEnv = ({ place, key }: Library) => ({ ...place.env, ...keyHeader(key) })
  return official(name, 'legacy', (library) => overStdio([MAIN, 'mcp', ...toArguments(library)], toEnv(library)))
}

const inspectorAnswer = z.object({ result: z.unknown() })
const verification = z.object({ ok: z.literal(true), outcome: z.literal('verified') })

/** One process for each call; it walks the pages of a list by itself. */
function inspector(name: string, era: 'legacy' | 'modern'): TestedClient {
  return {
    name,
    package: '@modelcontextprotocol/inspector',
    cannot: { elicit: 'The Inspector CLI has no user to ask and does not declare elicitation.' },
    async connect({ url, key, place }) {
      const home = join(place.folder, 'inspector')
      mkdirSync(home, { recursive: true })
      const command = ['--cli', `${url}/api/mcp`, '--transport', 'http', '--protocol-era', era, '--format', 'json', '-q']
      const inspect = async (...args: string[]): Promise<string> => {
        const header = ['--header', `PROMPTS_API_KEY: ${key}`]
        const { stdout, stderr } = await run(process.execPath, [INSPECTOR, ...command, ...header, ...args], { env: { HOME: home } })
        if (stdout === '') throw new Error(stderr)
        return stdout
      }
      const call = async (...args: string[]) => inspectorAnswer.parse(JSON.parse(await inspect(...args))).result
      return toConnection(
        {
          listTools: () => call('--method', 'tools/list'),
          callTool: (tool, args) => call('--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args)),
          listPrompts: () => call('--method', 'prompts/list'),
          getPrompt: (prompt, args = {}) => {
            const pairs = Object.entries(args).map(([field, value]) => `${field}=${value}`)
            return call('--method', 'prompts/get', '--prompt-name', prompt, ...(pairs.length > 0 ? ['--prompt-args', ...pairs] : []))
          },
          listResources: () => call('--method', 'resources/list'),
          readResource: (uri) => call('--method', 'resources/read', '--uri', uri),
          async verifySkills() {
            const lines = (await inspect('--method', 'skills/list', '--verify', '--require-digests')).trimEnd().split('\n')
            for (const line of lines) verification.parse(JSON.parse(line))
            return lines.length
          },
          close: async () => {},
        },
        [],
      )
    },
  }
}

/** Every client that is tested. */
export const CLIENTS: readonly TestedClient[] = [
  official('client 2.x', 'legacy', overHttp),
  official('client 2.x, version by itself', 'auto', overHttp),
  official('client 2.x, 2026-07-28', { pin: '2026-07-28' }, overHttp),
  sdkV1,
  aiSdk('AI SDK', true),
  aiSdk('AI SDK, no discovery', false),
  mcpRemote('mcp-remote', []),
  mcpRemote('mcp-remote, --protocol auto', ['--protocol', 'auto']),
  inspector('Inspector CLI, legacy', 'legacy'),
  inspector('Inspector CLI, modern', 'modern'),
  throughProgram('stdio on the local file', () => []),
  throughProgram('stdio through the server', ({ url }) => ['--url', url]),
]

const manifest = z.object({ version: z.string() })

/** The version of an installed package, of the project or of tools/. */
export function installedVersion(name: string): string {
  const own = new URL(`../../node_modules/${name}/package.json`, import.meta.url)
  return manifest.parse(JSON.parse(readFileSync(existsSync(own) ? own : findTool(`${name}/package.json`), 'utf8'))).version
}
