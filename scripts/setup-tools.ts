// Installs packages that are kept apart: those of tools/, which only the full tests, the benchmarks and packaging need, or those of clients/,
// which the tests of real clients need. Does nothing where they are installed already.
//   node scripts/setup-tools.ts [clients]
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A folder with a package file and a lock file of its own. */
type Kept = 'tools' | 'clients'

const folderOf = (kept: Kept): string => fileURLToPath(new URL(`../${kept}`, import.meta.url))

/**
 * The path of a file of a package in tools/, or in clients/.
 * @param path below `node_modules`
 * @throws Error when it is not there
 */
export function findTool(path: string, kept: Kept = 'tools'): string {
  const file = join(folderOf(kept), 'node_modules', path)
  if (!existsSync(file)) throw new Error(`${path} is not installed. Run: npm run setup:${kept}`)
  return file
}

/** A digest of what the packages are installed from. */
function digestOfLock(folder: string): string {
  return hash('sha256', ['package.json', 'package-lock.json'].map((name) => readFileSync(join(folder, name), 'utf8')).join('\n'))
}

/** Installs the packages of a folder when its lock file has changed since. @throws Error when npm cannot install them */
function install(kept: Kept): void {
  const folder = folderOf(kept)
  const digest = digestOfLock(folder)
  /** Written last, so that an interrupted installation is repeated. */
  const stamp = join(folder, 'node_modules', '.installed')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return
  process.stderr.write(`Installing the packages of ${kept}/…\n`)
  // npm tells scripts the folder it runs in, and would install there: --prefix says otherwise.
  const { status } = spawnSync('npm', ['ci', '--prefix', folder, '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (status !== 0) {
    throw new Error(
      `The packages of ${kept}/ could not be installed. Check the connection to the package registry, then run: npm run setup:${kept}. Without them, "npm test" and "npm run check" still work.`,
    )
  }
  writeFileSync(stamp, digest)
}

/** Installs what the full tests, the benchmarks and packaging need. @throws Error when npm cannot install them */
export const installTools = (): void => install('tools')

/** Installs the programs that the tests of real clients run: 1.3 GB. @throws Error when npm cannot install them */
export const installClients = (): void => install('clients')

if (import.meta.main) {
  try {
    install(process.argv[2] === 'clients' ? 'clients' : 'tools')
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  }
}
