// Builds when the sources are newer than the build, then runs the command line in this process. Silent on stdout.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, 'dist', '.built')

function newestSource(): number {
  const watched = ['package.json', 'package-lock.json', 'scripts/run.ts'].map((name) => join(root, name))
  for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
    watched.push(join(entry.parentPath, entry.name))
  }
  return Math.max(...watched.map((path) => statSync(path).mtimeMs))
}

function isStale(): boolean {
  const built = statSync(stamp, { throwIfNoEntry: false })
  return !built || built.mtimeMs < newestSource()
}

/**
 * Bundles the program into dist/cli: one file starts in half the time of some hundred, and needs no node_modules.
 * Builds beside the old build and swaps the two by renaming, so that nobody ever sees half of one.
 */
async function build(): Promise<void> {
  const { build: bundle } = await import('rolldown')
  const fresh = join(root, `dist.building-${process.pid}`)
  try {
    await bundle({
      input: { main: join(root, 'src', 'cli', 'main.ts') },
      platform: 'node',
      cwd: root,
      logLevel: 'warn',
      onLog: (_level, log) => process.stderr.write(`${log.message}\n`),
      output: { dir: join(fresh, 'cli'), format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    })
    // What browsers load: small, and apart from the program.
    await bundle({
      input: { site: join(root, 'src', 'web', 'islands', 'site.ts') },
      platform: 'browser',
      cwd: root,
      logLevel: 'warn',
      output: { dir: join(fresh, 'web'), format: 'esm', entryFileNames: '[name].js', minify: true },
    })
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    throw error
  }
  writeFileSync(join(fresh, '.built'), '')
  const old = join(root, `dist.old-${process.pid}`)
  if (existsSync(join(root, 'dist'))) renameSync(join(root, 'dist'), old)
  renameSync(fresh, join(root, 'dist'))
  rmSync(old, { recursive: true, force: true })
}

if (process.argv[2] === '--build-only') {
  if (isStale()) await build()
} else {
  // In a process of its own, so that the compiler's memory does not stay with the service.
  if (isStale()) {
    const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), '--build-only'], { stdio: ['ignore', 2, 2] })
    if (status !== 0) process.exit(status ?? 1)
  }
  const { main } = await import(new URL('../dist/cli/main.js', import.meta.url).href)
  await main(process.argv)
}
