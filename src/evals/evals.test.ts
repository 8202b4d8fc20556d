import { describe, expect, test } from 'vitest'
import { CASE_LAYOUTS, type CaseLayout, type CaseResult, type EvalRun } from '../domain/evals/evals.ts'
import { readFields } from '../domain/text/yaml.ts'
import { compareRuns, digestOf, digestOfCases, passRateOf, wilsonInterval } from './compare-runs.ts'
import { convertCases } from './convert-cases.ts'
import { findHeldOut, separateHoldouts } from './holdouts.ts'
import { readCases, readPromptCases } from './read-cases.ts'
import { UNMEASURED, UNSAID } from './results/json-formats.ts'

const files = (texts: Readonly<Record<string, unknown>>) =>
  Object.entries(texts).map(([filename, text]) => ({
    filename,
    bytes: Buffer.from(typeof text === 'string' ? text : JSON.stringify(text)),
  }))
const problemsOf = (texts: Readonly<Record<string, unknown>>) => readCases(files(texts)).problems.map(({ problem }) => problem)
const evals = (...list: unknown[]) => ({ 'evals/evals.json': { skill_name: 's', evals: list } })

const ASKED = { query: 'q', should_trigger: true }
const SKILL = {
  'SKILL.md': '---\nname: s\n---\n',
  'evals/evals.json': {
    skill_name: 's',
    evals: [
      { id: 1, prompt: 'Chart the sales', expected_output: 'A bar chart', files: ['evals/files/a.csv'], expectations: ['Has axes'] },
      { id: 'top', prompt: 'Top months', assertions: ['Shows 3 months', 'Has a title'], holdout: true },
    ],
  },
  'evals/files/a.json': '[{',
  'evals/results/1/prompt.md': 'A copy',
  'evals/greet/prompt.md': '---\nmax_turns: 12\nexpected_outcome: A greeting\n---\n\nSay hello to Alex.\n',
  'evals/greet/graders/README.md': 'Notes',
  'evals/greet/graders/alex.md': '---\ntype: regex\nflags: i\nweight: 2\n---\nalex\n',
  'evals/greet/graders/fires.md': '---\ntype: tool_used\ntool: Skill\nmin: 1\n---\n',
  'evals/group/log/case.yaml':
    'schema_version: "1.1"\nname: changelog\nexecution: {prompt: Write it., model: sonnet}\ngraders: [{type: llm, name: ok, criteria: PASS if short}]\n',
  'evals/hooks/task.md': '# Hooks\n',
  'evals/hooks/criteria.json': {
    ...{ context: 'Retries', type: 'weighted_checklist' },
    checklist: [{ name: 'backoff', description: 'Waits longer', max_score: 60, category: 'INTENT' }],
  },
  'evals/trigger-evals.json': [
    { query: 'make a chart', should_trigger: true },
    { query: 'what is a chart', should_trigger: false },
  ],
}
const PROMPT_YML = `
testData: [{input: hello, expected: hello world}, {input: bye}]
evaluators:
  - {name: says, string: {startsWith: Hi}}
  - {name: near, uses: github/similarity}
  - {name: judge, llm: {modelId: m, prompt: 'Good? {{completion}}', choices: [{choice: 'yes', score: 1}]}}
`
const PROMPTFOO = `
defaultTest: {vars: {tone: kind}, assert: [{type: is-json}]}
tests:
  - {description: greets, vars: {name: Ann}, assert: [{type: contains, value: Ann, weight: 2}, {type: llm-rubric, value: is kind}]}
  - {vars: {name: Bo}, metadata: {split: holdout}}
`

