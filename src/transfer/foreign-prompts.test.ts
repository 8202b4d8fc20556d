import { describe, expect, it } from 'vitest'
import { toVariables } from './foreign-prompts.ts'
import { readForeignDraft, readPromptFile } from './prompt-file.ts'

async function read(value: unknown) {
  const bytes = (async function* () {
    yield new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
  })()
  const rows = await Array.fromAsync(readPromptFile({ name: 'x.json', format: 'json', bytes }))
  return rows.map((row) => {
    if ('fault' in row) return row.fault
    const { title, content, description, type, category, tags, contributors, remark, id, slug } = row.draft
    return { title, content, description, type, category, tags, contributors, remark, id, slug }
  })
}

const none = { description: null, category: null, remark: undefined, id: undefined, slug: undefined }
const plain = { ...none, type: 'TEXT', tags: [], contributors: [] }

describe('JSON of other products', () => {
  it('reads prompts of Open WebUI, old and new', async () => {
    const content = 'Sum up {{text}} in {{n | number:default="3"}}.'
    const rows = await read([
      { command: '/sum', user_id: 'u', title: 'Summarize', content, timestamp: 1, access_control: null },
      { command: 'mail', name: 'Mail', content: 'To {{CLIPBOARD}}', tags: ['a'], access_control: { read: {} }, meta: {} },
      { command: '/bare', content: '  ' },
      { command: '/untitled', title: '', content: 'Text' },
    ])
    expect(rows).toEqual([
      { ...plain, title: 'Summarize', content: 'Sum up ${text} in ${n:3}.', remark: expect.stringMatching(/variables: text, n$/) },
      {
        ...plain,
        title: 'Mail',
        content: 'To ${CLIPBOARD}',
        tags: ['a'],
        remark: 'left out: access_control; changed: {{CLIPBOARD}} to ${CLIPBOARD}; variables: CLIPBOARD',
      },
      expect.stringMatching(/title|content/),
      { ...plain, title: 'untitled', content: 'Text' },
    ])
  })

  it('reads prompt groups and presets of LibreChat', async () => {
    const about = { name: 'Planner', oneliner: 'Plans things', category: 'travel', command: 'plan', numberOfGenerations: 3 }
    const productionPrompt = { _id: 'p2', prompt: 'Plan {{topic:trips|meals}}', type: 'text' }
    const prompts = [{ _id: 'a', prompt: 'One' }].concat({ _id: 'b', prompt: 'Two' })
    const promptGroups = [
      { _id: 'g', ...about, productionPrompt },
      { name: 'Old', prompts, productionId: 'a', isPublic: true },
    ]
    const changedTopic = 'changed: {{topic:trips|meals}} to ${topic:trips}; variables: topic'
    expect(await read({ promptGroups })).toEqual([
      { ...plain, title: 'Planner', content: 'Plan ${topic:trips}', description: 'Plans things', category: 'travel', remark: changedTopic },
      { ...plain, title: 'Old', content: 'One', remark: 'left out: its other versions, isPublic' },
    ])
    expect(await read({ title: 'Pirate', promptPrefix: 'Talk like one.', model: 'm', temperature: 1 })).toEqual([
      { ...plain, title: 'Pirate', content: 'Talk like one.', remark: 'left out: model, temperature' },
    ])
  })

  it('reads a Langfuse export: the version in production, chats as one text', async () => {
    const base = { name: 'greet', type: 'text', tags: ['x'], config: {}, projectId: 'p' }
    const system = { role: 'system', content: 'Be {{mood}}.' }
    const prompt = [system, { type: 'placeholder', name: 'history' }]
    const data = [
      { ...base, version: 1, prompt: 'One {{who}}', labels: ['production'] },
      { ...base, version: 2, prompt: 'Two', labels: ['latest'] },
      { name: 'chat', version: 3, type: 'chat', labels: [], tags: [], config: { temperature: 0 }, prompt },
    ]
    const content = '## system\n\nBe ${mood}.\n\n## placeholder\n\n${history}'
    expect(await read({ data })).toEqual([
      { ...plain, title: 'greet', content: 'One ${who}', tags: ['x'], remark: 'changed: {{who}} to ${who}; variables: who' },
      {
        ...plain,
        title: 'chat',
        content,
        remark: expect.stringMatching(/^left out: config; its messages became one text; changed: .*; variables: mood, history$/),
      },
    ])
  })

  it('reads prompts.json of prompts.chat, and takes no ids and addresses', async () => {
    const author = { username: 'ada', name: 'Ada', avatar: null, identifier: null, verified: false }
    const own = { title: 'Terminal', description: 'Acts as one', content: 'Act as ${what:a terminal}.', type: 'STRUCTURED' }
    const left = { id: 'c1', slug: 'terminal', mediaUrl: null, viewCount: 4, isFeatured: true, createdAt: '2025-01-01T00:00:00.000Z' }
    const entry = {
      ...own,
      ...left,
      structuredFormat: 'JSON',
      category: { id: 'x', name: 'Coding', slug: 'coding', icon: null },
      author,
      contributors: [{ ...author, username: 'bob' }],
      tags: [{ id: 't', name: 'CLI', slug: 'cli', color: '#fff' }, { tag: { id: 'u', name: 'Raycast' } }],
    }
    const kept = { category: 'coding', tags: ['CLI', 'Raycast'], contributors: ['ada', 'bob'] }
    expect(await read({ count: 2, prompts: [entry, { ...entry, content: 7 }] })).toEqual([
      { ...plain, ...own, ...kept, remark: 'left out: structuredFormat; variables: what' },
      expect.stringContaining('has the wrong type'),
    ])
  })

  it('makes no entry more public than it was', async () => {
    const forms = [
      { command: '/sum', title: 'T', content: 'C' },
      { name: 'T', oneliner: 'Plans', productionPrompt: { prompt: 'C' } },
      { title: 'T', promptPrefix: 'C' },
      { name: 'T', version: 1, prompt: 'C', labels: ['production'] },
      { title: 'T', content: 'C', author: { username: 'ada' } },
    ]
    const heldAt = '2026-01-01T00:00:00.000Z'
    const rows = [
      [{ isPrivate: true }, 'private'],
      [{ isPrivate: 'yes', isUnlisted: true, visibility: 'public' }, 'private'],
      [{ visibility: 'private' }, 'private'],
      [{ visibility: ' Unlisted' }, 'unlisted'],
      [{ isUnlisted: true, isPrivate: false }, 'unlisted'],
      [{ heldAt, heldFrom: 'public', visibility: 'public' }, 'unlisted'],
      [{ isPrivate: false, isUnlisted: false, visibility: 'public' }, undefined],
      [{ visibility: 'team' }, 'visibility "team" is not one of public, members, unlisted, private'],
      [{ isPrivate: 'perhaps' }, 'isPrivate "perhaps" must be true or false'],
      [{ isPrivate: 1 }, 'isPrivate has the wrong type'],
    ] as const
    for (const form of forms) {
      for (const [said, expected] of rows) {
        const read = readForeignDraft({ ...form, ...said })
        const found = read === null ? 'none' : 'fault' in read ? read.fault : read.draft.visibility
        expect(found, JSON.stringify({ ...form, ...said })).toBe(expected)
        if (read && 'draft' in read) {
          expect(read.draft.remark).toBeUndefined()
          expect(read.draft.held?.at).toBe('heldAt' in said ? heldAt : undefined)
        }
      }
    }
  })

  it('keeps reading our own entries as before, and refuses other documents', async () => {
    expect(
      await read([
        { title: 'Own', content: '{{stays}}', id: 'i', slug: 's' },
        { act: 'A', prompt: 'B' },
      ]),
    ).toEqual([
      { ...plain, title: 'Own', content: '{{stays}}', id: 'i', slug: 's' },
      { ...plain, title: 'A', content: 'B' },
    ])
    for (const value of ['{', '{}', '7', '{"data":7}', 'null'])
      await expect(read(value), value).rejects.toMatchObject({ code: 'invalid_input' })
    expect(await read([null, 7, {}, []])).toHaveLength(4)
  })

  it('cuts tags that a library cannot hold, with a remark', async () => {
    const tags = [...Array.from({ length: 12 }, (_, n) => `tag ${n}`), 'x'.repeat(80), '!!']
    const [entry] = await read([{ command: 'c', name: 'N', content: 'T', tags }])
    expect(entry).toMatchObject({ tags: tags.slice(0, 10), remark: '4 of its tags were left out' })
  })

  it('leaves what is no name between double braces as it is written', () => {
    for (const text of [
      'Answer as {{"answer": "text"}}',
      'Now: {{ $now }}',
      'token: ${{ secrets.TOKEN }} and ${{ name }}',
      '<p style={{ color: "red" }}> <p style={{color: red|blue}}>',
      '{{a.b}} {{x | json}} {{n:.2f}} {{> part}} {{=<% %>=}} {{f(x)}} {{name!}}',
    ]) {
      expect(toVariables(text)).toBe(text)
    }
    const changes = new Map<string, string>()
    expect(toVariables('{{#if formal}}Dear {{name}}{{else}}Hi{{/if}} {{a_b}}', changes)).toBe(
      '{{#if formal}}Dear ${name}{{else}}Hi{{/if}} ${a_b}',
    )
    expect([...changes]).toEqual([
      ['{{name}}', '${name}'],
      ['{{a_b}}', '${a_b}'],
    ])
  })

  it('turns double braces into variables, in time that grows with the text alone', () => {
    expect(toVariables('{{ a b }} {{1x!}} {{}} {{{c}}} {{ü|text}} {{!!}}')).toBe('${a b} {{1x!}} {{}} {${c}} ${ü} {{!!}}')
    // Quadratic time would outlast the test.
    for (const piece of ['{{', '{{ ', '{{a:', '{{a|b']) expect(toVariables(piece.repeat(200_000)).length).toBeGreaterThan(0)
    expect(toVariables(`{{${' '.repeat(900_000)}`).length).toBeGreaterThan(0)
  })
})
