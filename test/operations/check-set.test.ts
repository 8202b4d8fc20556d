import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Actor } from '../../src/domain/people/actor.ts'
import { importSkills } from '../../src/transfer/import-entries.ts'
import { createFakeEncoder } from '../support/fake-encoder.ts'
import { findRealData } from '../support/real-data.ts'
import { type TestApp, testApp } from '../support/test-app.ts'

const ANONYMOUS: Actor = { kind: 'anonymous' }
const INJECTED = JSON.parse(readFileSync(new URL('../fixtures/injected-skills.json', import.meta.url), 'utf8'))

let test: TestApp
afterEach(() => test.close())

async function save(actor: Actor, name: string, description: string, more: { visibility?: string; evals?: unknown; body?: string } = {}) {
  const { visibility = 'public', evals, body = `# ${name}` } = more
  const files = [
    { filename: 'SKILL.md', content: `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\n${body}` },
    ...(evals === undefined ? [] : [{ filename: 'evals/triggers.json', content: JSON.stringify(evals) }]),
  ]
  return Object(await test.call(actor, 'save_skill', { title: name, visibility, files })).skill.id as string
}
const check = async (actor: Actor, input: object = {}) => Object(await test.call(actor, 'check_set', input))
const namesOf = (refs: readonly { name: string }[]) => refs.map(({ name }) => name)

