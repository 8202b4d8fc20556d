import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:net'

/** Ends a process, unless it has ended by itself. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

/** Waits until a program has printed a text, on either stream; gives all that it printed. @throws Error when it ends before */
export async function untilPrinted(child: ChildProcess, awaited: RegExp): Promise<string> {
  let printed = ''
  return await new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`It ended with ${code}: ${printed}`)))
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        printed += chunk
        if (awaited.test(printed)) resolve(printed)
      })
  })
}

/** Has a server listen on a free port of this machine; gives the port. */
export async function listenHere(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}
