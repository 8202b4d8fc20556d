// Writes the packages of a system to dist-packages: a tarball for a Node that is there, and a single executable. Without --platform, of this system.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { makeExecutable } from '../packaging/executable.ts'
import { fetchPackage } from '../packaging/fetch-package.ts'
import { packRuntime } from '../packaging/pack-runtime.ts'
import { PLATFORMS, type Platform } from '../packaging/platforms.ts'
import { type Content, PAPERS, RUNTIME, readContents, sortContents } from '../packaging/runtime-contents.ts'
import { makeTarball } from '../packaging/tar.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (name: string) => readFileSync(join(root, name), 'utf8')
const { version } = JSON.parse(read('package.json')) as { version: string }
const locked = (JSON.parse(read('package-lock.json')) as { packages: Record<string, { version: string; integrity: string }> }).packages

const { values } = parseArgs({ options: { platform: { type: 'string' }, out: { type: 'string', default: join(root, 'dist-packages') } } })
const isHere = ({ system }: Platform) => system.platform === process.platform && system.arch === process.arch
const name = values.platform ?? Object.keys(PLATFORMS).find((one) => PLATFORMS[one] && isHere(PLATFORMS[one]))
const platform = name === undefined ? undefined : PLATFORMS[name]
if (!platform) {
  process.stderr.write(`Packages are built for ${Object.keys(PLATFORMS).join(', ')}: name one with --platform.\n`)
  process.exit(64)
}

/** When the version came out, by the changelog. */
function releaseDate(): Date {
  const [, date] = new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - (\\d{4}-\\d\\d-\\d\\d)$`, 'm').exec(read('CHANGELOG.md')) ?? []
  if (date === undefined) throw new Error(`CHANGELOG.md has no section "## [${version}] - DATE".`)
  return new Date(date)
}

function integrityOf(packageName: string): string {
  const { integrity } = locked[`node_modules/${packageName}`] ?? {}
  if (integrity === undefined) throw new Error(`package-lock.json has no ${packageName}.`)
  return integrity
}

const scratch = mkdtempSync(join(tmpdir(), 'commonplace-package-'))
/** The packages of the rasteriser, as they are installed or as the lock file has them. */
function readRasteriser({ rasteriser }: Platform): Content[] {
  const main = 'node_modules/@resvg/resvg-js'
  const path = `node_modules/${rasteriser}`
  if (existsSync(join(root, path))) return readContents(root, [main, path])
  const fetched = fetchPackage(`${rasteriser}@${locked[path]?.version}`, integrityOf(rasteriser), join(scratch, 'rasteriser'))
  return [...readContents(root, [main]), ...readContents(fetched, ['.'], `${path}/`)]
}

function findNode(given: Platform): string | null {
  if (given.node === null) return null
  const { version: nodeVersion } = locked['node_modules/node'] ?? {}
  if (process.versions.node !== nodeVersion) throw new Error(`Run this with the Node that npm ci installs, ${nodeVersion}.`)
  if (isHere(given)) return join(root, 'node_modules/node', given.node.binary)
  const folder = fetchPackage(`${given.node.package}@${nodeVersion}`, given.node.integrity, join(scratch, 'node'))
  return join(folder, given.node.binary)
}

function say(file: string): void {
  const untested = platform?.isTested ? '' : ', untested'
  process.stdout.write(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB${untested}\n`)
}

try {
  execFileSync(process.execPath, [join(root, 'scripts/run.ts'), '--build-only'], { stdio: ['ignore', 2, 2] })
  mkdirSync(values.out, { recursive: true })
  const runtime = sortContents([...readContents(root, RUNTIME), ...readRasteriser(platform)])
  const folder = `commonplace-${version}`
  const launcher = { path: 'bin/commonplace', bytes: readFileSync(join(root, 'packaging/launcher.sh')) }
  const contents = sortContents([...runtime, ...readContents(root, PAPERS), launcher])
  const files = contents.map(({ path, bytes }) => ({ path: `${folder}/${path}`, bytes, isExecutable: path === launcher.path }))
  const tarball = join(values.out, `${folder}-${name}.tar.gz`)
  writeFileSync(tarball, makeTarball(files, releaseDate()))
  say(tarball)
  const node = findNode(platform)
  if (node === null) process.stdout.write(`No executable for ${name}: npm's registry has no Node for it.\n`)
  else {
    const executable = join(values.out, `${folder}-${name}${platform.system.platform === 'win32' ? '.exe' : ''}`)
    await makeExecutable(executable, node, packRuntime(version, runtime), join(scratch, 'executable'))
    say(executable)
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
