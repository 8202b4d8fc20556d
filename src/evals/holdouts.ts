import { type EvalCase, isEvalFile, MAX_CASE_MEMBERS } from '../domain/evals/evals.ts'
import { decodeText, type SkillFile } from '../domain/skills/skill.ts'
import { parseJson } from '../domain/text/json.ts'
import { type Fields, isFields, listOf, readFields, readHead, type TokenRoom, textOf, without } from '../domain/text/read-fields.ts'

/** Fields with which people mark cases that must stay hidden. */
export const HOLDOUT_KEYS = ['holdout', 'split']
/** The words by which a file that cannot be read may claim so. */
const MAY_CLAIM = /\bholdout\b|\bsplit\b["']?\s*:\s*["']?test\b/
/** The head of a Markdown file in which this is looked for, in UTF-16 units. */
const MAX_HEAD = 64 * 1024

const isTrue = (value: unknown) => value === true || value === 'true'

/** Whether fields of any layout say that nobody may see a case before a run: `holdout`, `split`, or a tag; also in `metadata`. */
export function claimsHoldout(fields: Fields): boolean {
  const { holdout, split, tags, metadata } = fields
  const named = Array.isArray(tags) ? tags : (textOf(tags) ?? '').split(/[\s,]+/)
  const isClaimed = isTrue(holdout) || split === 'holdout' || split === 'test' || named.includes('holdout')
  return isClaimed || (isFields(metadata) && claimsHoldout({ ...metadata, metadata: null }))
}

/** Fields apart from those that claim so. */
export const withoutClaims = (fields: Fields): Fields =>
  claimsHoldout(fields) ? without(fields, ...HOLDOUT_KEYS, 'tags', 'metadata') : fields

/** The fields of a prompt's config that hold its tests. */
const CASE_FIELDS = ['testData', 'evaluators', 'tests', 'defaultTest']

/** A config apart from the tests in it; null for none. */
export function withoutCases(config: Fields | null): Fields | null {
  const rest = config && without(config, ...CASE_FIELDS)
  return rest && (Object.keys(rest).length > 0 || Object.keys(config).length === 0) ? rest : null
}

/** The part that is served of a skill or a prompt, and the part that claims to be held out and is kept beside it. */
interface Separated<T> {
  readonly shown: T
  readonly held: readonly SkillFile[]
  /** Cases that are held out. */
  readonly count: number
}

/** Most tokens of YAML in the cases of a version. */
export const MAX_ALL_TOKENS = 30_000

/** The fields at the head of a file of any kind, and its entries. A file that is not readable and mentions a holdout counts as held out. */
function readClaims({ filename, bytes }: SkillFile, room: TokenRoom): { readonly fields: Fields; readonly entries: readonly unknown[] } {
  const text = (decodeText(bytes) ?? '').replace(/^\uFEFF/, '')
  const parsed = filename.endsWith('.json') ? parseJson(text, MAX_CASE_MEMBERS) : null
  const value = parsed?.ok ? parsed.value : null
  if (parsed && !parsed.ok) return { fields: { holdout: MAY_CLAIM.test(text) }, entries: [] }
  if (value !== null) return isFields(value) ? { fields: value, entries: listOf(value['evals']) } : { fields: {}, entries: listOf(value) }
  try {
    return { fields: filename.endsWith('.md') ? readHead(text, room).fields : readFields(text, undefined, room), entries: [] }
  } catch {
    return { fields: { holdout: MAY_CLAIM.test(filename.endsWith('.md') ? text.slice(0, MAX_HEAD) : text) }, entries: [] }
  }
}

/**
 * Takes out of a skill's files what claims to be held out: of a file in a folder the whole folder, of a list its entries, and the files in
 * `evals/files/` that only those name.
 */
export function separateHoldouts(files: readonly SkillFile[]): Separated<readonly SkillFile[]> {
  const shown: SkillFile[] = []
  const held: SkillFile[] = []
  const folders = new Set<string>()
  const named = { shown: new Set<string>(), held: new Set<string>() }
  const room = { tokens: MAX_ALL_TOKENS }
  const read = files.map((file) => {
    const isRead = isEvalFile(file.filename) && /\.(?:md|json|ya?ml)$/.test(file.filename)
    const claims = isRead ? readClaims(file, room) : { fields: {}, entries: [] }
    const isWhole = claimsHoldout(claims.fields)
    const folder = file.filename.slice(0, file.filename.lastIndexOf('/') + 1)
    if (isWhole && folder !== 'evals/') folders.add(folder)
    for (const entry of claims.entries) {
      const among = isWhole || (isFields(entry) && claimsHoldout(entry)) ? named.held : named.shown
      for (const name of isFields(entry) ? listOf(entry['files']) : [])
        if (typeof name === 'string') among.add(name.replace(/^(?:\.?\/)*(?:evals\/)?/, 'evals/'))
    }
    return { file, isWhole, ...claims }
  })
  let count = folders.size
  for (const { file, fields, entries, isWhole } of read) {
    const [open, claimed] = [false, true].map((isHeld) => entries.filter((one) => (isFields(one) && claimsHoldout(one)) === isHeld))
    const write = (kept: readonly unknown[] = []): SkillFile => {
      const whole = 'evals' in fields ? { ...fields, evals: kept } : kept
      return { ...file, bytes: Buffer.from(`${JSON.stringify(whole, null, 2)}\n`) }
    }
    const isInFolder = [...folders].some((folder) => file.filename.startsWith(folder))
    if (isWhole || isInFolder || (named.held.has(file.filename) && !named.shown.has(file.filename))) {
      held.push(file)
      if (isWhole && !isInFolder) count += Math.max(entries.length, 1)
    } else if (claimed?.length) {
      shown.push(write(open))
      held.push(write(claimed))
      count += claimed.length
    } else shown.push(file)
  }
  return { shown, held, count }
}

/** The file in which the held-out tests of a prompt's config are kept. */
export const HOLDOUT_FILE = 'holdout.json'

/** The same of the tests in a prompt's config. */
export function separateTests(config: Fields): Separated<Fields> {
  const isHeld = (one: unknown) => isFields(one) && claimsHoldout(one)
  const lists = ['testData', 'tests'].filter((name) => listOf(config[name]).some(isHeld))
  const parts = [false, true].map((held) =>
    Object.fromEntries(lists.map((name) => [name, listOf(config[name]).filter((one) => isHeld(one) === held)])),
  )
  const count = lists.reduce((sum, name) => sum + listOf(parts[1]?.[name]).length, 0)
  const shared = Object.fromEntries(Object.entries(config).filter(([name]) => name === 'evaluators' || name === 'defaultTest'))
  const file = { filename: HOLDOUT_FILE, bytes: Buffer.from(`${JSON.stringify({ ...shared, ...parts[1] }, null, 2)}\n`) }
  return { shown: { ...config, ...parts[0] }, held: count > 0 ? [file] : [], count }
}

/** Whether a name in results may stand for a case that is held out: where there are such, all names that are not others' alone. */
export function findHeldOut(cases: readonly Pick<EvalCase, 'id' | 'isHoldout'>[]): (name: string) => boolean {
  const held = new Set(cases.filter(({ isHoldout }) => isHoldout).map(({ id }) => id))
  const all = new Set(cases.map(({ id }) => id))
  return (name) => held.size > 0 && (held.has(name) || !all.has(name))
}
