// Writes what the service is made of (CycloneDX 1.5) to the file that is named, or to dist/sbom.cdx.json: what npm knows of the packages that
// are installed, less those for development. npm's own --omit leaves out too much: whatever something for development needs as well.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MODEL_PACKAGE } from './make-encoder.ts'

interface Component {
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly externalReferences?: readonly { readonly type: string }[]
}
interface Sbom {
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}
interface Locked {
  readonly version: string
  readonly dependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
  readonly peerDependenciesMeta?: Record<string, { readonly optional?: boolean }>
}

const root = fileURLToPath(new URL('..', import.meta.url))
const target = resolve(process.argv[2] ?? `${root}/dist/sbom.cdx.json`)
const { packages } = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8')) as { packages: Record<string, Locked> }

/** Where the package that `path` asks for by name is installed, as Node looks for it; null when it is not in the lockfile. */
function find(path: string, name: string): string | null {
  const place = `${path === '' ? '' : `${path}/`}node_modules/${name}`
  if (packages[place]) return place
  return path === '' ? null : find(path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/'))), name)
}

/** Every package that is used, from the service's own dependencies on: peers too, unless they are optional. */
function walk(path: string, used = new Map<string, string>()): Map<string, string> {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = packages[path] ?? {}
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional)
  for (const name of [...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers]) {
    const found = find(path, name)
    if (found === null || used.has(found)) continue
    used.set(found, `${name}@${packages[found]?.version}`)
    walk(found, used)
  }
  return used
}

// The build turns the weights of the model into a file that goes with the program.
const used = new Set([...walk('').values(), `${MODEL_PACKAGE}@${packages[`node_modules/${MODEL_PACKAGE}`]?.version}`])
const npm = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
const all = JSON.parse(npm) as Sbom & Record<string, unknown>
const components = all.components
  .filter(({ name, version }) => used.has(`${name}@${version}`))
  // Where a package was fetched from is this machine's affair: its hash says what it is.
  .map((one) => ({ ...one, externalReferences: one.externalReferences?.filter(({ type }) => type !== 'distribution') ?? [] }))
const refs = new Set(components.map((one) => one['bom-ref']))
const dependencies = all.dependencies
  .filter(({ ref }) => refs.has(ref) || !all.components.some((one) => one['bom-ref'] === ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }))
const known = new Set(components.map(({ name, version }) => `${name}@${version}`))
const missing = Object.entries(packages['']?.dependencies ?? {}).filter(([name, version]) => !known.has(`${name}@${version}`))
if (missing.length > 0) throw new Error(`Not installed as package.json says: ${missing.map(([name]) => name).join(', ')}. Run npm ci.`)
mkdirSync(dirname(target), { recursive: true })
writeFileSync(target, `${JSON.stringify({ ...all, components, dependencies }, null, 2)}\n`)
process.stdout.write(`${target}: ${components.length} packages\n`)
