import { describe, expect, test } from 'vitest'
import { toVariablesId } from '../../domain/evals/evals.ts'
import { MAX_RESULT_BYTES, readResultFiles, readResults } from './read-results.ts'

// Made by hand after the documented shapes that json-formats.ts and read-results.ts name: their runners need a model or are not installed.
const bytes = (content: unknown) => Buffer.from(typeof content === 'string' ? content : JSON.stringify(content))
const read = (content: unknown, filename = 'results.json') => readResults(bytes(content), filename)

const grader = (name: string, passed: boolean, more = {}) => ({ name, passed, weight: 1, explanation: 'because', scored: true, ...more })
const pluginRun = (score: number, more = {}) => ({
  ...{ score, passed: score === 1, turns: 3, costUsd: 0.14, judgeCostUsd: 0.02, durationSeconds: 41, error: null, tracePath: '/t' },
  ...{ skippedPaidGraders: false, graders: [grader('names alex', score === 1)], ...more },
})
const plugin = (arms: object, more = {}) => ({
  schemaVersion: 1,
  claudeVersion: '2.1.273',
  startedAt: '2026-09-16T00:00:00.000Z',
  durationSeconds: 88,
  costUsd: 0.26,
  partial: false,
  suite: { root: '/srv/p', ablation: 'with-without', threshold: 1, plugins: [] },
  cases: [{ name: 'alex', dir: 'evals/greet', source: 'prose', promptMarkdown: 'Hi', runsPerCase: 1, graders: [], arms, aggregates: {} }],
  aggregates: { casesTotal: 1, casesPassed: 1, overallScore: 1, overallPassRate: 1 },
  ...more,
})
const said = (text: string, passed: boolean) => ({ text, passed, evidence: 'seen' })
const benchRun = (configuration: string, rate: number, more = {}) => ({
  ...{ eval_id: 1, eval_name: 'Ocean', configuration, run_number: 1, notes: [] },
  result: { pass_rate: rate, passed: 6, failed: 1, total: 7, time_seconds: 42.5, tokens: 3800, tool_calls: 18, errors: 0 },
  ...{ expectations: [said('a', true), said('b', rate === 1)], ...more },
})
const bench = (runs: unknown[], model = 'claude-sonnet-5-5') => ({
  ...{ metadata: { skill_name: 'pdf', executor_model: model, timestamp: '2026-01-15T10:30:00Z', evals_run: [1] }, runs, notes: [] },
  run_summary: { with_skill: { pass_rate: { mean: 0.85, stddev: 0.05 } }, delta: { pass_rate: '+0.50' } },
})
const averages = {
  run_summary: {
    with_skill: { pass_rate: { mean: 0.83, stddev: 0.06 }, time_seconds: { mean: 45, stddev: 12 }, tokens: { mean: 3800, stddev: 400 } },
    without_skill: { pass_rate: { mean: 0.33, stddev: 0.1 }, time_seconds: { mean: 32, stddev: 8 }, tokens: { mean: 2100, stddev: 300 } },
    delta: { pass_rate: 0.5, time_seconds: 13, tokens: 1700 },
  },
}
const gh = (testResults: unknown[]) => ({
  ...{ name: 'JSON Test', description: 'd', model: 'openai/gpt-4o', testResults },
  summary: { totalTests: testResults.length, passedTests: 0, failedTests: 0, passRate: 50 },
})
const ghTest = (evaluationResults: unknown, testCase = { input: 'hi' }) => ({ testCase, modelResponse: 'x', evaluationResults })
const verdict = (evaluatorName: string, score: number, details?: string) => ({ evaluatorName, score, passed: score > 0, details })
const row = (success: boolean, more = {}) => ({
  success,
  score: success ? 1 : 0,
  failureReason: success ? 0 : 1,
  latencyMs: 12,
  cost: 0.01,
  tokenUsage: { total: 9 },
  provider: { id: 'echo', label: '' },
  vars: { n: 'A' },
  testCase: { vars: { n: 'A' } },
  gradingResult: { componentResults: [{ pass: success, score: 1, reason: 'r', assertion: { type: 'contains', value: 'Ann' } }] },
  ...more,
})
const v3 = (...results: unknown[]) => ({ version: 3, timestamp: '2026-06-20T10:00:00Z', prompts: [], results, stats: { successes: 1 } })
const suite = (inner: string) => `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites><testsuite name="s">${inner}</testsuite></testsuites>`

