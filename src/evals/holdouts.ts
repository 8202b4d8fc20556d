import { type CaseGrader, type CaseProblem, type EvalCase, isEvalFile, MAX_CASE_MEMBERS, toCaseId } from '../domain/evals/evals.ts'
import { decodeText, type SkillFile } from '../domain/skills/skill.ts'
import { isObject, parseJson } from '../domain/text/json.ts'
import { type Fields, listOf, readFields, readHead, type TokenRoom, textOf, toText, without } from '../domain/text/yaml.ts'

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
  return isClaimed || (isObject(metadata) && claimsHoldout({ ...metadata, metadata: null }))
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
  if (value !== null) return isObject(value) ? { fields: value, entries: listOf(value['evals']) } : { fields: {}, entries: listOf(value) }
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
      const among = isWhole || (isObject(entry) && claimsHoldout(entry)) ? named.held : named.shown
      for (const name of isObject(entry) ? listOf(entry['files']) : [])
        if (typeof name === 'string') among.add(name.replace(/^(?:\.?\/)*(?:evals\/)?/, 'evals/'))
    }
    return { file, isWhole, ...claims }
  })
  let count = folders.size
  for (const { file, fields, entries, isWhole } of read) {
    const [open, claimed] = [false, true].map((isHeld) => entries.filter((one) => (isObject(one) && claimsHoldout(one)) === isHeld))
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
  const isHeld = (one: unknown) => isObject(one) && claimsHoldout(one)
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

/** Shortest expected answer, and shortest statement or part of an answer, that count as given away when the prompt has it, in characters. */
const MIN_ANSWER = 8
const MIN_PART = 20
/** Longest part of a prompt in which answers are looked for. */
const MAX_ASKED = 20_000
/** Lengths of prompts times those of the answers that are looked for in them, of all cases together. */
const MAX_SEARCHED = 200_000_000
/** Variables that hold the answer, not the question. */
const ANSWERS = new Set(['expected', 'expected_output', 'answer', 'reference', 'ground_truth'])
const PARTS = new Set(['contains', 'icontains', 'starts-with', 'istarts-with', 'iends-with'])

export const TWIN = 'another case has the same name: their results cannot be told apart'

const plain = (text: string) => text.toLowerCase().replaceAll(/\s+/g, ' ').trim()

/** Checks cases without a model: names, graders, and prompts that give the answer away. */
export function checkCases(cases: readonly EvalCase[]): CaseProblem[] {
  const seen = new Set<string>()
  const room = { left: MAX_SEARCHED }
  return cases.flatMap((one) => {
    const problems = checkCase(one, room)
    if (seen.has(one.id)) problems.push(TWIN)
    seen.add(one.id)
    return problems.map((problem) => ({ file: one.file, case: one.id, problem }))
  })
}

function checkCase({ input, graders, expected, shouldTrigger }: EvalCase, room: { left: number }): string[] {
  const asked = plain(
    typeof input === 'string'
      ? input
      : Object.entries(input)
          .flatMap(([name, value]) => (ANSWERS.has(name) ? [] : [typeof value === 'string' ? value : (JSON.stringify(value) ?? '')]))
          .join('\n'),
  ).slice(0, MAX_ASKED)
  const names = graders.flatMap(({ name }) => (name === null ? [] : [name]))
  const repeated = new Set(names.filter((name, place) => names.indexOf(name) !== place))
  const givesAway = (answer: unknown, min: number) => {
    const said = typeof answer === 'string' ? plain(answer) : ''
    if (said.length < min || said.length > asked.length) return false
    room.left -= asked.length * said.length
    return room.left >= 0 && asked.includes(said)
  }
  return [
    ...(typeof input === 'string' && asked === '' ? ['has no prompt'] : []),
    ...(graders.length === 0 && shouldTrigger === null ? ['has no grader: nothing decides whether it passes'] : []),
    ...[...repeated].slice(0, 3).map((name) => `two graders have the name ${toCaseId(name)}`),
    ...(givesAway(expected, MIN_ANSWER) ? ['the prompt contains the expected answer'] : []),
    ...graders.flatMap((grader) => {
      const { kind, text, value, name } = grader
      const answer = kind === 'rubric' ? text : value
      const isAnswer = kind === 'equals' || kind === 'rubric' || PARTS.has(kind)
      const fault =
        isAnswer && givesAway(answer, kind === 'equals' ? MIN_ANSWER : MIN_PART)
          ? 'looks for what the prompt already contains'
          : findGraderFault(grader)
      return fault === null ? [] : [`the grader ${toCaseId(name ?? kind)} ${fault}`]
    }),
  ]
}

/** Why a grader can never decide anything; null for none. `tool_used` has a `min` of 1 unless it says otherwise (plugin-evals, "Graders"). */
function findGraderFault({ kind, text, value, weight, settings }: CaseGrader): string | null {
  if (weight !== null && weight <= 0) return 'has no weight above 0'
  if (kind === 'rubric' && (text ?? '').trim() === '') return 'has no criteria'
  if (kind === 'tool_used' && settings['max'] === 0 && settings['min'] !== 0) return 'can never pass: max is 0, and min is 1 by default'
  if (!/^(?:not-)?regex$/.test(kind)) return null
  try {
    new RegExp(toText(value ?? ''), typeof settings['flags'] === 'string' ? settings['flags'] : '')
    return value === null || value === '' ? 'has no pattern' : null
  } catch {
    return 'has a regular expression that is not valid'
  }
}
