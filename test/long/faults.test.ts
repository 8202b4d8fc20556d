import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { findLost } from '../../bench/acknowledged-saves.ts'
import { seededRandom } from '../../bench/recombined-prompts.ts'
import { type Ledger, openLedger, write } from '../../bench/savers.ts'
import { endProcess } from '../support/children.ts'
import { createKey } from '../support/library-fixtures.ts'
import { findFreePort, type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { createPlace, type Place, type Served } from '../support/processes.ts'
import { json, readJson, rpc } from '../support/test-app.ts'

/**
 * What goes wrong around a service that writers use, and what comes of it: a line each, which docs/benchmarks.md has as a table.
 * FAULT_ROUNDS says how often it is killed.
 */
const ROUNDS = Number(process.env['FAULT_ROUNDS'] ?? 5)
const PEOPLE = 4
const random = seededRandom(20_261_122)
/** What `/readyz` and stopping may take. */
const READY_MS = 2_000
const STOP_MS = 8_000

const lines: string[] = []
function tell(fault: string, result: string): void {
  const line = `| ${fault} | ${result} |`
  lines.push(line)
  process.stderr.write(`${line}\n`)
}
afterAll(() => {
  process.stderr.write(`\n| Fault | Result |\n|---|---|\n${lines.join('\n')}\n`)
})

const open: { remove(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.remove()
})
const withEnd = <T extends { remove(): Promise<void> }>(one: T): T => {
  open.push(one)
  return one
}

/** A library in a file of its own, on a disk of its own where one is given. */
function makePlace(folder = mkdtempSync(join(tmpdir(), 'commonplace-faults-'))) {
  const path = join(folder, 'library.db')
  const place = createPlace(() => `sqlite:${path}`)
  withEnd({
    async remove() {
      // A disk of its own is taken away as a whole.
      if (folder.startsWith(join(tmpdir(), 'commonplace-faults-'))) rmSync(folder, { recursive: true, force: true })
    },
  })
  return { place: withEnd(place), path, folder }
}

/** A file system of 24 MiB that can be filled and made read-only. Skips the test where none may be mounted. */
function mountDisk(skip: () => never): string {
  const disk = mkdtempSync(join(tmpdir(), 'commonplace-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    rmSync(disk, { recursive: true, force: true })
    process.stderr.write('\nSKIPPED: a disk of its own, because no file system may be mounted here.\n')
    skip()
  }
  mkdirSync(join(disk, 'data'))
  withEnd({
    async remove() {
      execFileSync('mount', ['-o', 'remount,rw', disk])
      execFileSync('umount', ['-l', disk])
      rmSync(disk, { recursive: true, force: true })
    },
  })
  return disk
}

/** Writers at a service that may go and come again at the same address. */
function startWriters(url: string, keys: readonly string[], count: number, waitMs = 0) {
  const ledger = openLedger()
  const pools = keys.map(() => [] as string[])
  let over = false
  const all = Array.from({ length: count }, (_, writer) => {
    const person = writer % keys.length
    return write(url, { writer, key: keys[person] ?? '', pool: pools[person] ?? [], isOver: () => over, random, waitMs }, ledger)
  })
  return {
    ledger,
    async stop() {
      over = true
      await Promise.all(all)
      expect(ledger.faults).toEqual([])
    },
  }
}

async function makeKeys(databaseUrl: string): Promise<string[]> {
  const keys: string[] = []
  for (let person = 0; person < PEOPLE; person++) keys.push(await createKey(databaseUrl, `writer-${person}`))
  return keys
}

/** A service with writers at it, some of whose saves were acknowledged. */
async function serveWriters(place: Place, { count = 10, waitMs = 0, saves = 50, env = {} } = {}) {
  const keys = await makeKeys(place.databaseUrl)
  const served = await place.serve({ env: { RATE_LIMITS: 'off', ...env }, instances: 1 })
  const errors = readErrors(served)
  const writers = startWriters(served.url, keys, count, waitMs)
  await saveMore(writers.ledger, saves)
  return { keys, served, errors, writers }
}

/** Reads all that was acknowledged back. */
async function expectNothingLost(url: string, { saves }: Ledger): Promise<string> {
  const { lost, told } = await findLost(url, saves)
  expect([lost, told]).toEqual([0, []])
  return `${saves.length.toLocaleString('en')} saves acknowledged, 0 lost`
}

async function expectSound(place: Place): Promise<void> {
  const { code, stdout, stderr } = await place.commonplace(['doctor'])
  expect([code, stdout.split('\n').filter((line) => line !== '' && !/^(ok|skipped) /.test(line)), stderr]).toEqual([0, [], ''])
}

const kill = ({ child }: Served, signal: 'SIGKILL' | 'SIGTERM') => endProcess(child, signal)

/** The status of a probe, what it says, and how long it took. */
async function probe({ url }: Served, path = '/readyz'): Promise<{ status: number; text: string; ms: number }> {
  const startedMs = performance.now()
  const answer = await fetch(`${url}${path}`)
  return { status: answer.status, text: await answer.text(), ms: Math.round(performance.now() - startedMs) }
}

/** Messages of the log with a level of at least error, with their causes. */
function readErrors({ child }: Served): () => string[] {
  let text = ''
  child.stderr?.on('data', (chunk) => (text += chunk))
  return () => {
    const entries = text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
    return entries.filter(({ level }) => level >= 50).map(({ msg, err }) => `${msg} ${err?.message ?? ''}`)
  }
}

/** One save by hand: its status and what is said. */
async function saveOne({ url }: Served, key = '', content = 'x'): Promise<[status: number, message: string]> {
  const answer = await fetch(`${url}/api/prompts`, {
    ...json('POST', { title: 'T', content }),
    headers: { 'content-type': 'application/json', 'x-api-key': key },
  })
  return [answer.status, String((await readJson(answer)).message)]
}

/** Waits until a service is ready; for how long. */
async function untilReady(served: Served): Promise<number> {
  const startedMs = performance.now()
  await expect.poll(async () => (await probe(served)).status, { timeout: 30_000, interval: 20 }).toBe(200)
  return Math.round(performance.now() - startedMs)
}

/** Waits until writers hear that they cannot save. */
async function untilRefused({ refused }: Ledger, what = '× 503'): Promise<void> {
  await expect.poll(() => refused.get(what) ?? 0, { timeout: 30_000, interval: 20 }).toBeGreaterThan(0)
}

async function saveMore({ saves }: Ledger, more = 50): Promise<void> {
  const before = saves.length
  await expect.poll(() => saves.length, { timeout: 60_000, interval: 20 }).toBeGreaterThan(before + more)
}

describe('a library in a file', () => {
  it(`loses nothing in ${ROUNDS} rounds of kill -9`, async () => {
    const { place } = makePlace()
    const keys = await makeKeys(place.databaseUrl)
    const env = { PORT: String(await findFreePort()), RATE_LIMITS: 'off' }
    let served = await place.serve({ env, instances: 1 })
    const writers = startWriters(served.url, keys, 20)
    for (let round = 1; round <= ROUNDS; round++) {
      await sleep(300 + random() * 900)
      await kill(served, 'SIGKILL')
      if (round % 5 === 0) {
        // Once more while it starts.
        const starting = place.start(['serve'], { env })
        await sleep(random() * 600)
        await endProcess(starting, 'SIGKILL')
      }
      served = await place.serve({ env, instances: 1 })
      await saveMore(writers.ledger, 5)
    }
    await writers.stop()
    expect(writers.ledger.wellRefused).toBeGreaterThan(0)
    const result = await expectNothingLost(served.url, writers.ledger)
    await expectSound(place)
    tell('`kill -9` with 20 writers, every fifth also during the start', `${ROUNDS} rounds: ${result}, every check of \`doctor\` ok`)
  })

  it('refuses saves on a full disk, and goes on when there is room', async ({ skip }) => {
    const disk = mountDisk(skip)
    const { place } = makePlace(join(disk, 'data'))
    const { keys, served, errors, writers } = await serveWriters(place)
    const filler = openSync(join(disk, 'filler'), 'w')
    try {
      for (;;) writeSync(filler, Buffer.alloc(64 * 1024))
    } catch {
      // Full.
    }
    closeSync(filler)
    await untilRefused(writers.ledger)
    // A small save may still find room.
    let during = await probe(served)
    for (let n = 0; n < 500 && during.status !== 503; n++) during = await probe(served)
    expect(during).toMatchObject({ status: 503, text: expect.stringMatching(/"unavailable".*full/) })
    expect(await saveOne(served, keys[0], 'x'.repeat(150_000))).toEqual([503, expect.stringMatching(/its disk is full/)])
    await expect.poll(() => errors().some((line) => /full.*full/.test(line)), { timeout: 10_000 }).toBe(true)
    expect((await probe(served, '/healthz')).status).toBe(200)
    unlinkSync(join(disk, 'filler'))
    const readyMs = await untilReady(served)
    await saveMore(writers.ledger)
    await writers.stop()
    const result = await expectNothingLost(served.url, writers.ledger)
    tell(
      'Disk full',
      `saves 503, \`/readyz\` 503 in ${during.ms} ms; ${readyMs} ms after there is room it is ready, without a restart; ${result}`,
    )
    await kill(served, 'SIGTERM')
    await expectSound(place)
  })

  it('refuses saves on a read-only file system, and goes on afterwards', async ({ skip }) => {
    const disk = mountDisk(skip)
    const { place, path } = makePlace(join(disk, 'data'))
    const { served, writers } = await serveWriters(place, { count: 5 })
    await writers.stop()
    await kill(served, 'SIGTERM')
    execFileSync('mount', ['-o', 'remount,ro', disk])
    const { code, stderr } = await place.commonplace(['serve'])
    expect(code).toBe(69)
    expect(stderr).toMatch(/cannot be written to: its file or folder is read-only/)
    execFileSync('mount', ['-o', 'remount,rw', disk])
    chmodSync(path, 0o600)
    const again = await place.serve({ env: { RATE_LIMITS: 'off' }, instances: 1 })
    tell(
      'Read-only disk',
      `the start is refused with status ${code} and the reason; afterwards ${await expectNothingLost(again.url, writers.ledger)}`,
    )
  })

  it('acknowledges nothing into a file that was deleted', async () => {
    const { place, path } = makePlace()
    const { keys, served, errors, writers } = await serveWriters(place)
    renameSync(path, `${path}.away`)
    await untilRefused(writers.ledger)
    const during = await probe(served)
    expect(during).toMatchObject({ status: 503, text: expect.stringMatching(/moved or deleted/) })
    expect(await saveOne(served, keys[0])).toEqual([503, expect.stringMatching(/moved or deleted/)])
    // Once a minute, not with each request.
    await expect.poll(() => errors().filter((line) => /moved or deleted/.test(line)).length, { timeout: 10_000 }).toBe(1)
    // Saves that were under way when it went may still be told of: what counts is that they are in the file when it is back.
    await sleep(500)
    const before = writers.ledger.saves.length
    await sleep(500)
    expect(writers.ledger.saves.length).toBe(before)
    renameSync(`${path}.away`, path)
    await untilReady(served)
    await saveMore(writers.ledger)
    await writers.stop()
    const result = await expectNothingLost(served.url, writers.ledger)
    await kill(served, 'SIGTERM')
    for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
    const { code, stderr } = await place.commonplace(['serve'])
    expect([code, stderr, existsSync(path)]).toEqual([66, expect.stringMatching(/There was a library at .*--create/), false])
    expect((await probe(await place.serve({ args: ['--create'] }))).status).toBe(200)
    tell(
      'File moved away or deleted',
      `saves 503, \`/readyz\` 503 in ${during.ms} ms; ${result}; the next start refuses an empty library (status ${code})`,
    )
  })

  it('says that it is damaged, and comes back from a backup', async () => {
    const { place, path, folder } = makePlace()
    const { served: first, writers } = await serveWriters(place, { saves: 300 })
    await writers.stop()
    const backup = join(folder, 'backup.db')
    expect((await place.commonplace(['backup', backup])).code).toBe(0)
    await kill(first, 'SIGTERM')
    let served = await place.serve({ instances: 1 })
    const errors = readErrors(served)
    const { size } = statSync(path)
    const damaged = openSync(path, 'r+')
    for (let at = Math.floor(size / 8 / 4096) * 4096; at < size; at += 4096) writeSync(damaged, Buffer.alloc(4096, 0xee), 0, 4096, at)
    closeSync(damaged)
    let probes = 0
    await expect
      .poll(
        async () => {
          probes++
          return (await probe(served)).status
        },
        { timeout: 30_000, interval: 10 },
      )
      .toBe(503)
    await expect.poll(() => errors().some((line) => /damaged/.test(line)), { timeout: 10_000 }).toBe(true)
    expect((await probe(served, '/healthz')).status).toBe(200)
    await kill(served, 'SIGKILL')
    expect((await place.commonplace(['doctor'])).code).not.toBe(0)
    const startedMs = performance.now()
    const restored = await place.commonplace(['restore-backup', backup, '--force'])
    expect([restored.code, restored.stderr]).toEqual([0, ''])
    const restoreMs = Math.round(performance.now() - startedMs)
    served = await place.serve({ instances: 1 })
    const result = await expectNothingLost(served.url, writers.ledger)
    await expectSound(place)
    tell('Damaged file', `\`/readyz\` 503 after ${probes} probes, \`doctor\` names it; \`restore-backup\` in ${restoreMs} ms: ${result}`)
  })

  it('stops in time under load', async () => {
    const { place } = makePlace()
    const keys = await makeKeys(place.databaseUrl)
    const env = { RATE_LIMITS: 'off' }
    const served = await place.serve({ env, instances: 1 })
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'x-api-key': keys[0] ?? '' }
    const streams = await Promise.all(
      Array.from({ length: 600 }, async (_, n) => {
        const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: `x${n}`, version: '1' } }
        const key = keys[n % PEOPLE] ?? ''
        const opened = await fetch(`${served.url}/api/mcp`, { ...rpc('initialize', params), headers: { ...headers, 'x-api-key': key } })
        await opened.arrayBuffer()
        const session = opened.headers.get('mcp-session-id') ?? ''
        return await fetch(`${served.url}/api/mcp`, { headers: { ...headers, 'x-api-key': key, 'mcp-session-id': session } })
      }),
    )
    const open = streams.filter(({ status }) => status === 200).length
    const silent: Socket[] = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const socket = connect(Number(new URL(served.url).port), '127.0.0.1')
        socket.on('error', () => {})
        await once(socket, 'connect')
        return socket
      }),
    )
    const writers = startWriters(served.url, keys, 10)
    await saveMore(writers.ledger)
    const startedMs = performance.now()
    await kill(served, 'SIGTERM')
    const stopMs = Math.round(performance.now() - startedMs)
    await writers.stop()
    for (const socket of silent) socket.destroy()
    expect([served.child.exitCode, stopMs < STOP_MS]).toEqual([0, true])
    const again = await place.serve({ env, instances: 1 })
    const result = await expectNothingLost(again.url, writers.ledger)
    tell(`\`SIGTERM\` with 10 writers, ${open} open streams and 50 silent connections`, `ended in ${stopMs} ms with status 0; ${result}`)
  })

  it('is backed up beside 50 writes a second, and restored', async () => {
    const { place, folder } = makePlace()
    const { served, writers } = await serveWriters(place, { waitMs: 180, saves: 300 })
    const backup = join(folder, 'backup.db')
    const before = [...writers.ledger.saves]
    const countedMs = performance.now()
    const made = await place.commonplace(['backup', backup])
    const backupMs = Math.round(performance.now() - countedMs)
    expect([made.code, made.stderr]).toEqual([0, ''])
    const rate = Math.round(((writers.ledger.saves.length - before.length) / backupMs) * 1000)
    await writers.stop()
    expect(writers.ledger.saves.length).toBeGreaterThan(before.length)
    expect(statSync(backup).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder).filter((name) => name.startsWith('backup'))).toEqual(['backup.db'])
    const checked = await place.commonplace(['doctor', backup])
    expect(checked.code, checked.stdout).toBe(0)
    tell('Backup beside writers', `${backupMs} ms at ${rate} saves a second, mode 0600, its check ok`)

    await kill(served, 'SIGTERM')
    const startedMs = performance.now()
    const restored = await place.commonplace(['restore-backup', backup])
    const restoreMs = Math.round(performance.now() - startedMs)
    expect([restored.code, restored.stderr]).toEqual([0, ''])
    const again = await place.serve({ instances: 1 })
    const ledger = { ...openLedger(), saves: before }
    tell(
      'Restore of that backup',
      `${restoreMs} ms; of what was acknowledged before the backup: ${await expectNothingLost(again.url, ledger)}`,
    )
    await expectSound(place)
    const other = createPlace(() => `sqlite:${join(folder, 'other.db')}`)
    withEnd(other)
    copyFileSync(backup, join(folder, 'other.db'))
    await expectSound(other)
  })
})

