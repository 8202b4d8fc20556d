import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ANONYMOUS } from '../../src/domain/people/actor.ts'
import { importChecks } from '../../src/operations/prompts/compose.ts'
import { syncFolder } from '../../src/transfer/sync/sync-folder.ts'
import { type TestApp, useTestApp } from '../support/test-app.ts'

type Actor = Parameters<TestApp['call']>[0]

describe('prompts as programs use them', () => {
  const test = useTestApp()
  let ada: Awaited<ReturnType<TestApp['user']>>
  let ben: Awaited<ReturnType<TestApp['user']>>
  let eve: Awaited<ReturnType<TestApp['user']>>
  beforeAll(async () => {
    ;[ada, ben, eve] = await Promise.all([test.user('ada'), test.user('ben'), test.user('eve')])
  })

  /** Saves a prompt and gives its slug. */
  const save = async (title: string, fields: object, by: Actor = ada.actor): Promise<string> =>
    Object(await test.call(by, 'save_prompt', { title, visibility: 'public', ...fields })).prompt.slug
  const get = async (id: string, more: object = {}, by: Actor = ANONYMOUS) => Object(await test.call(by, 'get_prompt', { id, ...more }))
  const edit = (id: string, change: object, by: Actor = ada.actor) => test.call(by, 'update_prompt', { id, ...change })
  const label = (id: string, name: string, version: number, by: Actor = ada.actor) =>
    test.call(by, 'set_label', { collection: 'prompts', id, label: name, version })
  const said = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: { message: string }) => error.message,
    )

  it('take in others when they are read, parts before variables', async () => {
    const tone = await save('Tone', { content: 'Be ${tone:kind} to ${name}. ' })
    const frame = await save('Frame', { content: `\${> ${tone}}Never say \\\${name}.` })
    const id = await save('Whole', { content: `\${> ${frame}} \${name}` })
    const content = 'Be ${tone:kind} to ${name}. Never say \\${name}. ${name}'
    const names = [
      { name: 'tone', required: false, default: 'kind' },
      { name: 'name', required: true },
    ]
    expect(await get(id)).toMatchObject({ content, originalContent: `\${> ${frame}} \${name}`, variables: names })
    // Values and defaults are never looked at again.
    const filled = await get(id, { variables: { name: `\${> ${tone}}` } })
    expect(filled.content).toBe(`Be kind to \${> ${tone}}. Never say \${name}. \${> ${tone}}`)
    const rendered = { text: 'Be kind to Ada. Never say ${name}. Ada', unfilled: [] }
    expect(await test.call(ANONYMOUS, 'render_exposed_prompt', { name: id, arguments: { name: 'Ada' } })).toMatchObject(rendered)
    // As it is written, where it is edited; lists take nothing in.
    expect(Object(await test.call(ANONYMOUS, 'show_prompt', { id })).content).toBe(`\${> ${frame}} \${name}`)
    expect(Object(await test.call(ANONYMOUS, 'search_prompts', { query: 'Whole' })).prompts[0].content).toContain('${>')
  })

  it('take in those of others only at a label or version', async () => {
    const theirs = await save('Theirs', { content: 'one' }, ben.actor)
    expect(await said(save('Mine', { content: `\${> ${theirs}}` }))).toContain('need a label or version')
    const pinned = await save('Pinned', { content: `\${> ${theirs}@1} \${> ${theirs}@latest}` })
    await edit(theirs, { content: 'two' }, ben.actor)
    expect((await get(pinned)).content).toBe('one two')
    expect(await said(save('At a label', { content: `\${> ${theirs}@live}` }))).toContain('is not there')
    await label(theirs, 'live', 1, ben.actor)
    const live = await save('At a label', { content: `\${> ${theirs}@live}` })
    expect((await get(live)).content).toBe('one')
    await label(theirs, 'live', 2, ben.actor)
    expect((await get(live)).content).toBe('two')
  })

  it('are those that the owner calls so, whoever takes the name as an address', async () => {
    const named = (name: string, content: string) => test.call(ada.actor, 'save_named_prompt', { name, content, labels: ['production'] })
    await named('called', 'mine')
    const whole = Object(await named('takes-called', 'Say ${> called@production}'))
    await label(await save('called', { content: 'theirs' }, ben.actor), 'production', 1, ben.actor)
    expect((await get(whole.id, {}, ada.actor)).content).toBe('Say mine')
  })

  it('are not those in the trash under the same name', async () => {
    const saveNamed = async (name: string, content: string) =>
      Object(await test.call(ada.actor, 'save_named_prompt', { name, content, labels: ['production'] }))
    const { id: old } = await saveNamed('twice', 'old')
    await test.call(ada.actor, 'delete_item', { collection: 'prompts', id: old })
    const { id } = await saveNamed('twice', 'new')
    await edit(id, { visibility: 'public' })
    const whole = await saveNamed('takes-twice', 'Say ${> twice@production}')
    await edit(whole.id, { visibility: 'public' })
    expect(await said(edit(id, { visibility: 'private' }))).toContain('takes this prompt in')
  })

  it('are known again when they come back from the trash', async () => {
    const fields = { name: 'Back_again', content: 'part', labels: ['production'] }
    const { id } = Object(await test.call(ada.actor, 'save_named_prompt', fields))
    await edit(id, { visibility: 'public' })
    const whole = await save('Takes it back', { content: 'Say ${> Back_again@production}' })
    await test.call(ada.actor, 'delete_item', { collection: 'prompts', id })
    await edit(whole, { title: 'Another title' })
    await test.call(ada.actor, 'restore_item', { collection: 'prompts', id })
    expect(await said(edit(id, { visibility: 'private' }))).toContain('takes this prompt in')
  })

  it('reach only those who see the version that is taken in', async () => {
    const part = await save('Widened', { content: 'canary', visibility: 'private' })
    await label(part, 'production', 1)
    await edit(part, { content: 'open', visibility: 'public' })
    expect(await said(save('Takes the version', { content: `\${> ${part}@production}` }))).toContain('Version 1 of the part')
    expect((await get(await save('Takes the newest', { content: `\${> ${part}}` }))).content).toBe('open')
  })

  it('show nothing of what a reader may not see, and reach nobody beyond their parts', async () => {
    const secret = await save('Hidden part', { content: 'canary', visibility: 'private' })
    expect(await said(save('Shows it', { content: `\${> ${secret}}` }))).toContain('seen by fewer people')
    const id = await save('Keeps it', { content: `\${> ${secret}}`, visibility: 'private' })
    expect((await get(id, {}, ada.actor)).content).toBe('canary')
    expect(await said(edit(id, { visibility: 'public' }))).toContain('seen by fewer people')
    const owner = { ...ada.actor, scopes: new Set([...ada.actor.scopes, 'account'] as const) }
    const { id: itsId } = await get(id, {}, ada.actor)
    const many = Object(await test.call(owner, 'change_items', { collection: 'prompts', ids: [itsId], visibility: 'public' }))
    expect(many).toMatchObject({ changed: [], refused: [{ reason: expect.stringContaining('seen by fewer people') }] })
    await edit(secret, { visibility: 'public' })
    await edit(id, { visibility: 'public' })
    expect(await said(edit(secret, { visibility: 'private' }))).toContain('takes this prompt in')
    // Somebody else's can narrow at any time: it is an error then, which names nothing.
    const theirs = await save('Theirs for now', { content: 'canary' }, ben.actor)
    const taking = await save('Takes theirs', { content: `\${> ${theirs}@1}` })
    await edit(theirs, { visibility: 'private' }, ben.actor)
    for (const by of [ANONYMOUS, eve.actor, ada.actor]) {
      const message = await said(get(taking, {}, by))
      expect(message).toContain('is not there, or not visible to you')
      expect(message).not.toMatch(/canary|theirs-for/)
    }
    const page = await (await test.fetch(`/prompts/${taking}`, { headers: { Accept: 'text/html' } })).text()
    expect(page).toContain('A part of this prompt is not there')
    expect(page).not.toContain('canary')
  })

  it('are five deep at most, and go round in no circle', async () => {
    let inner = await save('Depth 0', { content: 'x' })
    for (let depth = 1; depth <= 5; depth++) inner = await save(`Depth ${depth}`, { content: `\${> ${inner}}` })
    expect((await get(inner)).content).toBe('x')
    expect(await said(save('Depth 6', { content: `\${> ${inner}}` }))).toContain('nested more than 5 deep')
    const [a, b, c] = await Promise.all([
      save('A', { content: 'a' }),
      save('B', { content: 'b' }, ben.actor),
      save('C', { content: 'c' }, eve.actor),
    ])
    await edit(a, { content: `\${> ${b}@latest}` })
    await edit(b, { content: `\${> ${c}@latest}` }, ben.actor)
    expect(await said(edit(c, { content: `\${> ${a}@latest}` }, eve.actor))).toContain('in a circle')
    expect(await said(edit(a, { content: `\${> ${a}}` }))).toContain('in a circle')
    // By a label: the circle would close when it moves.
    await label(c, 'live', 1, eve.actor)
    await edit(b, { content: `\${> ${c}@live}` }, ben.actor)
    await edit(c, { content: `\${> ${a}@latest}` }, eve.actor)
    expect(await said(label(c, 'live', 2, eve.actor))).toContain('in a circle')
    expect((await get(a)).content).toBe('c')
  })

  it('go round in no circle when two edits, or an edit and a label, close it at the same moment', async () => {
    const refusedOf = async (work: readonly Promise<unknown>[]) => (await Promise.all(work.map(said))).filter((reason) => reason !== null)
    const [one, other] = [await save('One at once', { content: '1' }), await save('Other at once', { content: '2' })]
    const both = [edit(one, { content: `\${> ${other}}` }), edit(other, { content: `\${> ${one}}` })]
    expect(await refusedOf(both)).toEqual([expect.stringContaining('in a circle')])
    const [whole, part] = [await save('Whole at once', { content: '1' }), await save('Part at once', { content: '2' })]
    await label(part, 'live', 1)
    await edit(part, { content: `\${> ${whole}}` })
    expect(await refusedOf([edit(whole, { content: `\${> ${part}@live}` }), label(part, 'live', 2)])).toEqual([
      expect.stringContaining('in a circle'),
    ])
  })

  it('take in 50 parts and 100,000 characters, and no more', async () => {
    const part = await save('Long part', { content: 'y'.repeat(2_000) })
    const times = (n: number) => `\${> ${part}}`.repeat(n)
    expect((await get(await save('Fifty', { content: times(50) }))).content).toHaveLength(100_000)
    expect(await said(save('Fifty-one', { content: times(51) }))).toContain('more than 50 parts')
    expect(await said(save('Too long', { content: `${times(50)}!` }))).toContain('the limit is 100000')
    const wide = await save('Wide', { content: `\${> ${await save('Leaf', { content: 'z' })}}`.repeat(10) })
    expect(await said(save('Wider', { content: `\${> ${wide}}`.repeat(5) }))).toContain('more than 50 parts')
  })

  it('keep their limits for all messages of a chat together', async () => {
    const tone = await save('Chat tone', { content: 'Be kind. ' })
    const message = (content: string) => ({ role: 'user', content })
    const whole = await get(await save('Chat with a part', { messages: [message(`\${> ${tone}}\${name}`)] }))
    expect([whole.content, whole.messages]).toEqual(['# User\n\nBe kind. ${name}', [message('Be kind. ${name}')]])
    const many = Array.from({ length: 3 }, () => message(`\${> ${tone}}`.repeat(20)))
    expect(await said(save('Many parts', { messages: many }))).toContain('more than 50 parts')
    const wide = Array.from({ length: 3 }, () => message('${a}'.repeat(40)))
    const id = await save('Wide chat', { messages: wide })
    expect(await said(get(id, { variables: { a: 'x'.repeat(10_000) } }))).toContain('more than 1000000 characters')
  })

  it('end in a backslash that stays one, before a variable too', async () => {
    const path = await save('Path', { content: 'C:\\' })
    const id = await save('At a path', { content: `\${> ${path}}\${name} and \\\\\${> ${path}}\${name}` })
    expect((await get(id, { variables: { name: 'a' } })).content).toBe('C:\\a and \\C:\\a')
  })

  it('are refused before anything is loaded, and in time', async () => {
    const old = await save('Backslashes', { content: `${'\\'.repeat(60_000)}x\${v}` })
    expect(await said(save('Takes many', { content: `\${> ${old}}`.repeat(16_000).slice(0, 199_000) }))).toContain('more than 50 parts')
  })

  it('let their owner hide, restore, undo and copy what takes them in', async () => {
    const theirs = await save('Gone later', { content: 'theirs' }, ben.actor)
    const mine = await save('Takes what goes', { content: `\${> ${theirs}@1}` })
    await test.call(ben.actor, 'delete_item', { collection: 'prompts', id: theirs })
    expect(await said(edit(mine, { content: `\${> ${theirs}@1} again`, baseVersion: 9 }))).toContain('version')
    expect(await said(edit(mine, { content: 'x' }, eve.actor))).not.toContain('part')
    await edit(mine, { visibility: 'private' })
    // A circle would come back with an older version, or the last move of a label.
    const [a, b] = [await save('Restored', { content: 'a' }), await save('Other side', { content: 'b' })]
    await edit(a, { content: `\${> ${b}}` })
    await edit(a, { content: 'plain' })
    await edit(b, { content: `\${> ${a}}` })
    expect(await said(test.call(ada.actor, 'restore_version', { collection: 'prompts', id: a, version: 2 }))).toContain('in a circle')
    const [c, d] = [await save('Labelled', { content: 'c' }), await save('Follows', { content: 'd' })]
    await label(c, 'live', 1)
    await edit(c, { content: `\${> ${d}}` })
    await label(c, 'live', 2)
    await label(c, 'live', 1)
    await edit(d, { content: `\${> ${c}@live}` })
    expect(await said(test.call(ada.actor, 'undo_label', { collection: 'prompts', id: c, label: 'live' }))).toContain('in a circle')
  })

  it('of a copy by somebody else are those of the owner', async () => {
    const part = await save('Copied part', { content: 'kind' })
    const id = await save('Copied whole', { content: `Be \${> ${part}}.` })
    const copier = { ...ben.actor, scopes: new Set([...ben.actor.scopes, 'account'] as const) }
    const copy = Object(await test.call(copier, 'copy_item', { collection: 'prompts', id }))
    expect((await get(copy.id, {}, ben.actor)).content).toBe('Be kind.')
  })

  it('of earlier texts mean what they meant, as a part too', async () => {
    // Files from elsewhere know no backslashes.
    const bytes = Buffer.from(JSON.stringify([{ title: 'Earlier', content: '\\${a} ${> b}', visibility: 'public' }]))
    const importer = { ...ada.actor, scopes: new Set([...ada.actor.scopes, 'account'] as const) }
    const { id: run } = await test.call(importer, 'check_import', { files: [{ filename: 'a.json', bytes }] })
    await test.call(importer, 'run_import', { id: run })
    const id = 'earlier'
    expect((await get(id, { variables: { a: '1' } })).content).toBe('\\1 ${> b}')
    const whole = await save('Takes it in', { content: `\${> ${id}}` })
    expect((await get(whole, { variables: { a: '1' } })).content).toBe('\\1 ${> b}')
  })

  it('are checked in an import and a sync as in a save, each by itself', async () => {
    const rowsOf = (part: string, name: string) =>
      [
        ['Without a schema', { content: 'x', config: { responseSchema: { type: 'nothing' } } }, 'config.responseSchema is no JSON Schema'],
        ['Seen by more', { content: `\${> ${part}}` }, 'seen by fewer people'],
        [`Before ${name}`, { content: `\${> after-${name}}` }, null],
        [`After ${name}`, { content: `\${> before-${name}}` }, 'in a circle'],
      ] as const
    const rows = rowsOf(await save('Kept part', { content: 'canary', visibility: 'private' }), 'one')
    const told = rows.map(([title, , reason]) => [title, reason === null ? null : expect.stringContaining(reason)])
    const importer = { ...ada.actor, scopes: new Set([...ada.actor.scopes, 'account'] as const) }
    const bytes = Buffer.from(JSON.stringify(rows.map(([title, fields]) => ({ title, ...fields, syntax: 2, visibility: 'public' }))))
    const { id: checked } = await test.call(importer, 'check_import', { files: [{ filename: 'a.json', bytes }] })
    const { id } = await test.call(importer, 'run_import', { id: checked })
    const { entries } = Object(await test.call(importer, 'show_import', { id }))
    const reasonOf = (entry: { outcome: string; remark: string }) => (entry.outcome === 'refused' ? entry.remark : null)
    expect(entries.map((entry: { title: string; outcome: string; remark: string }) => [entry.title, reasonOf(entry)])).toEqual(told)
    expect(await said(get('before-one'))).toContain('is not there')

    const folder = mkdtempSync(join(tmpdir(), 'commonplace-parts-'))
    try {
      const user = await test.app.store.people.createUser({ username: 'Syd', defaultVisibility: 'public' })
      const part = await save('Kept too', { content: 'canary', visibility: 'private' }, (await test.user('Syd')).actor)
      mkdirSync(join(folder, 'prompts'))
      // In the order of their names.
      for (const [place, [title, { content, ...more }]] of rowsOf(part, 'two').entries()) {
        const head = JSON.stringify({ title, syntax: 2, ...more })
        writeFileSync(join(folder, 'prompts', `${place}.md`), `---\n${head}\n---\n\n${content}`)
      }
      const { refused, remarks } = await syncFolder(test.app.store, user, folder, { now: 0, checks: importChecks(test.app) })
      expect(refused).toBe(3)
      for (const reason of [
        '0.md is not synced: config.responseSchema is no',
        '1.md is not synced: The part',
        '3.md is not synced: The parts',
      ])
        expect(remarks.join('\n')).toContain(reason)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('can be messages, with a config', async () => {
    const messages = [
      { role: 'system', content: 'Be ${tone:kind}.' },
      { type: 'placeholder', name: 'history' },
      { role: 'user', content: 'Hi, I am ${name}.' },
    ]
    const config = { model: 'm', tools: [{ name: 't', input_schema: { type: 'object' } }] }
    const id = await save('Chat', { messages, config })
    expect(await get(id)).toMatchObject({ messages, config, content: expect.stringContaining('# System\n\nBe ${tone:kind}.') })
    const filled = await get(id, { variables: { name: 'Ada' } })
    expect(filled.messages.at(-1)).toEqual({ role: 'user', content: 'Hi, I am Ada.' })
    const answer = Object(await test.call(ANONYMOUS, 'render_exposed_prompt', { name: id, arguments: { name: 'Ada' } }))
    expect(answer.messages).toEqual([{ role: 'user', text: 'Be kind.\n\nHi, I am Ada.' }])
    expect(await said(edit(id, { content: 'a text' }))).toContain('change its messages')
    expect(await said(save('Neither', {}))).toContain('content')
    expect(await said(save('Both', { content: 'a', messages }))).toContain('not both')
    await edit(id, { messages: messages.slice(2), config: null })
    const { version } = Object(await test.call(ada.actor, 'restore_version', { collection: 'prompts', id, version: 1 }))
    expect(await get(id)).toMatchObject({ messages, config })
    expect(await test.call(ada.actor, 'get_version', { collection: 'prompts', id, version })).toMatchObject({ messages, config })
  })

  it.each([
    [{ responseSchema: { type: 'nothing' } }, 'config.responseSchema is no JSON Schema'],
    [
      { tools: [{ function: { parameters: { type: 'object', properties: [] } } }] },
      'config.tools[0].function.parameters is no JSON Schema',
    ],
    [{ responseSchema: 'x' }, 'it must be an object'],
    [{ a: 'x'.repeat(16 * 1024) }, 'the limit is 16384'],
  ])('refuse a config that is wrong', async (config, reason) => {
    expect(await said(save('Config', { content: 'x', config }))).toContain(reason)
  })

  it.each([
    { responseSchema: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'array', items: [{ type: 'string' }] } },
    { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { $ref: '#/$defs/a', $defs: { a: true } } } } },
  ])('keep a config with schemas of any draft', async (config) => {
    expect(await get(await save('Config', { content: 'x', config }))).toMatchObject({ config })
  })
})
