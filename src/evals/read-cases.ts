import {
  type CaseGrader,
  type CaseLayout,
  type CaseProblem,
  type EvalCase,
  isEvalFile,
  MAX_CASE_MEMBERS,
  MAX_CASES,
  toCaseId,
  toVariablesId,
} from '../domain/evals/evals.ts'
import { decodeText, encodingFault, type SkillFile } from '../domain/skills/skill.ts'
import { isObject, parseJson } from '../domain/text/json.ts'
import { type Fields, listOf, readFields, readHead, type TokenRoom, textOf, toText, without } from '../domain/text/yaml.ts'
import { AppError } from '../errors.ts'
import { checkCases, claimsHoldout, HOLDOUT_KEYS, MAX_ALL_TOKENS, TWIN, withoutClaims } from './holdouts.ts'

/** Cases in the order of their files, and everything that is wrong with them. */
export interface CaseList {
  readonly cases: readonly EvalCase[]
  readonly problems: readonly CaseProblem[]
}

type Note = (caseId: string | null, problem: string) => void

/** Most graders of a case: with each, its prompt is searched. */
const MAX_GRADERS = 200
/** Most graders of all cases together, and most UTF-16 units. */
const MAX_ALL_GRADERS = 20_000
const MAX_SIZE = 8 * 2 ** 20
/** Folders beside the cases: of results, of stand-ins for servers, of input files. */
const NO_CASES = /^evals\/(?:results|mocks|files)\//
const keys = (names: string) => new Set([...names.split(' '), ...HOLDOUT_KEYS])

/** Fields that each layout knows, from the sources named at `CASE_LAYOUTS`. */
export const CASE_KEYS = {
  evals: keys('id name prompt expected_output files assertions expectations'),
  prompt: keys(
    'schema_version name description tags plugins runs expected_outcome model max_turns timeout_seconds allowed_tools append_system_prompt env',
  ),
  grader: keys(
    'type name weight arm pattern flags match target tool input_match min max before after path exists criteria focus baseline_file',
  ),
  criterion: keys('name description max_score category'),
  trigger: keys('id query should_trigger'),
  test: keys('description vars assert threshold options metadata provider providers providerOutput prompts'),
  assertion: keys('type value threshold weight metric transform provider rubricPrompt config contextTransform assert'),
  evaluator: keys('name string llm uses'),
}

/** Reads the eval cases of a skill, whatever their layout: `evals/*.json`, and `prompt.md` or `task.md` in a folder of `evals/`. */
export function readCases(files: readonly SkillFile[]): CaseList {
  const texts = new Map<string, string>()
  const found = collect()
  const room = { tokens: MAX_ALL_TOKENS }
  for (const { filename, bytes } of files) {
    if (!isEvalFile(filename) || NO_CASES.test(filename) || !/\.(?:md|json|yaml)$/.test(filename)) continue
    const text = decodeText(bytes)
    if (text === null) found.problems.push({ file: filename, case: null, problem: encodingFault(bytes) })
    else texts.set(filename, text.replace(/^\uFEFF/, ''))
  }
  for (const file of [...texts.keys()].toSorted()) {
    const [, folder, name] = /^(evals\/(?:.+\/)?)([^/]+)$/.exec(file) ?? []
    const isFolder = folder !== 'evals/'
    if (name === 'prompt.md' || (name === 'case.yaml' && !texts.has(`${folder}prompt.md`))) {
      if (isFolder) found.read(file, (note) => [readPluginCase(folder ?? '', texts, room, note)])
    } else if (name === 'task.md' && isFolder) found.read(file, (note) => [readScenario(folder ?? '', texts, room, note)])
    else if (!isFolder && name?.endsWith('.json')) found.read(file, (note) => readJsonCases(texts.get(file) ?? '', note))
  }
  return found.finish()
}

/**
 * Reads the tests of a prompt: `testData` and `evaluators` of a `.prompt.yml`, which the config of an imported prompt has, or `tests` and
 * `defaultTest` of a `promptfooconfig.yaml`. @param fields the config, or the fields of the file
 */