describe('readCases', () => {
  test('reads all layouts as one list', () => {
    const { cases, problems } = readCases(files(SKILL))
    expect(cases.map((one) => `${one.id} | ${one.layout} | ${one.shouldTrigger}${one.isHoldout ? ' | holdout' : ''}`)).toEqual([
      '1 | skill-creator | null',
      'top | agentskills | null | holdout',
      'greet | plugin-eval | null',
      'changelog | plugin-eval | null',
      'hooks | tessl | null',
      'make a chart | triggers | true',
      'what is a chart | triggers | false',
    ])
    expect(cases[2]).toMatchObject({ input: 'Say hello to Alex.', expected: 'A greeting', settings: { max_turns: 12 } })
    expect(cases[2]?.graders).toEqual([
      { kind: 'regex', name: 'alex', text: null, value: 'alex', weight: 2, settings: { flags: 'i' } },
      { kind: 'tool_used', name: 'fires', text: null, value: null, weight: null, settings: { tool: 'Skill', min: 1 } },
    ])
    expect(cases[3]).toMatchObject({ input: 'Write it.', graders: [{ kind: 'rubric', text: 'PASS if short' }] })
    expect(cases[4]?.graders).toMatchObject([{ name: 'backoff', text: 'Waits longer', weight: 60, settings: { category: 'INTENT' } }])
    expect(problems).toEqual([])
  })

  test('reads tests of prompts', () => {
    const { cases, problems } = readPromptCases(readFields(PROMPT_YML), 'p.prompt.yml')
    const show = (list: typeof cases) =>
      list.map((one) => `${one.id} | ${one.expected} | ${one.graders.map(({ kind, value, text }) => `${kind} ${value ?? text}`)}`)
    const graders = 'istarts-with Hi,github/similarity null,choices Good? {{completion}}'
    expect(show(cases)).toEqual([`expected: hello world, input: hello | hello world | ${graders}`, `input: bye | null | ${graders}`])
    const foo = readPromptCases(readFields(PROMPTFOO), 'promptfooconfig.yaml')
    expect(show(foo.cases)).toEqual([
      'greets | null | is-json null,contains Ann,rubric is kind',
      'name: Bo, tone: kind | null | is-json null',
    ])
    expect(foo.cases.map(({ isHoldout }) => isHoldout)).toEqual([false, true])
    expect([...problems, ...foo.problems]).toEqual([])
    const [elsewhere] = readPromptCases({ tests: 'file://t.csv' }, 'p').problems
    expect(elsewhere?.problem).toBe('its tests are in another file. Write them out')
  })

  test.each([
    ['torn JSON', { 'evals/evals.json': '{"evals": [' }, ['is not valid JSON, or too large. Correct it']],
    ['no list', { 'evals/evals.json': {} }, ['has no list "evals", and is no list of queries']],
    ['unknown fields', evals({ id: 1, prompt: 'p', asertions: [], assertions: ['a'] }), ['unknown fields: asertions']],
    ['no grader', evals({ id: 1, prompt: 'p' }), ['has no grader: nothing decides whether it passes']],
    ['no prompt', evals({ id: 1, assertions: ['a'] }), ['has no prompt']],
    ['a name twice', { 'evals/t.json': [ASKED, ASKED] }, ['another case has the same name: their results cannot be told apart']],
    [
      'an answer',
      evals({ prompt: 'Say:  IT is Paris.', expected_output: 'it is Paris', assertions: ['a'] }),
      [expect.stringMatching(/contains/)],
    ],
    ['many graders', evals({ prompt: 'p', assertions: Array(201).fill('a') }), ['has 201 graders; the first 200 are used']],
    ['no boolean', { 'evals/t.json': [{ ...ASKED, should_trigger: 'yes' }] }, [expect.stringContaining('neither true'), expect.anything()]],
    ['no criteria.json', { 'evals/a/task.md': 'Do' }, ['has no criteria.json', expect.stringContaining('no grader')]],
    [
      'graders that cannot pass',
      {
        'evals/a/prompt.md': '---\ncolour: red\n---\nDo',
        'evals/a/graders/a.md': '---\ntype: tool_used\ntool: Web\nmax: 0\n---\n',
        'evals/a/graders/b.md': '---\ntype: regex\n---\n(',
        'evals/a/graders/c.md': '---\ntype: llm\nname: b\n---\n',
      },
      [
        'unknown fields: colour',
        'two graders have the name b',
        'the grader a can never pass: max is 0, and min is 1 by default',
        'the grader b has a regular expression that is not valid',
        'the grader b has no criteria',
      ],
    ],
    ['broken frontmatter', { 'evals/a/prompt.md': '---\na: [\n---\nDo' }, [expect.stringContaining('is no YAML that can be read')]],
  ])('reports %s', (_, texts, problems) => expect(problemsOf(texts)).toEqual(problems))

  test('has a limit, and knows tags', () => {
    expect(readCases(files({ 'evals/a/prompt.md': '---\ntags: [holdout]\n---\nx' })).cases[0]?.isHoldout).toBe(true)
    const list = Array.from({ length: 10_001 }, (_, at) => ({ query: `q${at}`, should_trigger: true }))
    const { cases, problems } = readCases(files({ 'evals/t.json': list }))
    expect([cases.length, problems.map(({ problem }) => problem)]).toEqual([10_000, ['has more than is used: the first 10000 cases']])
  })
})

