import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { signalChildOf } from '../support/image.ts'
import { findFreePort } from '../support/postgres-server.ts'
import { createPlace, MAIN, type Place } from '../support/processes.ts'

/** The program as process 1, as it is in a container without an init. The kernel drops signals that this process does not handle. */

const UNSHARE = ['--pid', '--fork', '--kill-child', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'])]
const canUnshare = spawnSync('unshare', [...UNSHARE, 'true']).status === 0
if (!canUnshare) process.stderr.write('\nSKIPPED: the program as process 1. This needs `unshare --pid`, of Linux.\n')

let place: Place
beforeEach(() => {
  place = createPlace(() => 'sqlite:unused.db')
})
afterEach(() => place.remove())

/** `serve` as process 1. */
interface First {
  readonly exited: Promise<unknown[]>
  /** Waits until it has written a text to stdout. */
  hasSaid(text: string): Promise<void>
  signal(name: NodeJS.Signals): void
}

let started: ChildProcess[] = []
afterEach(() => {
  for (const child of started) child.kill('SIGKILL')
  started = []
})

function startAsFirst(env: Record<string, string>): First {
  const child = spawn('unshare', [...UNSHARE, process.execPath, MAIN, 'serve'], {
    cwd: place.folder,
    env: { ...process.env, ...place.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.push(child)
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  return {
    exited: once(child, 'exit'),
    async hasSaid(text) {
      while (!said.includes(text)) await once(child.stdout, 'data')
    },
    signal(name) {
      signalChildOf(child, name)
    },
  }
}

it.skipIf(!canUnshare).each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('ends at %s while it starts', async (name, status) => {
  // A database that takes connections and says nothing: the start waits for it.
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const connected = once(silent, 'connection')
  const first = startAsFirst({
    DATABASE_URL: `postgres://ann:hush@127.0.0.1:${Object(silent.address()).port}/library`,
    PORT: String(await findFreePort()),
  })
  const [socket] = await connected
  first.signal(name)
  expect(await first.exited).toEqual([status, null])
  socket.destroy()
  silent.close()
})

it.skipIf(!canUnshare)('stops in order at SIGTERM when it runs', async () => {
  const first = startAsFirst({ DATABASE_URL: 'sqlite:library.db', PORT: String(await findFreePort()) })
  await first.hasSaid('Stop with')
  first.signal('SIGTERM')
  expect(await first.exited).toEqual([0, null])
})
