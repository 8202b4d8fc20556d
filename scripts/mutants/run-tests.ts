import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** How long vitest may take to stop its processes, before it is killed. */
const STOP_MS = 15_000

const report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().default(''),
      assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })),
    }),
  ),
})

/** What a run of vitest says. `fault` is why it failed without a failed test. */
export interface Outcome {
  readonly failed: readonly { readonly file: string; readonly test: string }[]
  readonly fault: string | null
  readonly isOver: boolean
}

/** Runs vitest in a tree. It is stopped at `deadline`, in milliseconds of `performance.now()`; then `isOver`. */
export async function runTests(tree: string, args: readonly string[], deadline: number): Promise<Outcome> {
  const path = join(tree, '..', 'report.json')
  rmSync(path, { force: true })
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...args, '--reporter=json', `--outputFile=${path}`]
  // A process group of its own, so that whatever its tests started ends with it.
  const child = spawn(process.execPath, vitest, {
    cwd: tree,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4_000)
  })
  let isOver = false
  const signal = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name)
    } catch {
      // It has ended.
    }
  }
  const interrupt = () => {
    signal('SIGKILL')
    process.exit(130)
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, interrupt)
  const stop = setTimeout(
    () => {
      isOver = true
      signal('SIGTERM')
      setTimeout(signal, STOP_MS, 'SIGKILL').unref()
    },
    Math.max(1, deadline - performance.now()),
  )
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
  clearTimeout(stop)
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, interrupt)
  signal('SIGKILL')
  if (isOver) return { failed: [], fault: null, isOver }
  const found = readReport(path)
  const failed = found.flatMap(({ name, assertionResults }) =>
    assertionResults.filter((one) => one.status === 'failed').map(({ fullName }) => ({ file: name, test: fullName })),
  )
  const [broken] = found.filter((one) => one.status === 'failed')
  const reason = [broken?.message, said, 'no reason'].find((text) => text?.trim()) ?? ''
  return { failed, fault: status !== 0 && failed.length === 0 ? reason.trim().slice(0, 300) : null, isOver }
}

function readReport(path: string): z.infer<typeof report>['testResults'] {
  try {
    return report.parse(JSON.parse(readFileSync(path, 'utf8'))).testResults
  } catch {
    return []
  }
}