describe('separateHoldouts', () => {
  const list = (more: object, ...entries: object[]) => JSON.stringify({ skill_name: 's', evals: entries, ...more })
  test.each<[string, Record<string, string>, readonly string[]]>([
    [
      'a tag as text',
      { 'evals/a/prompt.md': '---\ntags: slow, holdout\n---\nx', 'evals/a/graders/g.md': 'x' },
      ['evals/a/prompt.md', 'evals/a/graders/g.md'],
    ],
    ['metadata', { 'evals/a/prompt.md': '---\nmetadata: {holdout: true}\n---\nx' }, ['evals/a/prompt.md']],
    ['true as text', { 'evals/a/case.yaml': 'holdout: "true"\nprompt: x' }, ['evals/a/case.yaml']],
    [
      'the head of a task',
      { 'evals/a/task.md': '---\nholdout: true\n---\nx', 'evals/a/criteria.json': '{}' },
      ['evals/a/task.md', 'evals/a/criteria.json'],
    ],
    ['a whole list', { 'evals/evals.json': list({ holdout: true }, { id: 1, prompt: 'x' }) }, ['evals/evals.json']],
    ['a list in a folder', { 'evals/deep/evals.json': list({ split: 'holdout' }) }, ['evals/deep/evals.json']],
    ['a file of another layout', { 'evals/promptfoo.yaml': 'metadata: {split: holdout}' }, ['evals/promptfoo.yaml']],
    [
      'files that it alone names',
      {
        'evals/evals.json': list(
          {},
          { id: 1, prompt: 'x', files: ['files/a'] },
          { id: 2, holdout: true, files: ['files/a', 'evals/files/b'] },
        ),
        'evals/files/a': 'a',
        'evals/files/b': 'b',
      },
      ['evals/evals.json', 'evals/files/b'],
    ],
  ])('takes out %s', (_, texts, expected) => {
    const { shown, held, count } = separateHoldouts(files({ 'SKILL.md': 'x', ...texts }))
    expect(held.map(({ filename }) => filename).toSorted()).toEqual([...expected].toSorted())
    expect([count > 0, shown.map(({ filename }) => filename)]).toEqual([true, expect.arrayContaining(['SKILL.md'])])
    expect(readCases(shown).cases.filter(({ isHoldout }) => isHoldout)).toEqual([])
  })

  test('looks beyond the cases that are used', () => {
    const entries = Array.from({ length: 10_001 }, (_, id) => ({ id, prompt: 'x', ...(id === 10_000 && { holdout: true }) }))
    expect(separateHoldouts(files({ 'evals/evals.json': list({}, ...entries) })).count).toBe(1)
  })
})

test('what a file says once is not used ten thousand times', () => {
  const assert = Array.from({ length: 200 }, (_, n) => ({ type: 'contains', value: `${n} ${'x'.repeat(2_000)}` }))
  const tests = Array.from({ length: 10_000 }, (_, n) => ({ description: `${n}`, vars: {} }))
  const { cases, problems } = readPromptCases({ defaultTest: { assert }, tests }, 'p')
  expect(cases.length).toBeLessThan(50)
  expect(problems.at(0)?.problem).toMatch(/^has more than is used: the first \d+ cases$/)
  expect(() => convertCases(cases, 'plugin-eval', 's')).toThrow('too much to convert')
})

test.each([
  ['shared variables', { defaultTest: { vars: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`v${n}`, 'x'.repeat(20_000)])) } }],
  ['shared checks', { defaultTest: { assert: Array.from({ length: 20_000 }, () => ({ type: 'equals' })) } }],
])('%s of many tests are read as far as they are used', (_, shared) => {
  const { cases } = readPromptCases({ ...shared, tests: Array.from({ length: 80_000 }, () => ({})) }, 'p')
  expect(cases.length).toBeLessThan(200)
})

