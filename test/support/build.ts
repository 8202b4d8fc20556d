import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Builds once before the suite: what end-to-end tests start is what users start. */
export default function build(): void {
  const run = fileURLToPath(new URL('../../scripts/run.ts', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [run, '--build-only'], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`The build failed:\n${stderr}`)
}
