// Builds when the sources are newer than the build, then runs the command line in this process. Silent on stdout.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, 'dist', '.built')

function newestSource(): number {
  const watched = ['package.json', 'tsconfig.json', 'tsconfig.build.json'].map((name) => join(root, name))
  for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
    watched.push(join(entry.parentPath, entry.name))
  }
  return Math.max(...watched.map((path) => statSync(path).mtimeMs))
}

function isStale(): boolean {
  const built = statSync(stamp, { throwIfNoEntry: false })
  return !built || built.mtimeMs < newestSource()
}

/** Builds beside the old build and swaps the two by renaming, so that nobody ever sees half of one. */
function build(): void {
  const fresh = join(root, `dist.building-${process.pid}`)
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const options = ['-p', join(root, 'tsconfig.build.json'), '--outDir', fresh]
  const { status } = spawnSync(process.execPath, [compiler, ...options], { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) {
    rmSync(fresh, { recursive: true, force: true })
    process.exit(status ?? 1)
  }
  writeFileSync(join(fresh, '.built'), '')
  const old = join(root, `dist.old-${process.pid}`)
  if (existsSync(join(root, 'dist'))) renameSync(join(root, 'dist'), old)
  renameSync(fresh, join(root, 'dist'))
  rmSync(old, { recursive: true, force: true })
}

if (isStale()) build()
if (process.argv[2] !== '--build-only') {
  const { main } = await import(new URL('../dist/cli/main.js', import.meta.url).href)
  await main(process.argv)
}
