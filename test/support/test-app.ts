import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { z } from 'zod'
import type { ImproveSettings } from '../../src/ai/models.ts'
import type { EmbeddingSettings } from '../../src/ai/remote-encoder.ts'
import { type App, type AppSettings, openApp, SYSTEM } from '../../src/app.ts'
import { createApiKey, hashApiKey } from '../../src/auth/credentials.ts'
import { type Config, loadConfig } from '../../src/config/load-config.ts'
import { readSignInSettings } from '../../src/config/sign-in-settings.ts'
import { type Actor, SCOPES, type Scope } from '../../src/domain/people/actor.ts'
import type { ClientOfRequest } from '../../src/domain/ports/environment.ts'
import type { Route } from '../../src/http/route.ts'
import { createHttpApp } from '../../src/server/http-app.ts'
import type { Pipeline } from '../../src/server/pipeline.ts'
import { CHEAP_HASHER } from './cheap-hasher.ts'
import { readEverything } from './engines.ts'
import { answerRequest } from './exchange.ts'
import { writeEmptyLibrary } from './library-file.ts'
import { createDatabase, isOnPostgres } from './postgres.ts'
import { PROCEDURES } from './procedures.ts'

/** When the tests' clock starts; it moves on by a second at each reading, so that order is certain. */
const START = Date.UTC(2026, 0, 1)

const BASE_URL = 'http://127.0.0.1:3000'

const SETTINGS: Config = { ...loadConfig({}), PORT: 0, RATE_LIMITS: null }

const IMPROVE: ImproveSettings = {
  model: null,
  openaiBaseUrl: null,
  openaiKey: null,
  anthropicKey: null,
  googleKey: null,
  timeoutMs: 10_000,
  maxOutputTokens: 1000,
  concurrency: 4,
  budget: { requests: null, characters: null },
  systemPromptFile: null,
}

/** How many instances answer a test's requests: several need PostgreSQL. */
const INSTANCES = isOnPostgres() ? Number(process.env['TEST_INSTANCES'] ?? 1) : 1

/** The real thing on a file of its own, with a clock of its own and helpers to act as people. */
export interface TestApp {
  /** The (first) instance. */
  readonly app: App
  /** All instances that answer requests, in turn: with TEST_INSTANCES they are several. */
  readonly apps: readonly App[]
  /** Each of them by itself. */
  readonly instances: readonly Pick<TestApp, 'fetch' | 'call'>[]
  /** Where the library is, on SQLite. */
  readonly libraryFile: string
  readonly databaseUrl: string
  /** Every cell of the database, as text. */
  readEverything(): Promise<string>
  /** Moves the clock on. */
  wait(ms: number): void
  /** A user with this name, made on first use, with a key of these scopes. */
  user(name: string, scopes?: readonly Scope[]): Promise<{ actor: Extract<Actor, { kind: 'user' }>; key: string }>
  /** Calls an operation, or another procedure by the name of its export in snake_case. */
  call(actor: Actor, name: string, input: unknown, client?: ClientOfRequest): Promise<Record<string, unknown>>
  /** The route table. */
  readonly routes: readonly Route[]
  /** The whole HTTP stack, for a server that listens. */
  readonly pipeline: Pipeline
  /** Sends a request through the whole HTTP stack, without a port. */
  fetch(path: string, options?: RequestInit & { key?: string }): Promise<Response>
  /** The same library opened again by an app that has read nothing yet. Closing it leaves the library. */
  reopen(): Promise<Pick<TestApp, 'app' | 'call' | 'fetch' | 'close'>>
  close(): Promise<void>
}

