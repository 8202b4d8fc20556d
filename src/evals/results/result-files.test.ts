import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { RESULT_FORMATS } from '../../domain/evals/evals.ts'
import { readResultFiles } from './read-results.ts'

/**
 * Result files of real tools ('made'; their machine's paths, names and runtime frames are removed), and files written to the documented shape
 * of tools that need a model ('documented'; json-formats.ts names the sources). A folder holds the files of one run.
 */
const FOLDER = fileURLToPath(new URL('../../../test/fixtures/results/', import.meta.url))
const MADE = 'made:'
const DOCUMENTED = 'documented'
const PROMPTFOO = `${MADE} promptfoo 0.123.1`
const PLUGIN_EVAL = 'claude plugin eval 2.1.284'
const AVERAGES = 'only averages over all cases'
const OLD = 'of old_skill left out'

type Row = readonly [name: string, origin: string, runner: string | null, counts: string, remark?: string]
/** By format; the counts are those of all results, passed and failed ones. */
const READ: Readonly<Record<(typeof RESULT_FORMATS)[number], readonly Row[]>> = {
  'plugin-eval': [
    ['plugin-eval-one-arm.json', DOCUMENTED, PLUGIN_EVAL, '2: 1 passed, 1 failed'],
    ['plugin-eval-two-arms.json', DOCUMENTED, PLUGIN_EVAL, '6: 2 passed, 4 failed'],
    ['plugin-eval-cost-ceiling.json', DOCUMENTED, PLUGIN_EVAL, '3: 1 passed, 1 failed, partial', 'is partial (cost_ceiling)'],
    ['plugin-eval-broken-runs.json', DOCUMENTED, PLUGIN_EVAL, '4: 1 passed, 2 failed'],
  ],
  benchmark: [
    ['benchmark-two-arms.json', DOCUMENTED, null, '5: 2 passed, 3 failed'],
    ['benchmark-old-version.json', DOCUMENTED, null, '2: 1 passed, 1 failed', `2 runs ${OLD}`],
    ['benchmark-unknown-configuration.json', DOCUMENTED, null, '3: 1 passed, 1 failed', 'unknown configuration short_prompt'],
    ['benchmark-averages.json', DOCUMENTED, null, '2: 0 passed, 0 failed', AVERAGES],
  ],
  grading: [
    ['grading-agentskills', DOCUMENTED, null, '2: 1 passed, 1 failed'],
    ['grading-skill-creator', DOCUMENTED, null, '3: 1 passed, 2 failed', `a run ${OLD}`],
    ['grading-single', DOCUMENTED, null, '1: 1 passed, 0 failed'],
  ],
  'gh-models': [
    ['gh-models-all-pass.json', DOCUMENTED, 'gh models eval', '2: 2 passed, 0 failed'],
    ['gh-models-some-fail.json', DOCUMENTED, 'gh models eval', '3: 1 passed, 2 failed'],
    ['gh-models-no-evaluators.json', DOCUMENTED, 'gh models eval', '2: 0 passed, 0 failed'],
    ['gh-models-variables.json', DOCUMENTED, 'gh models eval', '2: 2 passed, 0 failed'],
  ],
  promptfoo: [
    ['promptfoo-all-pass.json', PROMPTFOO, 'promptfoo 0.123.1', '2: 2 passed, 0 failed'],
    ['promptfoo-some-fail.json', PROMPTFOO, 'promptfoo 0.123.1', '3: 2 passed, 1 failed'],
    ['promptfoo-errors.json', PROMPTFOO, 'promptfoo 0.123.1', '4: 1 passed, 1 failed, partial', '2 tests ended with an error'],
    ['promptfoo-aborted.json', PROMPTFOO, 'promptfoo 0.123.1', '3: 2 passed, 0 failed, partial', '1 test ended with an error'],
    ['promptfoo-two-providers.json', PROMPTFOO, 'promptfoo 0.123.1', '2: 1 passed, 1 failed', 'results of 2 models'],
    ['promptfoo-two-prompts.json', PROMPTFOO, 'promptfoo 0.123.1', '2: 1 passed, 1 failed', 'results of 2 prompts'],
    ['promptfoo-repeat.json', PROMPTFOO, 'promptfoo 0.123.1', '3: 2 passed, 1 failed'],
    ['promptfoo-variables.json', PROMPTFOO, 'promptfoo 0.123.1', '2: 2 passed, 0 failed'],
    ['promptfoo-no-assertions.json', PROMPTFOO, 'promptfoo 0.123.1', '2: 1 passed, 0 failed'],
    ['promptfoo-assert-sets.json', PROMPTFOO, 'promptfoo 0.123.1', '1: 0 passed, 1 failed'],
    ['promptfoo-version-2.json', `${MADE} promptfoo 0.31.2`, 'promptfoo', '3: 1 passed, 1 failed, partial', '1 test ended with an error'],
  ],
  junit: [
    ['junit-bats.xml', `${MADE} bats 1.8.2`, null, '3: 1 passed, 1 failed'],
    ['junit-catch2.xml', `${MADE} Catch2 2.13.10`, null, '3: 1 passed, 2 failed'],
    ['junit-ctest.xml', `${MADE} CTest 3.25.1`, null, '5: 1 passed, 1 failed'],
    ['junit-gotestsum.xml', `${MADE} gotestsum 1.8.2`, null, '6: 2 passed, 3 failed'],
    ['junit-gtest.xml', `${MADE} GoogleTest 1.12.1`, null, '4: 1 passed, 1 failed'],
    ['junit-jest.xml', `${MADE} jest-junit 17.0.0`, null, '6: 2 passed, 3 failed'],
    ['junit-jest-broken-suite.xml', `${MADE} jest-junit 17.0.0`, null, '2: 0 passed, 2 failed'],
    ['junit-mocha.xml', `${MADE} mocha-junit-reporter 2.2.1`, null, '4: 2 passed, 2 failed'],
    ['junit-node-nested.xml', `${MADE} node 24.21.0`, null, '6: 2 passed, 2 failed'],
    ['junit-phpunit.xml', `${MADE} PHPUnit 9.6.7`, null, '9: 3 passed, 4 failed'],
    ['junit-platform-console.xml', `${MADE} JUnit Platform 1.9.1`, null, '9: 5 passed, 2 failed'],
    ['junit-promptfoo.xml', PROMPTFOO, null, '4: 2 passed, 2 failed'],
    ['junit-pytest-broken-import.xml', `${MADE} pytest 9.0.3`, null, '1: 0 passed, 1 failed'],
    ['junit-pytest-mixed.xml', `${MADE} pytest 9.0.3`, null, '12: 5 passed, 5 failed'],
    ['junit-surefire-rerun.xml', `${MADE} Maven Surefire 2.22.3`, null, '5: 2 passed, 2 failed'],
    [
      'junit-tap-formatter.xml',
      `${MADE} TAP::Formatter::JUnit 0.11`,
      null,
      '6: 5 passed, 1 failed, partial',
      'a suite ended with an error',
    ],
    ['junit-tap-stopped.xml', `${MADE} TAP::Formatter::JUnit 0.11`, null, '1: 1 passed, 0 failed, partial', 'a suite ended with an error'],
    ['junit-vitest-all-pass.xml', `${MADE} vitest 5.1.1`, null, '3: 3 passed, 0 failed'],
    ['junit-vitest-mixed.xml', `${MADE} vitest 5.1.1`, null, '8: 3 passed, 3 failed'],
  ],
}
/** Files that are refused, each with the reason. */
const REFUSED: readonly (readonly [name: string, origin: string, message: string])[] = [
  ['plugin-eval-auth-failed.json', DOCUMENTED, 'no results: the run is partial (auth_failed)'],
  ['gh-models-no-test-data.json', DOCUMENTED, 'has no results. Run at least one case'],
  ['promptfoo-empty.json', PROMPTFOO, 'has no results. Run at least one case'],
  ['promptfoo-cut-off.json.part', `${PROMPTFOO}, cut off`, 'is not valid JSON; it may have been cut off'],
  ['junit-pytest-empty.xml', `${MADE} pytest 9.0.3`, 'has no results. Run at least one case'],
  ['junit-node-killed.xml', `${MADE} node 24.21.0, killed`, 'is cut off: it ends within <testsuites>'],
]