describe('a set of skills', () => {
  it('is what the caller sees of the scope', async () => {
    test = await testApp()
    const { actor: owner } = await test.user('owner')
    const { actor: other } = await test.user('other')
    await save(owner, 'for-all', 'Writes a summary of a long report. Use when a report is too long to read.')
    const id = await save(owner, 'for-owner', 'Writes the minutes of a meeting. Use when a meeting ends.', { visibility: 'private' })
    await save(other, 'of-another', 'Draws a chart of numbers in a table. Use when numbers need a picture.')
    expect(await check(owner)).toMatchObject({ skills: 3, isCut: false, pending: null, counts: { high: 0, medium: 0, low: 0 } })
    expect(await check(other, { scope: '/@owner' })).toMatchObject({ skills: 1 })
    expect(await check(ANONYMOUS, { scope: '@owner' })).toMatchObject({ skills: 1 })
    expect(JSON.stringify(await check(ANONYMOUS, { characters: 1 }))).not.toContain('for-owner')
    await expect(check(ANONYMOUS, { scope: '/@nobody' })).rejects.toMatchObject({ code: 'not_found' })
    await expect(check(ANONYMOUS, { scope: '/a/b/c' })).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(check(other, { changed: { id, description: 'x' } })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('has a listing that costs, and loses descriptions from the end of the alphabet', async () => {
    test = await testApp()
    const { actor } = await test.user('owner')
    for (const name of ['alpha', 'bravo', 'delta']) await save(actor, name, `Use when ${'x'.repeat(91)}`)
    const whole = 3 * '- alpha: \n'.length + 300
    const { budgets, counts } = await check(actor, { characters: whole - 1 })
    expect(budgets).toMatchObject([
      { profile: 'claude-code', unit: 'characters', limit: 8000, cost: whole, dropped: [], level: null },
      { profile: 'codex', unit: 'tokens', limit: 4000, shortened: 0, dropped: [], omitted: [], level: null },
      { profile: 'custom', limit: whole - 1, cost: whole, dropped: [{ name: 'delta' }], level: 'medium' },
    ])
    expect(counts).toMatchObject({ medium: 1 })
    const [claude, codex, custom] = (await check(actor, { context: 3000, characters: 24 + 101 })).budgets
    expect([claude.limit, namesOf(claude.dropped)]).toEqual([120, ['delta', 'bravo', 'alpha']])
    expect(codex).toMatchObject({ limit: 60, shortened: 3, dropped: [], level: 'low' })
    expect(namesOf(custom.dropped)).toEqual(['delta', 'bravo', 'alpha'])
    const tiny = (await check(actor, { context: 1000 })).budgets[1]
    expect([tiny.limit, tiny.dropped.length + tiny.omitted.length, namesOf(tiny.omitted)]).toEqual([20, 3, ['bravo', 'delta']])
  })

  it('has names that hide others, and descriptions with faults', async () => {
    test = await testApp()
    const { actor } = await test.user('owner')
    const good = 'Turns a table of figures into a chart. Use when figures need a picture.'
    for (const name of ['chart-maker', 'chartmaker', 'chart-makers', 'chart-baker', 'react18-hooks', 'react19-hooks'])
      await save(actor, name, good)
    await save(actor, 'react18-hooks', good)
    await save(actor, 'spoken', 'I help you to write songs; say "my song" when we begin a new melody together.')
    await save(actor, 'quoted', 'Finds a lost song. Use when somebody asks "where is my song?" or hums a melody.')
    await save(actor, 'brief', 'Makes things')
    await save(actor, 'lengthy', `Use when ${'songs '.repeat(200)}`)
    const { names, descriptions } = await check(actor)
    const pairs = names.map(({ a, b, why, level }: Record<string, { name: string }>) => [[a?.name, b?.name].sort().join(' '), why, level])
    expect(pairs.toSorted()).toEqual([
      ['chart-baker chart-maker', 'one-letter', 'low'],
      ['chart-baker chartmaker', 'one-letter', 'low'],
      ['chart-maker chart-makers', 'plural', 'medium'],
      ['chart-maker chartmaker', 'hyphens', 'medium'],
      ['chart-makers chartmaker', 'plural', 'medium'],
      ['react18-hooks react18-hooks', 'same', 'high'],
    ])
    const faults = descriptions.map(({ skill, fault }: { skill: { name: string }; fault: string }) => `${skill.name} ${fault}`)
    expect(faults.toSorted()).toEqual(['brief no-when', 'brief short', 'lengthy short', 'lengthy too-long', 'spoken first-person'])
  })

  it('routes its own queries and those given, before and after a description is changed', async () => {
    // Of this encoder, a query is near a skill whose description repeats it.
    const encoder = createFakeEncoder()
    const asQuery = { ...encoder, encodeItems: async (items: readonly { text: string }[]) => items.map(({ text }) => topic(text)) }
    const topic = (text: string) =>
      Int8Array.from(
        { length: 384 },
        (_, i) => (['tea', 'coffee', 'cocoa'][i] && text.includes(['tea', 'coffee', 'cocoa'][i] ?? '') ? 100 : 0) + (i === 9 ? 10 : 0),
      )
    test = await testApp({}, {}, null, {
      encoder: {
        ...asQuery,
        encodeQuery: async (text) => ({
          vector: Float32Array.from(topic(text), (value) => value / Math.hypot(...topic(text))),
          knownShare: 1,
        }),
      },
    })
    const { actor } = await test.user('owner')
    const evals = [
      { query: 'brew tea', should_trigger: true },
      { query: 'brew coffee', should_trigger: false },
    ]
    const id = await save(actor, 'hot-leaves', 'Brews coffee. Use when somebody is thirsty.', { evals })
    await save(actor, 'beans', 'Brews coffee from beans. Use when somebody is tired.', { evals: 'no list' })
    await save(actor, 'sweets', 'Makes cocoa and tea. Use when somebody is cold.')
    const given = [{ query: 'a cup of cocoa', skill: 'sweets' }]
    const { routing, routingAfter, counts } = await check(actor, { queries: given, changed: { id, description: 'Brews tea.' } })
    expect(routing).toMatchObject({ queries: 3, hits: 2, confusions: [{ query: 'brew tea', skill: { id }, instead: { name: 'sweets' } }] })
    expect(routingAfter).toMatchObject({ queries: 3, hits: 3, confusions: [] })
    expect(routingAfter.margin).toBeGreaterThan(0.5)
    expect(counts.medium).toBeGreaterThan(0)
    expect((await check(actor)).routing).toMatchObject({ queries: 2, hits: 1 })
    await expect(check(actor, { queries: [{ query: 'x', skill: 'none' }] })).rejects.toMatchObject({ code: 'not_found' })
  })
})

const data = findRealData()
describe.skipIf(data === null)('among 100 real skills', () => {
  it('ten near-copies and ten blurred descriptions are found, with at most five false', async () => {
    test = await testApp({}, {}, null, { encoder: true })
    const { actor } = await test.user('owner')
    const folder = data?.skillsFolder ?? ''
    await importSkills(test.app.store, folder, { owner: 'owner', visibility: 'public' })
    expect(readdirSync(folder)).toHaveLength(100)
    const bodyOf = (name: string) => readFileSync(join(folder, name, 'SKILL.md'), 'utf8').replace(/^---\n.*?\n---\n/s, '')
    for (const [of, [name, description]] of Object.entries<[string, string]>(INJECTED.copies)) {
      await save(actor, name, description, { body: bodyOf(of) })
    }
    for (const [of, description] of Object.entries<string>(INJECTED.blurred)) {
      await save(actor, `${of}-two`, description, { body: bodyOf(of) })
    }
    await test.app.itemEncoding?.encodeAll({ onSaved() {}, onFailed() {} })
    let found = await check(actor)
    // One call encodes for some seconds.
    while (found.pending > 0) found = await check(actor)
    const copies = new Set<string>(Object.values<[string, string]>(INJECTED.copies).map(([name]) => name))
    const blurred = new Set(Object.keys(INJECTED.blurred).map((name) => `${name}-two`))
    const pairs: { a: { name: string }; b: { name: string }; percentile: number; words: string[] }[] = found.alike
    const isInjected = ({ name }: { name: string }) => copies.has(name) || blurred.has(name)
    const vague: string[] = found.descriptions.flatMap(({ skill, fault }: { skill: { name: string }; fault: string }) =>
      fault === 'blurred' ? [skill.name] : [],
    )
    const falsePairs = pairs.filter(({ a, b }) => !isInjected(a) && !isInjected(b))
    const falseNames = vague.filter((name) => !blurred.has(name))
    process.stderr.write(`Near-copies and blurred descriptions: false ${JSON.stringify([falsePairs, falseNames])}\n`)
    expect([...copies].filter((name) => !pairs.some(({ a, b }) => a.name === name || b.name === name))).toEqual([])
    expect([...blurred].filter((name) => !vague.includes(name))).toEqual([])
    expect(falsePairs.length + falseNames.length).toBeLessThanOrEqual(5)
    for (const pair of pairs) expect(pair.percentile).toBeGreaterThan(99)
  })
})
