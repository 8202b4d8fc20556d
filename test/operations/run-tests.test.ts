import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually, type ModelServer, startModelServer } from '../support/model-server.ts'
import { PROMPTFOO_CASES } from '../support/promptfoo-cases.ts'
import { json, readJson, type TestApp, testApp } from '../support/test-app.ts'
import { signUp, visit } from '../support/visitor.ts'

const PRICE = { input: 1, output: 2 }
/** Names of models are behaviours of the stub. */
const MODELS = ['tests:one', 'tests:two', 'broken', 'never', 'busy-for-long', 'huge', 'half-a-second', 'too-long']

/** A promptfoo file whose cases are given as the answer and what must hold of it. */
const promptfoo = (cases: readonly (readonly [answer: string, assert: object])[], more: object = {}) =>
  JSON.stringify({
    tests: cases.map(([answer, assert], place) => ({ description: `c${place}`, vars: { answer }, assert: [assert] })),
    ...more,
  })

describe('tests of a prompt, run here', () => {
  let models: ModelServer
  let test: TestApp
  /** The same with a budget. */
  let thrifty: TestApp
  let ada: Awaited<ReturnType<TestApp['user']>>['actor']
  let eve: typeof ada
  const open = (dailyTokens: number | null, timeoutMs = 60_000) => {
    const improve = { openaiBaseUrl: models.baseUrl, wait: async () => {}, timeoutMs }
    const tests = { models: MODELS.map((name) => ({ name, price: name === 'broken' ? null : PRICE })), dailyTokens, dailyUsd: null }
    return testApp({}, improve, null, { tests, instances: 1 })
  }
  beforeAll(async () => {
    models = await startModelServer()
    test = await open(null)
    thrifty = await open(60_000)
    ada = (await test.user('ada')).actor
    eve = (await test.user('eve')).actor
  })
  afterAll(async () => {
    await test.close()
    await thrifty.close()
    await models.stop()
  })

  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => '',
      (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
    )
  /** A prompt that says its variable, with these cases beside it. */
  async function save(file: string, content = 'Say:\n${answer}', owner: { readonly owner?: string } = {}): Promise<string> {
    const { prompt } = Object(await test.call(ada, 'save_prompt', { title: 'Say', content, ...owner }))
    await test.call(ada, 'set_cases', {
      collection: 'prompts',
      id: prompt.id,
      files: [{ filename: 'promptfooconfig.yaml', content: file }],
    })
    return prompt.id
  }
  const start = async (id: string, more: object = {}) =>
    Object(await test.call(ada, 'run_tests', { id, ...more })).runs.map(({ run }: { run: number }) => run)
  const read = async (id: string, run: number) => Object(await test.call(ada, 'get_run', { collection: 'prompts', id, run }))
  const finish = async (id: string, run: number) => {
    await eventually(async () => (await read(id, run)).run.state !== 'running')
    return await read(id, run)
  }
  const verdicts = ({ results }: { results: { case: string; passed: boolean | null }[] }) => results.map(({ passed }) => passed)
  const called = async () => (await models.log()).length

  it('grades answers without a model where that is enough, and by votes of one where it is not', async () => {
    const id = await save(
      promptfoo([
        ['hello', { type: 'equals', value: '{{answer}}' }],
        ['hello', { type: 'not-contains', value: 'ell' }],
        ['{"a": 1}', { type: 'is-json', value: { type: 'object', required: ['a'], properties: { a: { type: 'number' } } } }],
        ['{"a": "x"}', { type: 'is-json', value: { properties: { a: { type: 'string', pattern: '^(y+)+$' } } } }],
        [`${'a'.repeat(5000)}!`, { type: 'regex', value: '^(a+)+$' }],
        ['hello', { type: 'regex', value: '(?=h)' }],
        ['one two', { type: 'word-count', value: { max: 2 } }],
        ['hello', { type: 'length', value: { min: 6 } }],
        ['hello', { type: 'cost', threshold: 1 }],
        ['it is good', { type: 'llm-rubric', value: 'is fine' }],
        ['it is bad', { type: 'llm-rubric', value: 'is fine' }],
        ['hello', { type: 'javascript', value: 'true' }],
        ['hello', { type: 'contains' }],
        ['hello', { type: 'not-starts-with', value: ['h'] }],
        ['hello', { type: 'contains-any', value: ' ,' }],
        ['hello', { type: 'contains-all', value: [] }],
        ['hello', { type: 'regex' }],
      ]),
    )
    const [run = 0] = await start(id)
    const done = await finish(id, run)
    expect(done.run).toMatchObject({
      format: 'commonplace',
      model: 'tests:one',
      state: null,
      total: 17,
      isPartial: false,
      passed: 5,
      failed: 5,
    })
    expect(verdicts(done)).toEqual([
      true,
      false,
      true,
      false,
      false,
      null,
      true,
      false,
      true,
      true,
      false,
      null,
      null,
      null,
      null,
      null,
      null,
    ])
    const evidence = (place: number) => done.results[place].assertions[0].evidence
    expect([evidence(5), evidence(11)]).toEqual([expect.stringContaining('RE2'), 'not checked: this service has no javascript'])
    expect([12, 13, 14, 15, 16].map(evidence)).toEqual(Array(5).fill(expect.stringContaining('has no text to look for')))
    expect(done.results[0]).toMatchObject({ tokens: expect.any(Number), costUsd: expect.any(Number), durationMs: expect.any(Number) })
  })

  it('passes the cases that promptfoo passes', async () => {
    const id = await save(JSON.stringify(PROMPTFOO_CASES))
    const { results } = await finish(id, (await start(id))[0])
    const verdicts = Object.fromEntries(results.map((one: { case: string; passed: boolean | null }) => [one.case, one.passed]))
    expect(verdicts).toEqual(JSON.parse(readFileSync(new URL('../fixtures/promptfoo-verdicts.json', import.meta.url), 'utf8')).verdicts)
  })

  it('asks no model twice for the same, and none at all when it replays', async () => {
    const id = await save(promptfoo([['it is good', { type: 'llm-rubric', value: 'is good' }]]))
    expect(await finish(id, (await start(id))[0])).toMatchObject({ run: { passed: 1 } })
    const before = await called()
    const [again] = await start(id, { replay: true })
    expect(await finish(id, again)).toMatchObject({ run: { passed: 1, state: null } })
    expect(await called()).toBe(before)
    const other = await save(promptfoo([['else', { type: 'equals', value: 'else' }]]))
    const unknown = await finish(other, (await start(other, { replay: true, models: ['not-here'] }))[0])
    expect(unknown.results[0]).toMatchObject({ passed: null, error: 'No answer of not-here to this is kept.' })
    expect(await called()).toBe(before)
  })

  it('runs several models one after the other, and compares them', async () => {
    const id = await save(promptfoo([['a', { type: 'equals', value: 'a' }]]))
    const [one, two] = await start(id, { models: ['tests:one', 'tests:two'] })
    await finish(id, two)
    const answer = Object(await test.call(ada, 'compare_runs', { collection: 'prompts', id, before: one, run: two }))
    expect([answer.cases[0].arms[0].outcome, answer.hasSameCases]).toEqual(['same', true])
  })

  it('keeps to the budget of a day, and says where it stopped', async () => {
    const { actor } = await thrifty.user('ada')
    const tests = Array.from({ length: 5 }, (_, n) => ({ vars: { answer: `${n}` }, assert: [{ type: 'contains', value: `${n}` }] }))
    const content = `${'word '.repeat(20_000)}\n\${answer}`
    const { prompt } = Object(await thrifty.call(actor, 'save_prompt', { title: 'Say', content, config: { tests } }))
    const [{ run }] = Object(await thrifty.call(actor, 'run_tests', { id: prompt.id })).runs
    const get = async () => Object(await thrifty.call(actor, 'get_run', { collection: 'prompts', id: prompt.id, run }))
    await eventually(async () => (await get()).run.state !== 'running')
    expect(await get()).toMatchObject({ run: { state: 'over-budget', isPartial: true, done: 3 }, results: { length: 3 } })
    const ask = async () => Object(await thrifty.call(actor, 'try_prompt', { id: prompt.id, variables: { answer: 'x' } })).answers[0]
    expect((await ask()).error).toContain('budget')
    thrifty.wait(86_400_000)
    expect(await ask()).toMatchObject({ answer: 'x', error: null })
  })

  it.each([
    ['broken', 'broken returned 500.'],
    ['busy-for-long', 'busy-for-long returned 429'],
    ['huge', 'The model server sent more than 8388608 bytes'],
  ])('goes on and ends when a provider is %s', async (model, said) => {
    const id = await save(promptfoo(Array.from({ length: 7 }, (_, n) => [`${model} ${n}`, { type: 'contains', value: 'x' }] as const)))
    const done = await finish(id, (await start(id, { models: [model] }))[0])
    expect(done.run).toMatchObject({ state: 'failed', isPartial: true, passed: 0, failed: 0 })
    expect(done.results).toHaveLength(5)
    expect(done.results[0].error).toContain(said)
  })

  it('ends when a provider hangs', async () => {
    const improve = { openaiBaseUrl: models.baseUrl, wait: async () => {}, timeoutMs: 20 }
    const hasty = await testApp({}, improve, null, {
      tests: { models: [{ name: 'never', price: null }], dailyTokens: null, dailyUsd: null },
    })
    const { actor } = await hasty.user('ada')
    const { prompt } = Object(await hasty.call(actor, 'save_prompt', { title: 'Say', content: 'Say', config: { tests: [{ vars: {} }] } }))
    const [{ run }] = Object(await hasty.call(actor, 'run_tests', { id: prompt.id })).runs
    const get = async () => Object(await hasty.call(actor, 'get_run', { collection: 'prompts', id: prompt.id, run }))
    await eventually(async () => (await get()).run.state === null)
    expect((await get()).results).toMatchObject([{ passed: null, error: 'never took too long to answer.' }])
    await hasty.close()
  })

  it('runs once at a time, stops when it is cancelled, and when its prompt is deleted for good', async () => {
    const id = await save(promptfoo([['a', { type: 'contains', value: 'x' }]]))
    const [run] = await start(id, { models: ['never'] })
    expect(await refusal(test.call(ada, 'run_tests', { id }))).toContain('conflict')
    await test.call(ada, 'cancel_run', { id, run })
    expect((await read(id, run)).run).toMatchObject({ state: 'cancelled', isPartial: true })
    // The call to the model has ended too.
    await eventually(async () => (await models.log('never')).every(({ hasLeft }) => hasLeft))
    expect((await models.log('never')).length).toBeGreaterThan(0)
    const cases = Array.from({ length: 60 }, (_, n) => [`purged ${n}`, { type: 'contains', value: 'x' }] as const)
    const gone = await save(promptfoo(cases))
    await start(gone, { models: ['half-a-second'] })
    await test.app.store.items.setDeleted('prompt', gone, ada.userId, true)
    await test.app.store.purges.purgeItem('prompt', gone, ada.userId, () => true)
    // It ends at its next write, and gives its place to another.
    const others = await Promise.all([1, 2, 3, 4].map((n) => save(promptfoo([[`other ${n}`, { type: 'contains', value: 'x' }]]))))
    const begun = await eventually(async () => {
      for (const other of others.splice(0)) if ((await refusal(start(other))) !== '') others.push(other)
      return others.length === 0
    })
    expect(begun).toBe(true)
  })

  it('is for those who may change the prompt, and ends when its maker may not', async () => {
    await test.call(ada, 'create_team', { team: 'testers' })
    await test.call(ada, 'set_team_member', { team: 'testers', username: 'eve', role: 'editor' })
    const cases = Array.from({ length: 60 }, (_, n) => [`${n}`, { type: 'contains', value: 'x' }] as const)
    const id = await save(promptfoo(cases), undefined, { owner: 'testers' })
    const run = Object(await test.call(eve, 'run_tests', { id, models: ['half-a-second'] })).runs[0].run
    await test.call(ada, 'remove_team_member', { team: 'testers', username: 'eve' })
    expect((await finish(id, run)).run.state).toBe('failed')
    expect(await refusal(test.call(eve, 'run_tests', { id }))).toMatch(/not_found|forbidden/)
    expect(await refusal(test.call(eve, 'try_prompt', { id }))).toMatch(/not_found|forbidden/)
  })

  it('shows the trend, a run against the one before, and answers beside each other on pages', async () => {
    const writer = await signUp(test, 'wanda')
    const { actor } = await test.user('wanda')
    const { prompt } = Object(await test.call(actor, 'save_prompt', { title: 'Shown', content: 'Say:\n${answer}' }))
    const path = `/prompts/${prompt.slug}`
    const asked = await writer.post(`${path}/try`, { do: 'ask', models: ['tests:one', 'broken'], 'v.answer': 'good <b>' })
    expect(asked.html).toContain('good &lt;b&gt;')
    expect(asked.html).toContain('broken returned 500.')
    const kept = await writer.postOn(`${path}/try`, { do: 'keep', name: 'Says good', contains: 'good', 'v.answer': 'good <b>' })
    expect(kept.html).toContain('Kept as a case.')
    const again = await writer.post(`${path}/try`, { do: 'keep', name: 'Says bad', contains: '', 'v.answer': 'x' })
    expect([again.status, again.html.includes('contains')]).toEqual([400, true])
    const runs: number[] = []
    for (const content of ['Say:\n${answer}', 'Say:\nnothing']) {
      await test.call(actor, 'update_prompt', { id: prompt.id, content })
      await writer.postOn(`${path}/tests`, { do: 'run', models: 'tests:one' })
      const [run] = Object(await test.call(actor, 'list_runs', { collection: 'prompts', id: prompt.id })).runs
      runs.push(run.run)
      const get = async () => Object(await test.call(actor, 'get_run', { collection: 'prompts', id: prompt.id, run: run.run }))
      await eventually(async () => (await get()).run.state === null)
    }
    const { html } = await writer.get(`${path}/tests`)
    expect(html).toContain('version 2: 0 of 1 pass')
    expect(html).toMatch(/title="version 1: passes".*title="version 2: fails"/s)
    expect((await writer.get(path)).html).toContain('version 2: 0 of 1 pass')
    const run = (await writer.get(`${path}/tests/${runs[1]}`)).html
    expect(run).toMatch(/Against run \d+.*Says good.*worse.*✗ contains good/s)
    const converted = (await writer.get(`${path}/tests?layout=plugin-eval`)).html
    expect(converted).toContain('evals/says-good/prompt.md')
    // Others see neither runs nor what starts them.
    for (const hidden of ['try', `tests/${runs[1]}`]) {
      expect((await (await signUp(test, `other-${hidden.slice(0, 3)}`)).get(`${path}/${hidden}`)).status, hidden).toBe(404)
    }
    await test.call(actor, 'update_prompt', { id: prompt.id, visibility: 'public' })
    const stranger = (await visit(test).get(`${path}/tests`)).html
    expect([stranger.includes('Says good'), stranger.includes('Run the tests'), stranger.includes('of 1 pass')]).toEqual([
      true,
      false,
      false,
    ])
  })

  it('outlives JSON Schemas that would end or hold it', async () => {
    const twice = { allOf: [{ $ref: '#/$defs/1' }, { $ref: '#/$defs/1' }] }
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [`${n + 1}`, { allOf: [{ $ref: `#/$defs/${n + 2}` }, { $ref: `#/$defs/${n + 2}` }] }]),
    )
    const id = await save(
      promptfoo([
        ['{}', { type: 'is-json', value: { $async: true, required: ['x'] } }],
        ['{}', { type: 'is-json', value: { ...twice, $defs: { ...$defs, 61: { type: 'object' } } } }],
        ['{}', { type: 'is-json', value: { type: 'object' } }],
        ['hello', { type: 'equals', value: 'HELLO', transform: 'output.toUpperCase()' }],
        ['hello', { type: 'contains-all', value: ['{{answer}}', 'ell'] }],
      ]),
    )
    expect(verdicts(await finish(id, (await start(id))[0]))).toEqual([null, null, true, null, true])
  })

  it('counts what a failed answer took, and asks for the price that a budget needs', async () => {
    const { actor } = await thrifty.user('spender')
    const { prompt } = Object(await thrifty.call(actor, 'save_prompt', { title: 'Long', content: 'word '.repeat(20_000) }))
    for (let n = 0; n < 3; n++) await thrifty.call(actor, 'try_prompt', { id: prompt.id, models: ['too-long'] })
    const [last] = Object(await thrifty.call(actor, 'try_prompt', { id: prompt.id, models: ['tests:one'] })).answers
    expect(last.error).toContain('budget')
    const unpriced = { models: [{ name: 'tests:one', price: null }], dailyTokens: null, dailyUsd: 1 }
    await expect(testApp({}, { openaiBaseUrl: models.baseUrl }, null, { tests: unpriced })).rejects.toThrow('needs the price of tests:one')
  })

  it('shows what held-out cases say to editors alone', async () => {
    await test.call(ada, 'create_team', { team: 'holders' })
    await test.call(ada, 'set_team_member', { team: 'holders', username: 'eve', role: 'reader' })
    const held = { description: 'HELDNAME', vars: { answer: 'x' }, assert: [{ type: 'contains', value: 'HELDVALUE' }], holdout: true }
    const shown = { description: 'shown', vars: { answer: 'x' }, assert: [{ type: 'contains', value: 'x' }] }
    const id = await save(JSON.stringify({ tests: [shown, held] }), undefined, { owner: 'holders' })
    const [run] = await start(id)
    expect((await finish(id, run)).results).toHaveLength(2)
    const target = { collection: 'prompts', id }
    const seen = [
      await test.call(eve, 'list_cases', target),
      await test.call(eve, 'get_run', { ...target, run }),
      await test.call(eve, 'compare_runs', { ...target, before: run, run }),
      await test.call(eve, 'convert_cases', { ...target, layout: 'promptfoo' }),
    ]
    expect(seen.map((answer) => [JSON.stringify(answer).includes('shown'), /HELD/.test(JSON.stringify(answer))])).toEqual(
      seen.map(() => [true, false]),
    )
    expect(await refusal(test.call(eve, 'get_cases', target))).toContain('forbidden')
    expect(JSON.stringify(await test.call(ada, 'get_cases', target))).toContain('HELDVALUE')
    // Runners may put more before a name that several classes have.
    const twice = ['a', 'b'].map((of) => `<testcase classname="${of}" name="HELDNAME"><failure message="HELDVALUE"/></testcase>`)
    const content = `<testsuite name="s"><testcase classname="" name="shown"/>${twice.join('')}</testsuite>`
    const { run: reported } = Object(
      await test.call({ ...ada, scopes: new Set([...ada.scopes, 'results'] as const) } as typeof ada, 'report_results', {
        ...target,
        version: 1,
        files: [{ filename: 'junit.xml', content }],
      }),
    )
    expect(JSON.stringify(await test.call(eve, 'get_run', { ...target, run: reported.run }))).not.toMatch(/HELD/)
    // What it was when it ran counts.
    await test.call(ada, 'set_cases', { ...target, files: [] })
    for (const one of [run, reported.run])
      expect(JSON.stringify(await test.call(eve, 'get_run', { ...target, run: one }))).not.toMatch(/HELD/)
  })

  it('outlives values that grow when they are filled, and answers that are nested deep', async () => {
    const vars = { answer: 'y', a: 'x'.repeat(200_000) }
    const bomb = { type: 'contains-any', value: Array.from({ length: 12 }, () => '{{a}}'.repeat(2_000)) }
    const deep = { vars: { answer: '['.repeat(4_900) + ']'.repeat(4_900) }, assert: [{ type: 'is-json', value: { type: 'array' } }] }
    const plain = { vars: { answer: '{}' }, assert: [{ type: 'is-json', value: { type: 'object' } }] }
    const id = await save(JSON.stringify({ tests: [{ vars, assert: [bomb] }, deep, plain] }))
    const done = await finish(id, (await start(id))[0])
    expect(verdicts(done).filter((_, place) => place !== 1)).toEqual([null, true])
    expect(done.results[0].assertions[0].evidence).toContain('too long once it is filled')
  })

  it('cancels the run of one model alone, and gives the answers there are when one model hangs', async () => {
    const id = await save(promptfoo([['a', { type: 'equals', value: 'a' }]]))
    const [first, second, third] = await start(id, { models: ['never', 'tests:one', 'tests:two'] })
    await test.call(ada, 'cancel_run', { id, run: third })
    await test.call(ada, 'cancel_run', { id, run: first })
    expect((await finish(id, second)).run).toMatchObject({ state: null, passed: 1 })
    expect([(await read(id, first)).run.state, (await read(id, third)).run.state]).toEqual(['cancelled', 'cancelled'])
    const hasty = await open(null, 300)
    const { actor, key } = await hasty.user('ada')
    const { prompt } = Object(await hasty.call(actor, 'save_prompt', { title: 'Say', content: 'Say' }))
    const body = json('POST', { models: ['never', 'broken'] })
    const answer = await readJson(await hasty.fetch(`/api/prompts/${prompt.id}/try`, { ...body, key }))
    expect(answer.answers).toMatchObject([{ error: 'never took too long to answer.' }, { error: 'broken returned 500.' }])
    await hasty.close()
  })

  it('refuses models that are not there, and a prompt without cases or values', async () => {
    const { prompt } = Object(await test.call(ada, 'save_prompt', { title: 'None', content: 'None' }))
    expect(await refusal(test.call(ada, 'run_tests', { id: prompt.id }))).toContain('has no test cases')
    const id = await save(promptfoo([['a', { type: 'equals', value: 'a' }]]), 'Say:\n${answer} ${other}')
    expect(await refusal(test.call(ada, 'run_tests', { id, models: ['openai/else'] }))).toContain(
      'is not a model for tests. There are tests:one',
    )
    expect((await finish(id, (await start(id))[0])).results[0].error).toContain('There is no value for other')
  })
})
