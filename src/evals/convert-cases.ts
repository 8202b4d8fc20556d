import { stringify } from 'yaml'
import type { CaseGrader, CaseLayout, EvalCase } from '../domain/evals/evals.ts'
import { slugify } from '../domain/items/slug.ts'
import type { SkillFile } from '../domain/skills/skill.ts'
import { type Fields, toText } from '../domain/text/yaml.ts'
import { AppError } from '../errors.ts'
import { CASE_KEYS, GH_KINDS, sizeOfCase } from './read-cases.ts'

/** Files of another layout, and what they do not carry, each with the number of times. */
export interface ConvertedCases {
  readonly files: readonly SkillFile[]
  readonly lost: readonly string[]
}

/** Largest cases that are converted, in UTF-16 units. */
const MAX_CONVERTED = 2 ** 20

type Lose = (what: string) => void
type Texts = Readonly<Record<string, string>>
type Writer = (cases: readonly EvalCase[], lose: Lose, skillName: string) => Texts

/** Exact checks as the end of a statement, and as what a regular expression has before and after the value, and its flags. */
const EXACT = new Map<string, readonly [says: string, before: string, after: string, flags: string]>([
  ['equals', ['is exactly', '^', '$', '']],
  ['contains', ['contains', '', '', '']],
  ['icontains', ['contains (in any case)', '', '', 'i']],
  ['starts-with', ['begins with', '^', '', '']],
  ['istarts-with', ['begins with (in any case)', '^', '', 'i']],
  ['iends-with', ['ends with (in any case)', '', '$', 'i']],
  ['regex', ['matches the regular expression', '', '', '']],
])
const PLUGIN_KINDS = new Set(['regex', 'tool_used', 'tool_order', 'file_exists', 'baseline'])

/**
 * Writes cases in another layout. Cases marked as holdout are left out: every reader of a skill gets its files.
 * @param skillName for layouts that name it
 * @throws AppError `too_large`
 */
export function convertCases(cases: readonly EvalCase[], layout: CaseLayout, skillName: string): ConvertedCases {
  const lost = new Map<string, number>()
  const lose: Lose = (what) => lost.set(what, (lost.get(what) ?? 0) + 1)
  const shown = cases.filter(({ isHoldout }) => !isHoldout)
  if (shown.length < cases.length) lost.set('holdout cases', cases.length - shown.length)
  const size = shown.reduce((sum, one) => sum + sizeOfCase(one), 0)
  if (size > MAX_CONVERTED)
    throw new AppError('too_large', `These cases have more than ${MAX_CONVERTED / 2 ** 20} MiB, which is too much to convert.`)
  const texts = WRITERS[layout](shown, lose, skillName)
  const files = Object.entries(texts).map(([filename, text]) => ({ filename, bytes: Buffer.from(text) }))
  return { files, lost: [...lost].map(([what, count]) => `${what} (${count})`) }
}

const WRITERS: Readonly<Record<CaseLayout, Writer>> = {
  agentskills: writeEvals('assertions'),
  'skill-creator': writeEvals('expectations'),
  'plugin-eval': writePluginCases,
  tessl: writeScenarios,
  triggers: writeTriggers,
  'prompt-yml': writeTestData,
  promptfoo: writeTests,
}

const toJson = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
const toYaml = (value: unknown) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
/** Fields that have a value. */
function some(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))
}

/** The settings that a layout knows. */
function keep(settings: Fields, known: Iterable<string>, lose: Lose, of = ''): Fields {
  const names = new Set(known)
  for (const key of Object.keys(settings)) if (!names.has(key)) lose(`the setting ${key.slice(0, 40)}${of}`)
  return Object.fromEntries(Object.entries(settings).filter(([key]) => names.has(key)))
}

function loseGrader({ kind }: CaseGrader, lose: Lose): readonly never[] {
  lose(`graders of the kind ${kind.slice(0, 40)}`)
  return []
}

function loseTrigger({ shouldTrigger }: EvalCase, lose: Lose): void {
  if (shouldTrigger !== null) lose('whether the skill should trigger')
}

/** The prompt of a case; variables become its lines. */
function toPrompt({ input }: EvalCase, lose: Lose): string {
  if (typeof input === 'string') return input
  lose('variables, now lines of the prompt')
  const lines = Object.entries(input).map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return lines.join('\n')
}