export function readPromptCases(fields: Fields, file: string): CaseList {
  const found = collect()
  if ('testData' in fields || 'evaluators' in fields) found.read(file, (note) => readTestData(fields, note))
  if ('tests' in fields) found.read(file, (note) => readTests(fields, note))
  return found.finish()
}

/** Reads the tests of a prompt from files of either layout, as far as they have room together. */
export function readPromptCaseFiles(files: readonly SkillFile[]): CaseList {
  const lists: CaseList[] = []
  let [size, graders] = [0, 0]
  const room = { tokens: MAX_ALL_TOKENS }
  for (const file of files) {
    if (size > MAX_SIZE || graders > MAX_ALL_GRADERS) {
      lists.push({ cases: [], problems: [{ file: file.filename, case: null, problem: 'is not read: the files before it are large' }] })
      break
    }
    const list = readPromptCaseFile(file, room)
    size += list.cases.reduce((sum, one) => sum + sizeOfCase(one), 0)
    graders += list.cases.reduce((sum, one) => sum + one.graders.length, 0)
    lists.push(list)
  }
  return joinLists(lists)
}

function readPromptCaseFile({ filename, bytes }: SkillFile, room: TokenRoom): CaseList {
  const found = collect()
  const text = decodeText(bytes)
  if (text === null) found.problems.push({ file: filename, case: null, problem: encodingFault(bytes) })
  else {
    try {
      // JSON is tried first: its limits allow many more cases than those of YAML.
      const parsed = parseJson(text, MAX_CASE_MEMBERS)
      return readPromptCases(parsed.ok && isObject(parsed.value) ? parsed.value : readFields(text, undefined, room), filename)
    } catch (error) {
      found.read(filename, () => {
        throw error
      })
    }
  }
  return found.finish()
}

/** Several lists as one. */
export function joinLists(lists: readonly CaseList[]): CaseList {
  const owners = new Map<string, CaseList>()
  for (const list of lists) for (const { id } of list.cases) if (!owners.has(id)) owners.set(id, list)
  const twins = lists.flatMap((list) => list.cases.filter(({ id }) => owners.get(id) !== list))
  const problems = [...lists.flatMap((list) => list.problems), ...twins.map(({ file, id }) => ({ file, case: id, problem: TWIN }))]
  return { cases: lists.flatMap((list) => list.cases).slice(0, MAX_CASES), problems }
}

/** A case before its file and layout are known. */
type Draft = Pick<EvalCase, 'id' | 'input' | 'layout'> & Partial<EvalCase>

function collect() {
  const cases: EvalCase[] = []
  const problems: CaseProblem[] = []
  return {
    problems,
    read(file: string, readDrafts: (note: Note) => readonly Draft[]) {
      const note: Note = (caseId, problem) => problems.push({ file, case: caseId, problem })
      try {
        for (const draft of readDrafts(note)) {
          const rest = { expected: null, shouldTrigger: null, settings: {}, isHoldout: false }
          const graders = draft.graders ?? []
          if (graders.length > MAX_GRADERS) note(draft.id, `has ${graders.length} graders; the first ${MAX_GRADERS} are used`)
          cases.push({ name: draft.id, ...rest, ...draft, graders: graders.slice(0, MAX_GRADERS), file })
        }
      } catch (error) {
        if (!(error instanceof AppError) || error.code === 'internal') throw error
        note(null, error.message)
      }
    },
    finish(): CaseList {
      const used = countUsed(cases)
      if (cases.length > used) {
        problems.push({ file: cases[0]?.file ?? 'evals', case: null, problem: `has more than is used: the first ${used} cases` })
        cases.length = used
      }
      return { cases, problems: [...problems, ...checkCases(cases)] }
    },
  }
}

/** The length of a value of a case as text, in UTF-16 units; of what cases share, it is found once. */
const lengths = new WeakMap<object, number>()
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  const known = lengths.get(value) ?? JSON.stringify(value).length
  lengths.set(value, known)
  return known
}

