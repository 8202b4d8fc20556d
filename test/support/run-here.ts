import { getPriority, setPriority } from 'node:os'
import { Readable } from 'node:stream'
import { runCommandLine } from '../../src/cli/program.ts'
import type { Finished } from './processes.ts'

/** Of commands, one at a time: they share what the process has once. */
let last: Promise<unknown> = Promise.resolve()

/**
 * Runs a command line in the test's own process: starting one takes a hundred times as long as most commands.
 * @param program the path that the command takes for the program's
 */
export function runHere(
  program: string,
  args: readonly string[],
  { env = {}, input = '', cwd }: { env?: Record<string, string> | undefined; input?: string | undefined; cwd?: string | undefined },
): Promise<Finished> {
  const finished = last.then(() => runAlone([process.execPath, program, ...args], env, input, cwd ?? process.cwd()))
  last = finished.catch(() => {})
  return finished
}

async function runAlone(argv: string[], env: Record<string, string>, input: string, cwd: string): Promise<Finished> {
  const before = { argv: process.argv, env: process.env, cwd: process.cwd(), stdin: process.stdin, exitCode: process.exitCode }
  // Backups narrow the mask of new files, imports lower the priority.
  const [mask, priority] = [process.umask(), getPriority()]
  const stdout = capture(process.stdout)
  const stderr = capture(process.stderr)
  process.argv = argv
  process.env = { ...before.env, ...env }
  process.exitCode = undefined
  Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from([Buffer.from(input)]) })
  process.chdir(cwd)
  try {
    await runCommandLine(argv)
    return { code: Number(process.exitCode ?? 0), stdout: stdout.read(), stderr: stderr.read() }
  } finally {
    process.umask(mask)
    restorePriority(priority)
    process.chdir(before.cwd)
    Object.defineProperty(process, 'stdin', { configurable: true, value: before.stdin })
    process.exitCode = before.exitCode
    process.env = before.env
    process.argv = before.argv
    stdout.restore()
    stderr.restore()
  }
}

/** Sets the priority from before; only root may raise it again. */
function restorePriority(priority: number): void {
  try {
    if (getPriority() !== priority) setPriority(priority)
  } catch {
    // The tests go on at the lower one.
  }
}

/** Keeps what is written to a stream, in place of writing it. */
function capture(stream: NodeJS.WriteStream): { read(): string; restore(): void } {
  const { write } = stream
  const chunks: Buffer[] = []
  stream.write = (chunk: string | Uint8Array, encoding?: unknown, done?: unknown): boolean => {
    chunks.push(Buffer.from(chunk))
    const onDone = typeof encoding === 'function' ? encoding : done
    if (typeof onDone === 'function') queueMicrotask(() => onDone())
    return true
  }
  return {
    read: () => Buffer.concat(chunks).toString('utf8'),
    restore: () => {
      stream.write = write
    },
  }
}