/** What no file of a real tool has: by name, a file, each result as `case arm passed score`, and a part of its remark. */
const ROWS: readonly (readonly [name: string, content: unknown, results: string, remark?: string])[] = [
  ['skipped graders', plugin({ with: [pluginRun(1, { skippedPaidGraders: true })] }), 'alex with null null', '1 run skipped'],
  ['failed setup', plugin({ with: [pluginRun(0, { graders: [], error: 'scaffold failed (exit 1)' })] }), 'alex with null null'],
  ['timed out but graded', plugin({ with: [pluginRun(0.5, { error: 'timed out' })] }), 'alex with false 0.5'],
  ['new fields', plugin({ with: [pluginRun(1, { mocks: {}, future: [1] })] }, { future: {} }), 'alex with true 1'],
  ['text ids', bench([benchRun('with_skill', 1, { eval_id: 'ocean' })]), 'ocean with true 1'],
  ['nothing graded', bench([benchRun('with_skill', 0, { result: { pass_rate: 0, total: 0 } })]), '1 with null null'],
  ['without statements', { expectations: [] }, 'chart with null null'],
  ['scores up to 5', gh([ghTest([verdict('a', 5)])]), 'input: hi null true null'],
  ['the summary alone', v3(row(true)), 'n: A null true 1'],
  ['described', v3(row(true, { testCase: { description: 'greets', vars: {} } })), 'greets null true 1'],
  ['a time with a comma', suite('<testcase name="a" time="1,000.5"/>'), 'a null true 1'],
  ['skipped, in a suite of a suite', suite('<testsuite><testcase name="d"><skipped/></testcase></testsuite>'), 'd null null null'],
  ['classes', suite('<testcase classname="x" name="t"/><testcase classname="y" name="t"/>'), 'x t null true 1; y t null true 1'],
  ['escapes', suite("<!-- c --><testcase name='&lt;script&gt;&#x41;&#66;&unknown;'/>"), '<script>AB&unknown; null true 1'],
  ['CDATA', suite('<testcase name="a"><system-out><![CDATA[</testcase>]]></system-out></testcase>'), 'a null true 1'],
]

test.each(ROWS)('%s', (_, content, results, remark) => {
  const run = read(content, 'it-1/eval-chart/with_skill/grading.json')
  const shown = run.results.map((one) => `${one.case} ${one.arm} ${one.passed} ${one.score}`).join('; ')
  expect([shown, run.remarks]).toEqual([results, remark === undefined ? [] : [expect.stringContaining(String(remark))]])
})

test('model, time, cost and evidence are kept', () => {
  const run = read(plugin({ with: [pluginRun(1)] }, { suite: { modelOverride: 'sonnet' } }))
  expect(run).toMatchObject({ runner: 'claude plugin eval 2.1.273', model: 'sonnet', startedAt: '2026-09-16T00:00:00.000Z' })
  const assertions = [{ text: 'names alex', passed: true, evidence: 'because' }]
  expect(run.results[0]).toMatchObject({ durationMs: 41_000, costUsd: 0.14, tokens: null, assertions })
  expect(read(plugin({ with: [pluginRun(1, { skippedPaidGraders: true })] })).isPartial).toBe(true)
  expect(read(bench([benchRun('with_skill', 1)], '<model-name>')).model).toBeNull()
  expect(read(bench([benchRun('with_skill', 1)])).results[0]).toMatchObject({ durationMs: 42_500, tokens: 3800 })
  const [first] = read(v3(row(true))).results
  expect(first).toMatchObject({ durationMs: 12, tokens: 9, costUsd: 0.01, assertions: [{ text: 'contains: Ann', evidence: 'r' }] })
  const [failed] = read(suite('<testcase name="b" time="0.25"><failure message="no">trace</failure></testcase>')).results
  expect(failed).toMatchObject({ durationMs: 250, assertions: [{ text: 'no', passed: false, evidence: 'trace' }] })
})