const ALL = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => `${entry.parentPath}/${entry.name}`.slice(FOLDER.length).replace(/^\//, ''))
const read = (name: string) =>
  readResultFiles(
    ALL.filter((filename) => filename === name || filename.startsWith(`${name}/`)).map((filename) => {
      return { filename, bytes: readFileSync(`${FOLDER}${filename}`) }
    }),
  )
const ROWS = RESULT_FORMATS.flatMap((format) => READ[format].map((row) => [format, ...row] as const))

test('every file is in a table, and at least 30 are read', () => {
  const named = [...ROWS.map(([, name]) => name), ...REFUSED.map(([name]) => name)]
  expect([...new Set(ALL.map((file) => file.split('/')[0]))].toSorted()).toEqual(named.toSorted())
  expect(ROWS.length).toBeGreaterThanOrEqual(30)
  expect(ROWS.filter(([, , origin]) => origin.startsWith(MADE)).length).toBeGreaterThanOrEqual(30)
})

for (const [format, name, origin, runner, counts, remark] of ROWS) {
  test(`${format}: ${name} (${origin})`, () => {
    const run = read(name)
    const [passed, failed] = [true, false].map((verdict) => run.results.filter((one) => one.passed === verdict).length)
    const shown = `${run.results.length}: ${passed} passed, ${failed} failed${run.isPartial ? ', partial' : ''}`
    expect([run.format, run.runner, shown]).toEqual([format, runner, counts])
    if (remark === undefined) expect(run.remarks).toEqual([])
    else expect(run.remarks).toContainEqual(expect.stringContaining(remark))
  })
}

test.each(REFUSED)('refused: %s (%s)', (name, _origin, message) => {
  expect(() => read(name)).toThrow(expect.objectContaining({ code: 'invalid_input', message: expect.stringContaining(message) }))
})

test.each([
  ['promptfoo-variables.json', ['language: 日本語, text: Grüße, 世界 🌍', 'language: العربية, text: two lines <b>&amp;</b>']],
  ['promptfoo-repeat.json', ['repeated', 'repeated', 'repeated']],
  ['promptfoo-no-assertions.json', ['unchecked', 'checked']],
  ['plugin-eval-broken-runs.json', ['slow', 'mocked', 'not-set-up', 'größe-世界']],
  ['grading-skill-creator', ['0', '0', '0']],
  ['junit-gtest.xml', ['Lamp HasPrice', 'HasBarcode', 'DISABLED_HasPicture', 'Kettle HasPrice']],
])('cases of %s', (name, cases) =>
  expect(
    read(name)
      .results.map((one) => one.case)
      .toSorted(),
  ).toEqual(cases.toSorted()),
)

test('texts and times of real files', () => {
  const { results } = read('junit-gtest.xml')
  expect(results[1]?.assertions[1]?.text).toBe('g.cpp:3\nValue of: false\n  Actual: false\nExpected: true')
  expect(read('junit-jest.xml').startedAt).toMatch(/^2026-11-28T/)
  expect(read('junit-jest-broken-suite.xml').startedAt).toBeNull()
  expect(read('grading-agentskills').results[0]).toMatchObject({ case: 'lamp', arm: 'with', durationMs: 41_250, tokens: 3800 })
})