/** How large a case is, in UTF-16 units. */
export function sizeOfCase({ input, expected, graders, settings }: Pick<EvalCase, 'input' | 'expected' | 'graders' | 'settings'>): number {
  const asked = typeof input === 'string' ? input.length : Object.values(input).reduce<number>((sum, value) => sum + lengthOf(value), 0)
  const checked = graders.reduce((sum, { text, value, settings: more }) => sum + 50 + lengthOf(text) + lengthOf(value) + lengthOf(more), 0)
  return 200 + asked + checked + lengthOf(expected) + lengthOf(settings)
}

const NO_CASE = { expected: null, settings: {} }

/** How many of the cases are used: what a file says once may stand in each of them. */
function countUsed(cases: readonly EvalCase[]): number {
  let [size, graders] = [0, 0]
  const end = cases.slice(0, MAX_CASES).findIndex((one) => {
    size += sizeOfCase(one)
    graders += one.graders.length
    return size > MAX_SIZE || graders > MAX_ALL_GRADERS
  })
  return end === -1 ? Math.min(cases.length, MAX_CASES) : end
}

const numberOf = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null)
const idOf = (value: unknown, place: number) => toCaseId(String(textOf(value) ?? numberOf(value) ?? place + 1)) || String(place + 1)

function toGrader(kind: string, rest: Partial<CaseGrader>): CaseGrader {
  return { kind, name: null, text: null, value: null, weight: null, settings: {}, ...rest }
}

function noteUnknown(fields: Fields, known: ReadonlySet<string>, caseId: string | null, note: Note, where = ''): void {
  const unknown = Object.keys(fields).filter((key) => !known.has(key))
  if (unknown.length > 0) note(caseId, `unknown fields${where}: ${toCaseId(unknown.slice(0, 5).join(', '))}`)
}

/** `evals.json` of both variants, or a list of trigger queries. */
function readJsonCases(text: string, note: Note): readonly Draft[] {
  const parsed = parseJson(text, MAX_CASE_MEMBERS)
  if (!parsed.ok) throw new AppError('invalid_input', 'is not valid JSON, or too large. Correct it')
  const evals = isObject(parsed.value) ? parsed.value['evals'] : parsed.value
  if (!Array.isArray(evals)) throw new AppError('invalid_input', 'has no list "evals", and is no list of queries')
  const isAll = isObject(parsed.value) && claimsHoldout(parsed.value)
  if (isObject(parsed.value)) noteUnknown(parsed.value, keys('skill_name evals tags metadata'), '', (_, problem) => note(null, problem))
  return evals.flatMap((one: unknown, place): Draft[] => {
    if (!isObject(one)) {
      note(null, `case ${place + 1} is no object`)
      return []
    }
    const query = textOf(one['query'])
    if (query !== undefined) {
      const id = toCaseId(query)
      noteUnknown(one, CASE_KEYS.trigger, id, note)
      const should = one['should_trigger']
      if (typeof should !== 'boolean') note(id, 'should_trigger is neither true nor false')
      const shouldTrigger = typeof should === 'boolean' ? should : null
      return [{ id, layout: 'triggers', input: query, shouldTrigger, isHoldout: isAll || claimsHoldout(one) }]
    }
    const id = idOf(one['id'], place)
    noteUnknown(one, CASE_KEYS.evals, id, note)
    const graders = [...listOf(one['assertions']), ...listOf(one['expectations'])].flatMap((statement) => {
      const said = textOf(isObject(statement) ? statement['text'] : statement)
      if (said === undefined) note(id, 'an assertion is no text')
      return said === undefined ? [] : [toGrader('rubric', { text: said })]
    })
    const name = textOf(one['name']) ?? id
    const layout: CaseLayout = 'assertions' in one || typeof one['id'] === 'string' ? 'agentskills' : 'skill-creator'
    const settings = listOf(one['files']).length > 0 ? { files: one['files'] } : {}
    const expected = textOf(one['expected_output']) ?? null
    return [{ id, name, layout, input: textOf(one['prompt']) ?? '', expected, graders, settings, isHoldout: isAll || claimsHoldout(one) }]
  })
}