/** A grader as a statement for a judge; none for one that is no statement. */
function toStatement(grader: CaseGrader, known: readonly string[], lose: Lose): readonly string[] {
  const { kind, text, value, settings } = grader
  const [says] = EXACT.get(kind) ?? []
  if (kind !== 'rubric' && says === undefined) return loseGrader(grader, lose)
  if (kind !== 'rubric') lose(`exact checks of the kind ${kind}, now statements to judge`)
  keep(settings, known, lose, ' of a grader')
  return [kind === 'rubric' ? (text ?? '') : `The answer ${says}: ${toText(value)}`]
}

function writeEvals(list: 'assertions' | 'expectations'): Writer {
  return (cases, lose, skillName) => {
    const areNumbers = cases.every(({ id }) => /^\d{1,9}$/.test(id))
    const evals = cases.map((one, place) => {
      loseTrigger(one, lose)
      if (list === 'expectations' && !areNumbers) lose('ids, now numbers')
      const statements = one.graders.flatMap((grader) => {
        if (grader.weight !== null) lose('weights')
        return toStatement(grader, [], lose)
      })
      const id = list === 'assertions' ? one.id : areNumbers ? Number(one.id) : place + 1
      const expected = { expected_output: one.expected ?? '' }
      return { id, prompt: toPrompt(one, lose), ...expected, ...keep(one.settings, ['files'], lose), [list]: statements }
    })
    return { 'evals/evals.json': toJson({ skill_name: skillName, evals }) }
  }
}

function writeTriggers(cases: readonly EvalCase[], lose: Lose): Texts {
  const queries = cases.flatMap((one) => {
    if (one.shouldTrigger === null) lose('cases that do not say whether the skill should trigger')
    else if (one.graders.length > 0 || one.expected !== null) lose('graders and expected answers')
    return one.shouldTrigger === null ? [] : [{ query: toPrompt(one, lose), should_trigger: one.shouldTrigger }]
  })
  return { 'evals/triggers.json': toJson(queries) }
}

/** Cases with a folder each, named for their ids. */
function nameFolders(cases: readonly EvalCase[]): (readonly [folder: string, one: EvalCase])[] {
  const taken = new Map<string, number>()
  return cases.map((one) => {
    const base = slugify(one.id) || 'case'
    let number = taken.get(base) ?? 1
    let name = number === 1 ? base : `${base}-${number}`
    while (taken.has(name)) name = `${base}-${++number}`
    taken.set(base, number + 1)
    if (name !== base) taken.set(name, 2)
    return [`evals/${name}/`, one]
  })
}

function writePluginCases(cases: readonly EvalCase[], lose: Lose, skillName: string): Texts {
  const texts: Record<string, string> = {}
  const write = (file: string, fields: Fields, body: string) => {
    texts[file] = `---\n${toYaml(fields)}---\n\n${body}\n`
  }
  for (const [folder, one] of nameFolders(cases)) {
    const { id, expected, graders, shouldTrigger } = one
    const settings = keep(one.settings, CASE_KEYS.prompt, lose)
    write(`${folder}prompt.md`, some({ name: id, expected_outcome: expected, ...settings }), toPrompt(one, lose))
    const call = { type: 'tool_used', tool: 'Skill', input_match: `"skill"\\s*:\\s*"(?:[\\w-]+:)?${skillName}"` }
    const range = shouldTrigger ? { min: 1 } : { min: 0, max: 0, arm: 'both' }
    const written = [
      ...graders.flatMap((grader) => toPluginGrader(grader, lose)),
      ...(shouldTrigger === null ? [] : [{ fields: { ...call, ...range }, body: '' }]),
      // A case without graders does not load.
      ...(graders.length === 0 && shouldTrigger === null && expected !== null ? [{ fields: { type: 'llm' }, body: expected }] : []),
    ]
    for (const [place, { fields, body }] of written.entries())
      write(`${folder}graders/${String(place + 1).padStart(2, '0')}.md`, fields, body)
  }
  return texts
}