test('the files of one run are put together', () => {
  const file = (filename: string, content: unknown) => ({ filename, bytes: bytes(content) })
  const graded = file('w/eval-chart/with_skill/grading.json', { expectations: [said('a', true)] })
  const timing = file('w/eval-chart/with_skill/timing.json', { total_tokens: 84_852, duration_ms: 23_332 })
  const run = readResultFiles([file('w/benchmark.json', { ...averages, metadata: { executor_model: 'm' } }), graded, timing])
  expect(run).toMatchObject({ model: 'm', remarks: [], results: [{ case: 'chart', arm: 'with', tokens: 84_852, durationMs: 23_332 }] })
  const whole = readResultFiles([graded, file('w/benchmark.json', bench([benchRun('with_skill', 1)]))])
  expect(whole.results.map((one) => one.case)).toEqual(['1'])
  expect(() => readResultFiles([graded, file('other.json', v3(row(true)))])).toThrow('not those of one run')
})

describe('bad input', () => {
  const cut = JSON.stringify(plugin({ with: [pluginRun(1)] })).slice(0, -40)
  test.each([
    ['torn JSON', cut, 'not valid JSON; it may have been cut off'],
    ['torn XML', suite('<testcase name="a"/>').slice(0, -30), 'cut off'],
    ['a torn tag', '<testsuites><testcase name="a', 'not valid XML, or is cut off, at character 12'],
    ['crossed tags', '<testsuites><a></testsuites></a>', 'ends nothing'],
    ['a DTD', '<!DOCTYPE x [<!ENTITY a "b">]><testsuites/>', 'has a DTD'],
    ['other XML', '<html/>', 'does not begin with <testsuites>'],
    ['deep XML', '<testsuites>'.repeat(70), 'nested more than 64 deep'],
    ['deep JSON', `{"results":${'['.repeat(100)}${']'.repeat(100)}}`, 'nested deeper than 64'],
    ['a later version', { ...plugin({ with: [] }), schemaVersion: 2 }, 'schemaVersion is missing or not as expected'],
    ['missing fields', plugin({ with: [{ score: 1 }] }), 'cases.0.arms.with.0.passed, cases.0.arms.with.0.graders are missing'],
    [
      'config for configuration',
      bench([{ eval_id: 1, config: 'with_skill', pass_rate: 1 }]),
      'runs.0.configuration, runs.0.result are missing',
    ],
    ['unknown fields', { hello: 1 }, 'no format known here (its fields: hello)'],
    ['a list', '[]', 'is not a JSON object'],
    ['no results', plugin({ with: [] }, { cases: [], partial: true, partialReason: 'auth_failed' }), 'the run is partial (auth_failed)'],
  ])('%s', (_, content, message) => {
    expect(() => read(content)).toThrow(expect.objectContaining({ code: 'invalid_input', message: expect.stringContaining(message) }))
  })

  test('too much', () => {
    const tooLarge = expect.objectContaining({ code: 'too_large' })
    expect(() => readResults(new Uint8Array(MAX_RESULT_BYTES + 1), 'r.json')).toThrow(tooLarge)
    const cases = (count: number) => suite(Array.from({ length: count }, (_, at) => `<testcase name="${at}"/>`).join(''))
    expect(read(cases(10_000)).results).toHaveLength(10_000)
    expect(() => read(cases(10_001))).toThrow(tooLarge)
    expect(() => readResults(bytes(`{"results":[${'1,'.repeat(2_000_001)}1]}`), 'r.json')).toThrow('more than 2000000 members')
    expect(() => readResults(Buffer.from([0xff, 0xfe, 0x7b, 0]), 'r.json')).toThrow('is UTF-16, not UTF-8')
  })

  test('names are bounded text, and keys reach no prototype', () => {
    const name = `<script>alert(1)</script>\n\0${'x'.repeat(5000)}`
    const run = read(plugin({ with: [pluginRun(1, { graders: [grader(name, true)] })] }))
    expect(run.results[0]?.assertions[0]?.text).toMatch(/^<script>alert\(1\)<\/script>\n x+$/)
    expect(run.results[0]?.assertions[0]?.text).toHaveLength(1000)
    const [one] = read(
      `{"testResults":[{"testCase":{"__proto__":{"polluted":1},"a":"${'x'.repeat(300)}"},"evaluationResults":[]}]}`,
    ).results
    expect(one?.case).toMatch(/^a: x+ #[\da-f]{8}$/)
    expect({}).not.toHaveProperty('polluted')
    expect(toVariablesId({ a: 'x'.repeat(300) })).not.toBe(toVariablesId({ a: 'x'.repeat(301) }))
  })
})