/** A folder with `prompt.md`, `case.yaml` or both, and `graders/*.md`: frontmatter overrides `case.yaml`, whose unknown keys are ignored. */
function readPluginCase(folder: string, texts: ReadonlyMap<string, string>, room: TokenRoom, note: Note): Draft {
  const { execution, context, graders: listed, ...base } = readFields(texts.get(`${folder}case.yaml`) ?? '', undefined, room)
  const { fields: head, body } = readHead(texts.get(`${folder}prompt.md`) ?? '', room)
  const fields: Fields = { ...base, ...(isObject(execution) ? execution : {}), ...(isObject(context) ? { context } : {}), ...head }
  const id = toCaseId(textOf(fields['name']) ?? folder.split('/').at(-2) ?? '')
  noteUnknown(head, CASE_KEYS.prompt, id, note)
  const files = [...texts.keys()].filter((file) => file.startsWith(`${folder}graders/`) && file.endsWith('.md')).toSorted()
  const written = files.flatMap((file) => {
    const grader = readHead(texts.get(file) ?? '', room)
    const name = file.slice(`${folder}graders/`.length, -'.md'.length)
    // Files without frontmatter are notes.
    return Object.keys(grader.fields).length === 0 ? [] : [{ name, ...grader.fields, body: grader.body.trim() }]
  })
  const graders = [...listOf(listed), ...written].flatMap((one): CaseGrader[] => {
    if (!isObject(one) || textOf(one['type']) === undefined) {
      note(id, 'a grader has no type')
      return []
    }
    const { type, name, weight, criteria, pattern, body: own, ...settings } = one
    const said = textOf(own) || null
    noteUnknown(without(one, 'body'), CASE_KEYS.grader, id, note, ` of the grader ${toCaseId(toText(name))}`)
    const isRegex = type === 'regex'
    const kind = type === 'llm' ? 'rubric' : String(type)
    const value = isRegex ? (textOf(pattern) ?? said) : null
    const text = isRegex ? null : (textOf(criteria) ?? said)
    return [toGrader(kind, { name: textOf(name) ?? null, text, value, weight: numberOf(weight), settings })]
  })
  const settings = without(fields, 'name', 'prompt', 'expected_outcome', 'schema_version', ...HOLDOUT_KEYS)
  const input = body.trim() || (textOf(fields['prompt']) ?? '')
  const expected = textOf(fields['expected_outcome']) ?? null
  return { id, layout: 'plugin-eval', input, expected, graders, settings, isHoldout: claimsHoldout(fields) }
}

/** A scenario of Tessl: `task.md`, and `criteria.json` with a weighted checklist. */
function readScenario(folder: string, texts: ReadonlyMap<string, string>, room: TokenRoom, note: Note): Draft {
  const id = toCaseId(folder.split('/').at(-2) ?? '')
  const text = texts.get(`${folder}criteria.json`)
  const parsed = text === undefined ? undefined : parseJson(text)
  const criteria = parsed?.ok && isObject(parsed.value) ? parsed.value : {}
  if (text === undefined) note(id, 'has no criteria.json')
  else if (criteria['type'] !== 'weighted_checklist') note(id, 'its criteria.json is not of the type weighted_checklist')
  const graders = listOf(criteria['checklist']).flatMap((one): CaseGrader[] => {
    if (!isObject(one)) return []
    const { name, description, max_score, ...settings } = one
    const weight = numberOf(max_score)
    noteUnknown(one, CASE_KEYS.criterion, id, note, ' of a criterion')
    if (weight === null || weight <= 0) note(id, 'a criterion has no max_score above 0')
    return [toGrader('rubric', { name: textOf(name) ?? null, text: textOf(description) ?? textOf(name) ?? null, weight, settings })]
  })
  const settings = textOf(criteria['context']) === undefined ? {} : { context: criteria['context'] }
  const task = readHead(texts.get(`${folder}task.md`) ?? '', room)
  const isHoldout = claimsHoldout(criteria) || claimsHoldout(task.fields)
  return { id, layout: 'tessl', input: task.body.trim(), graders, settings, isHoldout }
}

/** Kinds of the `string` evaluators of gh models: but for `equals` they ignore case. */
export const GH_KINDS: Readonly<Record<string, string>> = {
  equals: 'equals',
  contains: 'icontains',
  startsWith: 'istarts-with',
  endsWith: 'iends-with',
}

