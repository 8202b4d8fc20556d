import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findTool } from '../scripts/setup-tools.ts'
import { HEAP_FLAGS } from '../src/cli/start-process.ts'
import type { PackedRuntime } from './pack-runtime.ts'

/** Where Node looks for what was put into it: https://nodejs.org/docs/latest-v24.x/api/single-executable-applications.html */
const RESOURCE = 'NODE_SEA_BLOB'
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/**
 * Writes a copy of a Node with a runtime in it. What it holds is built by the Node of this process, which must be of the same version.
 * @param node the binary of Node, of any system
 * @param scratch an empty folder
 */
export async function makeExecutable(target: string, node: string, runtime: PackedRuntime, scratch: string): Promise<void> {
  const { build } = await import('rolldown')
  const place = (name: string) => join(scratch, name)
  mkdirSync(scratch, { recursive: true })
  await build({
    input: fileURLToPath(new URL('start-executable.ts', import.meta.url)),
    platform: 'node',
    output: { file: place('start.cjs'), format: 'cjs' },
    logLevel: 'warn',
  })
  const { name, files } = runtime
  writeFileSync(place('runtime.json'), JSON.stringify({ name, files }))
  writeFileSync(place('runtime.br'), runtime.readArchive())
  // Paths as the blob keeps them: without the folder, so that it is the same each time.
  const configuration = {
    main: 'start.cjs',
    output: 'blob',
    disableExperimentalSEAWarning: true,
    // Both are of one kind of processor.
    useSnapshot: false,
    useCodeCache: false,
    // An executable cannot start itself anew with flags of Node, as `serve` does elsewhere.
    execArgv: HEAP_FLAGS,
    assets: { 'runtime.json': 'runtime.json', 'runtime.br': 'runtime.br' },
  }
  writeFileSync(place('configuration.json'), JSON.stringify(configuration))
  const run = (...args: string[]) =>
    execFileSync(process.execPath, args, { cwd: scratch, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  run('--experimental-sea-config', 'configuration.json')
  copyFileSync(node, place('executable'))
  chmodSync(place('executable'), 0o755)
  run(findTool('postject/dist/cli.js'), 'executable', RESOURCE, 'blob', '--sentinel-fuse', FUSE)
  renameSync(place('executable'), target)
}
