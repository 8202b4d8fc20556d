import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endProcess } from './children.ts'
import { createDatabaseNow, isOnPostgres } from './postgres.ts'
import { findFreePort } from './postgres-server.ts'
import type { ServedHere } from './serve-here.ts'

/** The built program, as users run it. */
export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** What a finished command said. */
export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end, at most `timeoutMs` long. */
export async function run(
  program: string,
  args: readonly string[],
  options: { env?: Record<string, string>; input?: string; cwd?: string; timeoutMs?: number } = {},
): Promise<Finished> {
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    timeout: options.timeoutMs ?? 60_000,
    killSignal: 'SIGKILL',
  })
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout.on('data', (chunk) => stdout.push(chunk))
  child.stderr.on('data', (chunk) => stderr.push(chunk))
  // A program may end before it has read anything.
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  const [code] = await once(child, 'close')
  return { code, stdout: Buffer.concat(stdout).toString('utf8'), stderr: Buffer.concat(stderr).toString('utf8') }
}

/** The service as it was started. */
export interface Served {
  /** What it says it is reached at; of several instances, the first. */
  readonly url: string
  /** The (first) process. */
  readonly child: ChildProcess
  readonly children: readonly ChildProcess[]
  /** Where each process is reached, whatever it says. */
  readonly ownUrls: readonly string[]
  readonly stdout: string
}

/** How the service is started. */
export interface ServeOptions {
  readonly env?: Record<string, string>
  readonly args?: readonly string[]
  /** Default: one */
  readonly instances?: number
  /** A command that runs the one in its last arguments. Default: none */
  readonly wrapper?: readonly string[]
}

/** A library of its own, in a folder that goes when the tests end. */
export interface Place {
  readonly folder: string
  readonly databaseUrl: string
  readonly env: Record<string, string>
  /** Runs a command on this library: in the test's own process, or in one of its own where no test runs. */
  commonplace(args: readonly string[], options?: { input?: string; env?: Record<string, string> }): Promise<Finished>
  /** Starts a command of the built program, and leaves it running. */
  start(args: readonly string[], options?: { env?: Record<string, string> }): ChildProcessWithoutNullStreams
  /** Starts the service on a free port, or several instances of it, which need PostgreSQL. */
  serve(options?: ServeOptions): Promise<Served>
  /** Runs the service in the test's own process, for what needs no process of its own. @param options.starter with the starter library */
  serveHere(env?: Record<string, string>, options?: { starter: boolean }): Promise<ServedHere>
  remove(): Promise<void>
}

/** Makes a place; what it started is stopped by `remove`. The library is in a file of its own unless `databaseUrlOf` gives another database. */
export function createPlace(databaseUrlOf?: () => string): Place {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-e2e-'))
  const databaseUrl = databaseUrlOf ? databaseUrlOf() : isOnPostgres() ? createDatabaseNow() : `sqlite:${join(folder, 'library.db')}`
  const env = { DATABASE_URL: databaseUrl, PORT: '0', LOG_LEVEL: 'warn', BASE_URL: '', PROMPTS_API_KEY: '', ENCODER: 'off' }
  const servers: ChildProcess[] = []
  const here: ServedHere[] = []
  const serveOne = async (options: ServeOptions): Promise<Served> => {
    const port = options.env?.['PORT'] === '0' || options.env?.['PORT'] === undefined ? await findFreePort() : options.env['PORT']
    const [program = process.execPath, ...args] = [...(options.wrapper ?? []), process.execPath, MAIN, 'serve', ...(options.args ?? [])]
    const child = spawn(program, args, { env: { ...process.env, ...env, ...options.env, PORT: String(port) } })
    servers.push(child)
    let stdout = ''
    let stderr = ''
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    const url = await new Promise<string>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${stderr}`)))
      child.stdout.on('data', (chunk) => {
        stdout += chunk
        const found = /Commonplace is running at (\S+)[\s\S]*Stop with/.exec(stdout)?.[1]
        if (found) resolve(found)
      })
    })
    return { url, child, children: [child], ownUrls: [`http://127.0.0.1:${port}`], stdout }
  }
  return {
    folder,
    databaseUrl,
    env,
    async commonplace(args, options = {}) {
      const settings = { ...options, env: { ...env, ...options.env } }
      if (!('__vitest_worker__' in globalThis)) return await run(process.execPath, [MAIN, ...args], settings)
      const { runHere } = await import('./run-here.ts')
      return await runHere(MAIN, args, settings)
    },
    start(args, options = {}) {
      const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...env, ...options.env } })
      servers.push(child)
      return child
    },
    async serve(options = {}) {
      const started = await Promise.all(Array.from({ length: options.instances ?? 1 }, () => serveOne(options)))
      const [first] = started
      if (!first) throw new Error('no instance was asked for')
      return { ...first, children: started.map(({ child }) => child), ownUrls: started.flatMap((one) => one.ownUrls) }
    },
    async serveHere(more = {}, options = { starter: false }) {
      const { serveHere } = await import('./serve-here.ts')
      const served = await serveHere({ ...env, ...more }, options)
      here.push(served)
      return served
    },
    async remove() {
      for (const served of here) await served.stop()
      for (const child of servers) await endProcess(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A place with a user, and a key of theirs. */
export async function createPlaceWithKey(username: string): Promise<{ place: Place; key: string }> {
  const place = createPlace()
  const { createKey } = await import('./library-fixtures.ts')
  return { place, key: await createKey(place.databaseUrl, username) }
}