/** `testData` and `evaluators`, which grade every one of them. */
function readTestData({ testData, evaluators }: Fields, note: Note): readonly Draft[] {
  const graders = listOf(evaluators)
    .slice(0, MAX_GRADERS + 1)
    .flatMap((one): CaseGrader[] => {
      if (!isObject(one)) return []
      const { name, string, llm, uses } = one
      const called = textOf(name) ?? null
      noteUnknown(one, CASE_KEYS.evaluator, '', (_, problem) => note(null, problem), ` of the evaluator ${toCaseId(toText(name))}`)
      if (isObject(llm))
        return [toGrader('choices', { name: called, text: textOf(llm['prompt']) ?? null, settings: without(llm, 'prompt') })]
      if (textOf(uses) !== undefined) return [toGrader(String(uses), { name: called })]
      const [kind, value] = Object.entries(isObject(string) ? string : {}).find(([key]) => Object.hasOwn(GH_KINDS, key)) ?? []
      if (kind === undefined) note(null, `the evaluator ${toCaseId(toText(name))} has no string, llm or uses`)
      return kind === undefined ? [] : [toGrader(GH_KINDS[kind] ?? kind, { name: called, value })]
    })
  return listOf(testData).flatMap((one): Draft[] => {
    if (!isObject(one)) return []
    const input = withoutClaims(one)
    const expected = textOf(one['expected']) ?? null
    return [{ id: toVariablesId(input), layout: 'prompt-yml', input, expected, graders, isHoldout: claimsHoldout(one) }]
  })
}

/** Tests of promptfoo, with the variables and assertions of `defaultTest`. */
function readTests({ tests, defaultTest }: Fields, note: Note): readonly Draft[] {
  if (!Array.isArray(tests)) throw new AppError('invalid_input', 'its tests are in another file. Write them out')
  const shared = isObject(defaultTest) ? defaultTest : {}
  const readAsserts = (list: unknown, id: string | null) =>
    // One more than the limit is enough to report that there are too many.
    listOf(list)
      .slice(0, MAX_GRADERS + 1)
      .flatMap((assertion): CaseGrader[] => {
        const type = isObject(assertion) ? textOf(assertion['type']) : undefined
        if (!isObject(assertion) || type === undefined) {
          note(id, 'an assertion has no type')
          return []
        }
        noteUnknown(assertion, CASE_KEYS.assertion, id, note, ' of an assertion')
        const { value, weight, metric } = assertion
        const isRubric = type === 'llm-rubric' && typeof value === 'string'
        const judged = isRubric ? { text: value } : { value }
        const settings = without(assertion, 'type', 'value', 'weight', 'metric')
        return [toGrader(isRubric ? 'rubric' : type, { ...judged, name: textOf(metric) ?? null, weight: numberOf(weight), settings })]
      })
  const sharedGraders = readAsserts(shared['assert'], null)
  const variables = isObject(shared['vars']) ? shared['vars'] : {}
  const sharedSize = sizeOfCase({ ...NO_CASE, input: variables, graders: sharedGraders })
  const drafts: Draft[] = []
  let [size, graderCount] = [0, 0]
  for (const [place, one] of tests.entries()) {
    // One case past the limit is enough to report that there are more.
    if (drafts.length > MAX_CASES || size > MAX_SIZE || graderCount > MAX_ALL_GRADERS) break
    if (!isObject(one)) {
      note(null, `test ${place + 1} is in another file. Write it out`)
      continue
    }
    const input = { ...variables, ...(isObject(one['vars']) ? one['vars'] : {}) }
    const id = toCaseId(textOf(one['description']) ?? '') || toVariablesId(input)
    noteUnknown(one, CASE_KEYS.test, id, note)
    const graders = [...sharedGraders, ...readAsserts(one['assert'], id)]
    const settings = without(one, 'description', 'vars', 'assert', ...HOLDOUT_KEYS)
    const isHoldout = claimsHoldout(one)
    drafts.push({ id, layout: 'promptfoo', input, expected: textOf(input['expected']) ?? null, graders, settings, isHoldout })
    size += sharedSize
    graderCount += graders.length
  }
  return drafts
}
