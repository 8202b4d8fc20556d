// Prints how much room the project takes, for development and to run, and fails when either is over its limit.
//   npm run size
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PLATFORMS } from '../packaging/platforms.ts'
import { RUNTIME, readContents } from '../packaging/runtime-contents.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
/** What `npm ci` installs, in MB. */
const MAX_DEVELOPMENT = 610
/** What the image and the packages contain beside Node, in MB. */
const MAX_RUNTIME = 105
/** Files take whole blocks, on most file systems of this size. */
const BLOCK = 4096
const MB = 1024 * 1024
const SHOWN = 12

const toBlocks = (bytes: number) => Math.ceil(bytes / BLOCK) * BLOCK

/** Room of everything below a folder, as `du` counts it: a file with several names counts once. */
function measureFolder(folder: string, seen: Set<number>): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sum + BLOCK + measureFolder(path, seen)
    const { size, ino, nlink } = lstatSync(path)
    if (nlink > 1 && seen.has(ino)) return sum
    seen.add(ino)
    return sum + toBlocks(size)
  }, 0)
}

/** Room of each package of a folder `node_modules`, with those nested in it. */
function measurePackages(folder: string): Map<string, number> {
  const seen = new Set<number>()
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => (name.startsWith('@') ? readdirSync(join(folder, name)).map((part) => `${name}/${part}`) : [name]))
  return new Map(names.map((name) => [name, measureFolder(join(folder, name), seen)]))
}

/** Room of what runs, by the parts it is made of. */
function measureRuntime(): Map<string, number> {
  const { rasteriser } =
    Object.values(PLATFORMS).find(({ system }) => system.platform === process.platform && system.arch === process.arch) ?? {}
  const binaries = ['@resvg/resvg-js', ...(rasteriser === undefined ? [] : [rasteriser])].map((name) => `node_modules/${name}`)
  return new Map(
    [...RUNTIME, ...binaries].map((name) => [name, readContents(root, [name]).reduce((sum, { bytes }) => sum + toBlocks(bytes.length), 0)]),
  )
}

const sumOf = (sizes: ReadonlyMap<string, number>) => [...sizes.values()].reduce((sum, size) => sum + size, 0)
const line = (bytes: number, text: string) => process.stdout.write(`${(bytes / MB).toFixed(1).padStart(8)}  ${text}\n`)

/** Prints the largest parts and the sum. Gives whether it is within its limit. */
function report(title: string, sizes: ReadonlyMap<string, number>, limit: number): boolean {
  const sorted = [...sizes].toSorted(([, one], [, other]) => other - one)
  const sum = sumOf(sizes)
  const isWithin = sum <= limit * MB
  process.stdout.write(`${title}, in MB (2^20 bytes, files in blocks of 4 KiB)\n`)
  for (const [name, size] of sorted.slice(0, SHOWN)) line(size, name)
  const rest = sorted.slice(SHOWN)
  if (rest.length > 0) line(sumOf(new Map(rest)), `${rest.length} others`)
  line(sum, `in all; the limit is ${limit}${isWithin ? '' : ': TOO LARGE'}`)
  return isWithin
}

const isSmall = [
  report('Development: node_modules after npm ci', measurePackages(join(root, 'node_modules')), MAX_DEVELOPMENT),
  report('To run, without Node: what the image and the packages contain', measureRuntime(), MAX_RUNTIME),
]
const tools = join(root, 'tools', 'node_modules')
if (existsSync(tools)) line(measureFolder(tools, new Set()), `tools${sep}node_modules, installed by the commands that need it; not counted`)
if (isSmall.includes(false)) process.exit(1)