export async function testApp(
  settings: Partial<Config> = {},
  improve: Partial<ImproveSettings> = {},
  embeddings: EmbeddingSettings | null = null,
  more: Partial<Omit<AppSettings, 'improve' | 'embeddings'>> & {
    /** One instance answers all requests, for what is documented as per process. Default: TEST_INSTANCES, or one */
    readonly instances?: 1
  } = {},
  log: { write(line: string): void } | null = null,
  /** How far the clock moves each time somebody looks at it, in milliseconds. */
  clockStep = 1000,
): Promise<TestApp> {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-test-'))
  const path = join(folder, 'library.db')
  const database = isOnPostgres() ? await createDatabase() : { url: `sqlite:${path}`, remove: async () => {} }
  const { instances = more.databaseUrl === undefined ? INSTANCES : 1, ...appSettings } = more
  if (!isOnPostgres() && more.databaseUrl === undefined) await writeEmptyLibrary(path)
  let now = START
  const open = () =>
    openApp(
      {
        ...SETTINGS,
        ...settings,
        databaseUrl: database.url,
        databaseConnections: 4,
        baseUrl: BASE_URL,
        improve: { ...IMPROVE, ...improve },
        tests: { models: [], dailyTokens: null, dailyUsd: null },
        embeddings,
        signIn: readSignInSettings({ ...SETTINGS, ...settings }),
        mail: null,
        ...appSettings,
      },
      {
        outside: {
          clock: () => {
            now += clockStep
            return now
          },
          random: SYSTEM.random,
          // Tests of a kind of hash get the real ones.
          ...(settings.PASSWORD_HASH === undefined ? { passwordHasher: CHEAP_HASHER } : {}),
        },
      },
    )
  const serve = (opened: App) =>
    createHttpApp(opened, { ...SETTINGS, ...settings }, log ? pino({ base: null, level: 'trace' }, log) : pino({ level: 'silent' }))
  const callOn =
    (opened: App): TestApp['call'] =>
    async (actor, name, input, client) => {
      const procedure = PROCEDURES.get(name)
      if (!procedure) throw new Error(`no procedure ${name}`)
      const output = await procedure.call({ ...opened.contextFor(actor, 'rest'), client }, input)
      // What an operation promises is held to here, on every call a test makes.
      return procedure.output ? strictOutput(procedure.output).parse(output) : Object(output)
    }
  const app = await open()
  const others = await Promise.all(Array.from({ length: instances - 1 }, open))
  const apps = [app, ...others]
  const served = await Promise.all(
    apps.map(async (opened) => {
      // One that is alone hears of nobody.
      const stopListening = instances > 1 ? await listen(opened) : async () => {}
      const http = serve(opened)
      return { http, stopListening, call: callOn(opened) }
    }),
  )
  const [first] = served
  if (!first) throw new Error('no instance was asked for')
  let turn = 0
  const next = () => served[turn++ % served.length] ?? first
  const pipeline: Pipeline = (exchange, send) => next().http.pipeline(exchange, send)
  return {
    app,
    apps,
    instances: served.map(({ http, call }) => ({
      call,
      fetch: (target, options) => answerRequest(http.pipeline, toRequest(target, options)),
    })),
    libraryFile: path,
    databaseUrl: database.url,
    readEverything: () => readEverything(database.url),
    wait: (ms) => {
      now += ms
    },
    async user(name, scopes = SCOPES) {
      const user =
        (await app.store.people.findUser(name)) ?? (await app.store.people.createUser({ username: name, defaultVisibility: 'private' }))
      const key = createApiKey()
      const stored = await app.store.keys.createKey({ name: 'test', userId: user.id, sha256: hashApiKey(key), scopes, expiresAt: null })
      return { actor: { kind: 'user', userId: user.id, username: user.username, scopes: new Set(scopes), keyId: stored.id }, key }
    },
    call: (...args) => next().call(...args),
    routes: first.http.routes,
    pipeline,
    fetch: (target, options) => answerRequest(pipeline, toRequest(target, options)),
    async reopen() {
      const again = await open()
      const http = serve(again)
      return {
        app: again,
        call: callOn(again),
        fetch: (target, options) => answerRequest(http.pipeline, toRequest(target, options)),
        async close() {
          await http.close()
          await again.close()
        },
      }
    },
    async close() {
      for (const { http, stopListening } of served) {
        await http.close()
        await stopListening()
      }
      for (const opened of apps) await opened.close()
      await database.remove()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Has an instance hear of others, and waits until it does: then it is told that anything may have changed, which no client needs to hear. */
async function listen(app: App): Promise<() => Promise<void>> {
  const hears = Promise.withResolvers<void>()
  const stop = app.onChange(() => hears.resolve())
  const stopListening = app.listen()
  await hears.promise
  stop()
  return stopListening
}

function toRequest(target: string, { key, ...options }: RequestInit & { key?: string } = {}): Request {
  const headers = new Headers(options.headers)
  if (!headers.has('host')) headers.set('host', new URL(BASE_URL).host)
  if (key !== undefined) headers.set('X-API-Key', key)
  return new Request(new URL(target, BASE_URL), { ...options, headers })
}

/** Zod compiles a schema at its first use, so each strict one is made once. */
const strictOutputs = new WeakMap<z.ZodObject, z.ZodObject>()
function strictOutput(output: z.ZodObject) {
  const made = strictOutputs.get(output) ?? output.strict()
  strictOutputs.set(output, made)
  return made
}

/** One app for all tests of a suite, started before the first and closed after the last; its members are there once it is started. */
export function useTestApp(...settings: Parameters<typeof testApp>): TestApp {
  const test = {} as TestApp
  beforeAll(async () => {
    Object.assign(test, await testApp(...settings))
  })
  afterAll(() => test.close())
  return test
}

/** As `useTestApp`, started anew for each test. */
export function useFreshTestApp(...settings: Parameters<typeof testApp>): TestApp {
  const test = {} as TestApp
  beforeEach(async () => {
    Object.assign(test, await testApp(...settings))
  })
  afterEach(() => test.close())
  return test
}

/** How a call was refused: its code and sentence; `none` where it was done. */
export async function refusalOf(call: Promise<unknown>): Promise<[code: string, message: string]> {
  const error = await call.then(
    () => ({ code: 'none', message: 'it was done' }),
    (thrown: unknown) => Object(thrown),
  )
  return [error.code, error.message]
}

/** The code of a call's refusal; null where it was done. */
export async function codeOf(call: Promise<unknown>): Promise<string | null> {
  return await call.then(
    () => null,
    (error: { code: string }) => error.code,
  )
}

/** A JSON body and its header, for `fetch`. */
export function json(method: string, body: unknown): RequestInit {
  return { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** A JSON-RPC call of the MCP endpoint, for `fetch`. */
export function rpc(method: string, params?: unknown, id: unknown = 1): RequestInit {
  return json('POST', { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) })
}

/** An answer's JSON, typed as loosely as JSON.parse types it: tests say what they expect of it. */
export async function readJson(response: Response) {
  return JSON.parse(await response.text())
}

/** Reads a stream until it holds a text; gives what was read. The rest can be read after it. */
export async function readUntil(response: Response, text: string): Promise<string> {
  const reader = response.body?.getReader()
  for (let seen = ''; ; ) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    seen += new TextDecoder().decode(value)
    if (!seen.includes(text) && !done) continue
    reader?.releaseLock()
    return seen
  }
}
