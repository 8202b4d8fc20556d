// Builds when the sources are newer than the build, then runs the command line in this process. Silent on stdout.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { RolldownOutput } from 'rolldown'
import { MODEL_PACKAGE, makeEncoder } from './make-encoder.ts'
import { writeNotices } from './notices.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const packages = join(root, 'node_modules')
const stamp = join(root, 'dist', '.built')

function newestSource(): number {
  const watched = ['package.json', 'package-lock.json'].map((name) => join(root, name))
  for (const folder of ['scripts', 'src']) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      watched.push(join(entry.parentPath, entry.name))
    }
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
  process.stderr.write('Building…\n')
  const { build: bundle } = await import('rolldown')
  const { MAX_HELD_BYTES, SCRIPTS } = await import('../src/web/static-files.ts')
  const fresh = join(root, `dist.building-${process.pid}`)
  const modules: string[] = []
  const note = ({ output }: RolldownOutput) => {
    for (const part of output) if (part.type === 'chunk') modules.push(...part.moduleIds)
  }
  try {
    const program = await bundle({
      input: {
        main: join(root, 'src', 'cli', 'main.ts'),
        // A thread's program stands by itself, beside the one that starts it.
        'encoder-worker': join(root, 'src', 'encoder', 'encoder-worker.ts'),
        'git-worker': join(root, 'src', 'channels', 'git', 'git-worker.ts'),
        'check-worker': join(root, 'src', 'ai', 'check-worker.ts'),
        'highlight-worker': join(root, 'src', 'web', 'markup', 'highlight-worker.ts'),
      },
      platform: 'node',
      // Has a binary of its own; it is loaded with the first picture, and the program does without.
      external: ['@resvg/resvg-js'],
      cwd: root,
      logLevel: 'warn',
      onLog: (_level, log) => process.stderr.write(`${log.message}\n`),
      output: {
        dir: join(fresh, 'cli'),
        format: 'esm',
        entryFileNames: '[name].js',
        chunkFileNames: '[name]-[hash].js',
        // Names stay, so that what goes wrong can be read; comments and spaces would be half of what is read at each start, and kept in memory.
        minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
      },
    })
    note(program)
    // What browsers load: small, and each file by itself, since the service serves no others.
    for (const name of SCRIPTS.split(' ')) {
      note(
        await bundle({
          input: { [name]: join(root, 'src', 'web', 'islands', `${name}.ts`) },
          platform: 'browser',
          cwd: root,
          logLevel: 'warn',
          output: { dir: join(fresh, 'web'), format: 'esm', entryFileNames: '[name].js', minify: true },
        }),
      )
    }
    compressLargeScripts(join(fresh, 'web'), MAX_HELD_BYTES)
    await makeEncoder(join(fresh, 'encoder'), join(root, 'dist', 'encoder'))
    writeFileSync(
      join(fresh, 'THIRD-PARTY-NOTICES.txt'),
      writeNotices([...modules, join(packages, MODEL_PACKAGE, 'package.json')], join(packages, 'assemblyscript', 'LICENSE')),
    )
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

/** Compresses scripts that the service does not hold in memory once, beside them. */
function compressLargeScripts(folder: string, maxHeldBytes: number): void {
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name))
    if (bytes.length <= maxHeldBytes) continue
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params }))
  }
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
