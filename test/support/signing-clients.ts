import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import {
  Client,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, vi } from 'vitest'
import { findTool } from '../../scripts/setup-tools.ts'
import { listenHere } from './children.ts'
import { askToSave } from './tool-calling-model.ts'

/** Real programs that sign in at /mcp, each in a home folder of its own. */

const WAIT_MS = 60_000
const WAIT = { timeout: WAIT_MS, interval: 100 }
const CODEX = findTool('.bin/codex', 'clients')
const CLAUDE = findTool('.bin/claude', 'clients')
const GEMINI = findTool('.bin/gemini', 'clients')
const MCP_REMOTE = findTool('mcp-remote/dist/proxy.js')
/** What the service is called in the settings of a program. */
const NAME = 'lib'

/** Why programs that want a terminal cannot run here, or null. */
export function findTerminalObstacle(): string | null {
  return spawnSync('script', ['--version']).status === 0 ? null : 'it needs the program script to have a terminal'
}

/** What a program signs in with. */
interface SignIn {
  /** The address of the service's endpoint. */
  readonly endpoint: string
  /** Where the program keeps what it stores. */
  readonly home: string
  /** The address of a model that has programs call tools. */
  readonly model: string
  /** The person at the browser: opens the address, signs in, allows. */
  readonly allow: (address: string) => Promise<void>
}

/** A program that signed in. */
interface SignedIn {
  /** Saves a prompt; fails when the program is told that it may not, or does not say that it did. */
  save(title: string): Promise<void>
  /** The access token that the program holds. */
  readAccessToken(): string
  close(): Promise<void>
}

/** A program under test. */
export interface SigningClient {
  readonly name: string
  /** Whether it can be known by a metadata document: the address of that. */
  readonly document: string | null
  readonly needsTerminal?: boolean
  signIn(sign: SignIn): Promise<SignedIn>
}