describe('a library on PostgreSQL', () => {
  /** A service on a server of its own, which keeps its files as it does by default. */
  async function start() {
    const server = await startPostgres([])
    withEnd({
      async remove() {
        server.setFrozen(false)
        await server.stop()
      },
    })
    return { server, place: withEnd(createPlace(() => server.url)) }
  }

  it(`loses nothing in ${ROUNDS} rounds of kills of the service and restarts of the server`, async () => {
    const { server, place } = await start()
    const env = { PORT: String(await findFreePort()), RATE_LIMITS: 'off' }
    const { writers, ...first } = await serveWriters(place, { count: 20, saves: 0, env })
    let { served } = first
    for (let round = 1; round <= ROUNDS; round++) {
      await sleep(300 + random() * 900)
      if (round % 2 === 0) await server.restart()
      else {
        await kill(served, 'SIGKILL')
        served = await place.serve({ env, instances: 1 })
      }
      await saveMore(writers.ledger, 5)
    }
    await writers.stop()
    const result = await expectNothingLost(served.url, writers.ledger)
    await expectSound(place)
    tell('PostgreSQL: `kill -9` of the service and crashes of the server, in turn', `${ROUNDS} rounds: ${result}`)
  })

  it.each([
    ['down', (server: PostgresServer) => server.halt(), (server: PostgresServer) => server.restart()],
    [
      'frozen',
      (server: PostgresServer) => server.setFrozen(true),
      async (server: PostgresServer) => {
        await sleep(3_000)
        server.setFrozen(false)
      },
    ],
  ] as const)('says within two seconds that it is %s, and goes on when it answers again', async (state, breakIt, mendIt) => {
    const { server, place } = await start()
    const { served, writers } = await serveWriters(place)
    await breakIt(server)
    // Whoever asks a database that is down for the first time may wait; who asks again must not.
    await expect.poll(async () => (await probe(served)).status, { timeout: 30_000, interval: 20 }).toBe(503)
    const during = await probe(served)
    expect([during.status, during.ms < READY_MS + 500]).toEqual([503, true])
    expect((await probe(served, '/healthz')).status).toBe(200)
    await mendIt(server)
    const readyMs = await untilReady(served)
    await saveMore(writers.ledger)
    await writers.stop()
    const result = await expectNothingLost(served.url, writers.ledger)
    tell(`PostgreSQL ${state}`, `\`/readyz\` 503 in ${during.ms} ms; ready ${readyMs} ms after it answers again; ${result}`)
  })
})