test('the files of a version have so much YAML together', () => {
  const long = `x: [${'a, '.repeat(6_000)}a]\n`
  const texts = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`evals/c${n}/case.yaml`, long]))
  const { problems } = readCases(files(texts))
  expect(problems.filter(({ problem }) => problem.includes('too much YAML')).length).toBeGreaterThan(50)
  const held = { 'evals/last/case.yaml': 'holdout: true', 'evals/split/case.yaml': 'name: v\nsplit: test\n' }
  expect(separateHoldouts(files({ ...texts, ...held })).held).toHaveLength(2)
})

test('answers are looked for in prompts as far as there is room', () => {
  const assert = Array.from({ length: 200 }, () => ({ type: 'contains', value: `${'a'.repeat(340)}b` }))
  const tests = Array.from({ length: 22 }, (_, n) => ({ description: `${n}`, vars: { x: 'a'.repeat(20_000) } }))
  expect(readPromptCases({ defaultTest: { assert }, tests }, 'p').problems).toEqual([])
  expect(
    readPromptCases(
      { tests: [{ vars: { x: 'Say the long magic words' }, assert: [{ type: 'contains', value: 'the long magic words' }] }] },
      'p',
    ).problems,
  ).toMatchObject([{ problem: expect.stringContaining('already contains') }])
})

test('a name in results may be that of a held-out case, unless it is one of the others alone', () => {
  const find = (...ids: readonly string[]) => findHeldOut(ids.map((id) => ({ id: id.replace('!', ''), isHoldout: id.startsWith('!') })))
  expect(['shown', 'both', 'held', 'other'].map(find('shown', 'both', '!both', '!held'))).toEqual([false, true, true, true])
  expect(['same', 'other'].map(find('same', 'same'))).toEqual([false, false])
})

test('what cannot be read, and speaks of a holdout, is not shown', () => {
  const long = { 'evals/a/prompt.md': `---\nholdout: true\n---\n${'x'.repeat(600_000)}`, 'evals/b/case.yaml': 'holdout: "true' }
  expect(separateHoldouts(files(long)).shown).toEqual([])
  const broken = { 'evals/c/case.json': '{"split":"test",', 'evals/d/case.json': '{"tags":"a holdout"' }
  expect(separateHoldouts(files(broken)).shown).toEqual([])
  expect(separateHoldouts(files({ 'evals/c/case.yaml': 'name: "open' })).held).toEqual([])
})

describe('convertCases', () => {
  const { cases } = readCases(files(SKILL))
  test('writes values of any kind as text', () => {
    const odd = readPromptCases({ tests: [{ vars: { x: 'a' }, assert: [{ type: 'contains', value: { toString: 1 } }] }] }, 'p').cases
    for (const layout of ['agentskills', 'skill-creator', 'plugin-eval', 'tessl'] as const)
      expect(convertCases(odd, layout, 's').files.length).toBeGreaterThan(0)
  })

  test.each<[CaseLayout, number, readonly string[]]>([
    ['agentskills', 1, ['holdout cases (1)', 'weights (2)', 'exact checks of the kind regex, now statements to judge (1)']],
    ['skill-creator', 1, ['ids, now numbers (6)']],
    ['plugin-eval', 13, ['the setting files (1)', 'the setting context (1)']],
    ['tessl', 12, ['expected answers (2)', 'whether the skill should trigger (2)', 'graders of the kind tool_used (1)']],
    ['triggers', 1, ['cases that do not say whether the skill should trigger (4)']],
    ['prompt-yml', 1, ['graders that not all cases have (5)']],
    ['promptfoo', 1, ['graders of the kind tool_used (1)']],
  ])('to %s', (layout, count, lost) => {
    const converted = convertCases(cases, layout, 's')
    expect(converted.files).toHaveLength(count)
    expect(converted.lost).toEqual(expect.arrayContaining([...lost]))
    expect(converted.files.map(({ bytes }) => Buffer.from(bytes).toString()).join()).not.toContain('Top months')
  })

  test('loses nothing within a layout', () => {
    const prompts = [...readPromptCases(readFields(PROMPT_YML), 'p').cases, ...readPromptCases(readFields(PROMPTFOO), 'p').cases]
    for (const layout of CASE_LAYOUTS) {
      const own = [...cases, ...prompts].filter((one) => one.layout === layout && !one.isHoldout)
      const { files: written, lost } = convertCases(own, layout, 's')
      const [file] = written
      const text = file ? Buffer.from(file.bytes).toString() : ''
      const again = layout.startsWith('prompt') ? readPromptCases(readFields(text), 'p') : readCases(written)
      expect([layout, lost, digestOfCases(again.cases)]).toEqual([layout, [], digestOfCases(own)])
    }
  })
})

