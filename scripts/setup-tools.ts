// Installs the packages of tools/: what only the full tests, the benchmarks and packaging need. Does nothing where they are installed already.
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const TOOLS = fileURLToPath(new URL('../tools', import.meta.url))
/** Written last, so that an interrupted installation is repeated. */
const STAMP = join(TOOLS, 'node_modules', '.installed')

/**
 * The path of a file of a package in tools/.
 * @param path below `node_modules`
 * @throws Error when it is not there
 */
export function findTool(path: string): string {
  const file = join(TOOLS, 'node_modules', path)
  if (!existsSync(file)) throw new Error(`${path} is not installed. Run: npm run setup:tools`)
  return file
}

/** A digest of what the packages are installed from. */
function digestOfLock(): string {
  return hash('sha256', ['package.json', 'package-lock.json'].map((name) => readFileSync(join(TOOLS, name), 'utf8')).join('\n'))
}

function isInstalled(digest: string): boolean {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === digest
}

/** Installs the packages of tools/ when their lock file has changed since. @throws Error when npm cannot install them */
export function installTools(): void {
  const digest = digestOfLock()
  if (isInstalled(digest)) return
  process.stderr.write('Installing the packages of tools/…\n')
  // npm tells scripts the folder it runs in, and would install there: --prefix says otherwise.
  const { status } = spawnSync('npm', ['ci', '--prefix', TOOLS, '--no-audit', '--no-fund'], {
    cwd: TOOLS,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (status !== 0) {
    throw new Error(
      'The packages of tools/ could not be installed. Check the connection to the package registry, then run: npm run setup:tools. Without them, "npm test" and "npm run check" still work.',
    )
  }
  writeFileSync(STAMP, digest)
}

if (import.meta.main) {
  try {
    installTools()
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  }
}