/** What a program finds in its environment: a home of its own, and a browser that notes the addresses it is to open. */
function makeHome({ home }: SignIn, more: Readonly<Record<string, string>> = {}) {
  const work = join(home, 'work')
  const bin = join(home, 'bin')
  const opened = join(home, 'opened')
  mkdirSync(work, { recursive: true })
  mkdirSync(bin, { recursive: true })
  for (const name of ['browser', 'xdg-open']) {
    writeFileSync(join(bin, name), `#!/bin/sh\nprintf '%s\\n' "$1" >> '${opened}'\n`)
    chmodSync(join(bin, name), 0o755)
  }
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: home,
    BROWSER: join(bin, 'browser'),
    // Programs open no browser where there is no screen.
    DISPLAY: ':99',
    TERM: 'xterm-256color',
    DISABLE_TELEMETRY: '1',
    NO_COLOR: '1',
    ...more,
  }
  return {
    work,
    env,
    /** Starts a program, and keeps what it prints, without colours. */
    start(command: string, args: readonly string[]) {
      const child = spawn(command, args, { cwd: work, env, timeout: WAIT_MS, killSignal: 'SIGKILL' })
      let printed = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk))
      // A program may end before it has read anything.
      child.stdin.on('error', () => {})
      const ended = once(child, 'close')
      const said = () => stripVTControlCharacters(printed)
      return {
        child,
        waitFor: async (pattern: RegExp) =>
          await vi.waitFor(() => {
            if (!pattern.test(said())) throw new Error(`${command} printed no ${pattern}: ${said().slice(-2000)}`)
          }, WAIT),
        /** Waits for its end, and fails when it fails. */
        async finish(): Promise<string> {
          const [code] = await ended
          if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${said().slice(-2000)}`)
          return said()
        },
      }
    },
    /** A command in a terminal of its own. */
    startInTerminal(command: string, args: readonly string[]) {
      const line = [command, ...args].map((word) => `'${word}'`).join(' ')
      return this.start('script', ['-qefc', `stty cols 150 rows 50; exec ${line}`, '/dev/null'])
    },
    async run(command: string, ...args: string[]): Promise<string> {
      const running = this.start(command, args)
      running.child.stdin.end()
      return await running.finish()
    },
    /** The address that the program had opened in a browser. */
    async readOpened(): Promise<string> {
      const address = await vi.waitFor(() => {
        const [, found] = /^(http\S+)\n/m.exec(readFileSync(opened, 'utf8')) ?? []
        if (found === undefined) throw new Error('no address was opened in a browser')
        return found
      }, WAIT)
      rmSync(opened)
      return address
    },
  }
}

/** The access token in the text of a file. */
function findToken(text: string): string {
  const token = /"access_?[tT]oken":\s*"(cpo_[^"]+)"/.exec(text)?.[1]
  if (token === undefined) throw new Error(`no access token in ${text.replaceAll(/cp[or]_[\w-]+/g, '(a token)')}`)
  return token
}

/** Codex, which calls tools for a program that drives it. */
function codex(isByDocument: boolean): SigningClient {
  return {
    name: `codex mcp login (${isByDocument ? 'its metadata document' : 'registration'})`,
    document: isByDocument ? 'https://chatgpt.com/oauth/codex/client.json' : null,
    async signIn(sign) {
      const folder = join(sign.home, '.codex')
      mkdirSync(folder, { recursive: true })
      // As `codex mcp add` writes it, which would sign in at once.
      writeFileSync(join(folder, 'config.toml'), `[mcp_servers.${NAME}]\nurl = "${sign.endpoint}"\n`)
      const home = makeHome(sign)
      // Without a choice it takes what the service offers: a document first.
      const login = home.start(CODEX, ['mcp', 'login', NAME])
      await sign.allow(await home.readOpened())
      expect(await login.finish()).toContain(`Successfully logged in to MCP server '${NAME}'`)
      expect(await home.run(CODEX, 'mcp', 'list')).toMatch(/enabled +OAuth/)
      const running: ChildProcessWithoutNullStreams[] = []
      return {
        async save(title) {
          const { child } = home.start(CODEX, ['app-server'])
          running.push(child)
          // One iterator for all answers: it keeps the lines that come between two questions.
          const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
          const ask = async (id: number, method: string, params: object) => {
            child.stdin.write(`${JSON.stringify({ id, method, params })}\n`)
            for (;;) {
              const { value, done } = await lines.next()
              if (done === true) throw new Error(`codex app-server ended before it answered ${method}`)
              const answer = JSON.parse(value)
              if (answer.id === id) return answer
            }
          }
          await ask(1, 'initialize', { clientInfo: { name: 'test', title: 'test', version: '1' } })
          child.stdin.write('{"method":"initialized"}\n')
          const { result } = await ask(2, 'thread/start', {})
          const call = { threadId: result.thread.id, server: NAME, tool: 'save_prompt', arguments: { title, content: 'Saved by Codex.' } }
          const answer = await ask(3, 'mcpServer/tool/call', call)
          child.kill()
          if (answer.result?.structuredContent?.success !== true) throw new Error(JSON.stringify(answer))
        },
        readAccessToken: () => findToken(readFileSync(join(folder, '.credentials.json'), 'utf8')),
        async close() {
          for (const child of running) child.kill()
        },
      }
    },
  }
}

/** Claude Code, which calls tools when a model tells it to. */
function claude(isByDocument: boolean): SigningClient {
  return {
    name: `claude mcp login (${isByDocument ? 'its metadata document' : 'registration'})`,
    document: isByDocument ? 'https://claude.ai/oauth/claude-code-client-metadata' : null,
    needsTerminal: true,
    async signIn(sign) {
      const home = makeHome(sign, {
        ANTHROPIC_BASE_URL: sign.model,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        ENABLE_TOOL_SEARCH: 'false',
      })
      await home.run(CLAUDE, 'mcp', 'add', '--transport', 'http', NAME, sign.endpoint)
      const login = home.startInTerminal(CLAUDE, ['mcp', 'login', NAME])
      await sign.allow(await home.readOpened())
      expect(await login.finish()).toContain(`Authenticated with "${NAME}"`)
      return {
        async save(title) {
          expect(await home.run(CLAUDE, 'mcp', 'list')).toContain('Connected')
          await home.run(CLAUDE, '-p', askToSave(title), '--allowedTools', `mcp__${NAME}__save_prompt`)
        },
        readAccessToken: () => findToken(readFileSync(join(sign.home, '.claude', '.credentials.json'), 'utf8')),
        close: async () => {},
      }
    },
  }
}

/** Gemini CLI, which signs in from its screen, and calls tools when a model tells it to. It knows no metadata documents. */
const gemini: SigningClient = {
  name: 'Gemini CLI, /mcp auth',
  document: null,
  needsTerminal: true,
  async signIn(sign) {
    const folder = join(sign.home, '.gemini')
    mkdirSync(folder, { recursive: true })
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { enableAutoUpdate: false },
      mcpServers: { [NAME]: { httpUrl: sign.endpoint } },
    }
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings))
    const home = makeHome(sign, {
      GEMINI_API_KEY: 'none',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GOOGLE_GEMINI_BASE_URL: sign.model,
    })
    const screen = home.startInTerminal(GEMINI, ['--skip-trust'])
    await screen.waitFor(/1 MCP server/)
    await sleep(1000)
    for (const text of [`/mcp auth ${NAME}`, '\r']) {
      screen.child.stdin.write(text)
      await sleep(1000)
    }
    await screen.waitFor(/Do you want to continue/)
    screen.child.stdin.write('\r')
    await sign.allow(await home.readOpened())
    await screen.waitFor(/Successfully authenticated/)
    screen.child.kill()
    return {
      async save(title) {
        await home.run(GEMINI, '-m', 'gemini-2.5-flash', '--approval-mode=yolo', '-p', askToSave(title))
      },
      readAccessToken: () => findToken(readFileSync(join(folder, 'mcp-oauth-tokens.json'), 'utf8')),
      close: async () => {},
    }
  },
}

/** mcp-remote, as Claude Desktop runs it. */
const mcpRemote: SigningClient = {
  name: 'mcp-remote',
  document: null,
  async signIn(sign) {
    // Its own xdg-open asks no BROWSER where there is a screen.
    const home = makeHome(sign, { DISPLAY: '' })
    const client = new Client({ name: 'test', version: '1.0.0' })
    const env = { ...home.env, MCP_REMOTE_CONFIG_DIR: sign.home }
    const transport = new StdioClientTransport({ command: process.execPath, args: [MCP_REMOTE, sign.endpoint], env, stderr: 'ignore' })
    const connected = client.connect(transport, { timeout: WAIT_MS })
    connected.catch(() => {})
    await sign.allow(await home.readOpened())
    await connected
    return {
      save: (title) => saveWith(client, title),
      readAccessToken() {
        const files = readdirSync(sign.home, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('_tokens.json'))
        return findToken(files.map((path) => readFileSync(join(sign.home, path), 'utf8')).join('\n'))
      },
      close: () => client.close(),
    }
  },
}

async function saveWith(client: Client, title: string): Promise<void> {
  const { isError, structuredContent } = await client.callTool(
    { name: 'save_prompt', arguments: { title, content: 'Saved by a client.' } },
    { timeout: 10_000 },
  )
  if (isError === true) throw new Error(JSON.stringify(structuredContent))
}

/** Takes the request that a browser is sent back with, once. */
async function listenForReturn(path: string) {
  const { promise, resolve } = Promise.withResolvers<URLSearchParams>()
  const server = createServer((asked, answer) => {
    const url = new URL(asked.url ?? '/', 'http://127.0.0.1')
    answer
      .writeHead(url.pathname === path ? 200 : 404, { 'content-type': 'text/html' })
      .end('<!doctype html><title>Back</title><p>Signed in')
    if (url.pathname === path) resolve(url.searchParams)
  })
  return {
    address: `http://127.0.0.1:${await listenHere(server)}${path}`,
    returned: promise,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The official client. `document`: the address of its metadata document; null: it registers itself */
export function sdk(document: string | null): SigningClient {
  return {
    name: `the SDK's client (${document === null ? 'registration' : 'a metadata document'})`,
    document,
    async signIn({ endpoint, allow }) {
      const listener = await listenForReturn('/callback')
      const clientMetadata: OAuthClientMetadata = {
        client_name: 'SDK client',
        redirect_uris: [listener.address],
        token_endpoint_auth_method: 'none',
        application_type: 'native',
      }
      const store: { client?: StoredOAuthClientInformation; tokens?: StoredOAuthTokens; discovery?: OAuthDiscoveryState } = {}
      const secrets = { verifier: '', toOpen: '' }
      const provider: OAuthClientProvider = {
        redirectUrl: listener.address,
        ...(document === null ? {} : { clientMetadataUrl: document }),
        clientMetadata,
        clientInformation: () => store.client,
        saveClientInformation: (client) => void Object.assign(store, { client }),
        tokens: () => store.tokens,
        saveTokens: (tokens) => void Object.assign(store, { tokens }),
        invalidateCredentials() {
          delete store.tokens
        },
        discoveryState: () => store.discovery,
        saveDiscoveryState: (discovery) => void Object.assign(store, { discovery }),
        redirectToAuthorization: ({ href }) => void Object.assign(secrets, { toOpen: href }),
        saveCodeVerifier: (verifier) => void Object.assign(secrets, { verifier }),
        codeVerifier: () => secrets.verifier,
      }
      const open = () => new StreamableHTTPClientTransport(new URL(endpoint), { authProvider: provider })
      const first = open()
      const refused = await new Client({ name: 'test', version: '1.0.0' }).connect(first).catch((error: unknown) => error)
      if (!(refused instanceof UnauthorizedError)) throw new Error(`connected without signing in: ${refused}`)
      await allow(secrets.toOpen)
      await first.finishAuth(await listener.returned)
      const client = new Client({ name: 'test', version: '1.0.0' })
      await client.connect(open())
      return {
        save: (title) => saveWith(client, title),
        readAccessToken: () => store.tokens?.access_token ?? '',
        async close() {
          await client.close()
          listener.close()
        },
      }
    },
  }
}

/** Programs that register themselves (RFC 7591). Codex and Claude Code do where the service reads no metadata documents. */
export const REGISTERING: readonly SigningClient[] = [codex(false), claude(false), gemini, mcpRemote, sdk(null)]

/** Programs that are known by their metadata documents, where the service reads them. */
export const DOCUMENTED: readonly SigningClient[] = [codex(true), claude(true)]