function toPluginGrader(grader: CaseGrader, lose: Lose): readonly { readonly fields: Fields; readonly body: string }[] {
  const { kind, name, text, value, weight } = grader
  const [, before = '', after = '', flags = ''] = EXACT.get(kind) ?? []
  if (kind !== 'rubric' && !PLUGIN_KINDS.has(kind) && !EXACT.has(kind)) return loseGrader(grader, lose)
  const shared = some({ name, weight, ...keep(grader.settings, CASE_KEYS.grader, lose, ' of a grader') })
  if (kind === 'rubric') return [{ fields: { type: 'llm', ...shared }, body: text ?? '' }]
  if (PLUGIN_KINDS.has(kind)) {
    return [{ fields: { type: kind, ...shared, ...some({ pattern: kind === 'regex' ? value : null, criteria: text }) }, body: '' }]
  }
  const pattern = `${before}${toText(value).replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')}${after}`
  return [{ fields: { type: 'regex', ...shared, pattern, ...(flags === '' ? {} : { flags }) }, body: '' }]
}

function writeScenarios(cases: readonly EvalCase[], lose: Lose): Texts {
  const written = nameFolders(cases).flatMap(([folder, one]) => {
    loseTrigger(one, lose)
    if (one.expected !== null) lose('expected answers')
    const checklist = one.graders.flatMap((grader, place) =>
      toStatement(grader, ['category'], lose).map((description) => {
        const { name, weight, settings } = grader
        return some({ name: name ?? `criterion ${place + 1}`, description, max_score: weight ?? 1, category: settings['category'] })
      }),
    )
    const { context = one.name } = keep(one.settings, ['context'], lose)
    return [
      [`${folder}task.md`, `${toPrompt(one, lose)}\n`],
      [`${folder}criteria.json`, toJson({ context, type: 'weighted_checklist', checklist })],
    ] as const
  })
  return Object.fromEntries(written)
}

/** Fields for a `.prompt.yml`: its evaluators grade every test, so that only graders that all cases have are kept. */
function writeTestData(cases: readonly EvalCase[], lose: Lose): Texts {
  const counts = new Map<string, number>()
  const keysOf = ({ graders }: EvalCase) => new Set(graders.map((grader) => JSON.stringify(grader)))
  for (const key of cases.flatMap((one) => [...keysOf(one)])) counts.set(key, (counts.get(key) ?? 0) + 1)
  for (const count of counts.values()) if (count < cases.length) lose('graders that not all cases have')
  const shared = (cases[0]?.graders ?? []).filter((grader) => counts.get(JSON.stringify(grader)) === cases.length)
  const evaluators = shared.flatMap((grader): readonly Fields[] => {
    const { kind, name, text, value, weight, settings } = grader
    const string = Object.keys(GH_KINDS).find((key) => GH_KINDS[key] === kind)
    if (weight !== null) lose('weights')
    const called = { name: name ?? kind }
    if (string !== undefined) return [{ ...called, string: { [string]: value } }]
    if (kind === 'choices') return [{ ...called, llm: { prompt: text, ...settings } }]
    return kind.startsWith('github/') ? [{ ...called, uses: kind }] : loseGrader(grader, lose)
  })
  const testData = cases.map((one) => {
    loseTrigger(one, lose)
    keep(one.settings, [], lose)
    return some({ ...(typeof one.input === 'string' ? { input: one.input } : one.input), expected: one.expected })
  })
  return { 'evals/cases.prompt.yml': toYaml({ testData, evaluators }) }
}

/** The list `tests` of a `promptfooconfig.yaml`; the prompt of a skill's case is the variable `prompt`. */
function writeTests(cases: readonly EvalCase[], lose: Lose): Texts {
  const tests = cases.map((one) => {
    loseTrigger(one, lose)
    const assert = one.graders.flatMap((grader) => {
      const { kind, name, text, value, weight } = grader
      // Kinds of other layouts have an underscore or a slash, or no counterpart.
      if (/[_/]|^(?:choices|baseline|iends-with|istarts-with)$/.test(kind)) return loseGrader(grader, lose)
      const check = kind === 'rubric' ? { type: 'llm-rubric', value: text } : { type: kind, value }
      return [some({ ...check, metric: name, weight, ...keep(grader.settings, CASE_KEYS.assertion, lose, ' of a grader') })]
    })
    const vars = some({ ...(typeof one.input === 'string' ? { prompt: one.input } : one.input), expected: one.expected })
    return { description: one.id, vars, assert, ...keep(one.settings, CASE_KEYS.test, lose) }
  })
  return { 'evals/promptfoo-tests.yaml': toYaml({ tests }) }
}