test('digests do not depend on order, and cover what is served', () => {
  const all = files(SKILL)
  expect(digestOf(all.toReversed())).toBe(digestOf(files({ 'SKILL.md': SKILL['SKILL.md'] })))
  expect(digestOf(files({ a: 'bc' }))).not.toBe(digestOf(files({ ab: 'c' })))
  const { cases } = readCases(all)
  expect(digestOfCases(cases.toReversed())).toBe(digestOfCases(cases))
  expect(digestOfCases(cases.slice(1))).not.toBe(digestOfCases(cases))
})

describe('compareRuns', () => {
  const run = (...list: Partial<CaseResult>[]): EvalRun => {
    return { ...UNSAID, format: 'plugin-eval', results: list.map((one) => ({ ...UNMEASURED, ...one })) }
  }

  // Lower and upper bounds as R's prop.test(x, n, correct = FALSE) gives them.
  test.each([
    [8, 10, 0.4902, 0.9433],
    [10, 10, 0.7225, 1],
    [0, 10, 0, 0.2775],
    [50, 100, 0.4038, 0.5962],
    [0, 0, 0, 1],
  ])('Wilson interval of %i of %i', (passed, total, lower, upper) => {
    const interval = wilsonInterval(passed, total)
    expect([interval.lower, interval.upper].map((bound) => Number(bound.toFixed(4)))).toEqual([lower, upper])
  })

  test('tells outcomes, arms and assertions that always pass', () => {
    const always = [{ text: 'is text', passed: true, evidence: null }]
    const before = run(
      { case: 'a', arm: 'with', passed: false, score: 0.5, assertions: [...always, { text: 'is right', passed: false, evidence: null }] },
      { case: 'a', arm: 'without', passed: false, score: 0.5, assertions: always },
      { case: 'b', arm: 'with', passed: true, score: 1, assertions: always },
      { case: 'c', arm: 'with', passed: true },
      { case: 'gone', arm: 'with', passed: true, score: 1 },
      { case: 'lost', arm: 'with', passed: true, score: 1 },
    )
    const after = run(
      { case: 'a', arm: 'with', passed: true, score: 1, assertions: [...always, { text: 'is right', passed: true, evidence: null }] },
      { case: 'b', arm: 'with', passed: false, score: 0 },
      { case: 'b', arm: 'with', passed: true, score: 1 },
      { case: 'c', arm: 'with', passed: true, score: 1 },
      { case: 'lost', arm: 'with', error: 'timed out' },
      { case: 'new', arm: 'with', passed: true, score: 1 },
    )
    const { cases, passRates, alwaysPassing } = compareRuns(before, after)
    expect(cases.map((one) => [one.case, ...one.arms.map(({ arm, outcome }) => `${arm} ${outcome}`)])).toEqual([
      ['a', 'with better', 'without only-before'],
      ['b', 'with worse'],
      ['c', 'with same'],
      ['gone', 'with only-before'],
      ['lost', 'with unmeasured'],
      ['new', 'with only-after'],
    ])
    expect(passRates[0]).toMatchObject({ arm: 'with', before: { cases: 5, rate: 0.8 }, after: { cases: 4, rate: 0.875, isTooFew: true } })
    expect(alwaysPassing).toEqual([{ case: 'a', text: 'is text' }])
  })

  test('six cases that pass are enough, five are not', () => {
    const passing = (count: number) => run(...Array.from({ length: count }, (_, at) => ({ case: String(at), passed: true })))
    expect([passRateOf(passing(5), null).isTooFew, passRateOf(passing(6), null).isTooFew]).toEqual([true, false])
    expect(passRateOf(run(), null)).toEqual({ cases: 0, rate: null, lower: 0, upper: 1, isTooFew: true })
  })
})
