import { zipSync } from 'fflate'
import { beforeEach, describe, expect, it } from 'vitest'
import { ENGLISH } from '../../src/web/strings/index.ts'
import { readJson, useFreshTestApp } from '../support/test-app.ts'
import { signUp, type Visitor, visit } from '../support/visitor.ts'

const test = useFreshTestApp()
let admin: Visitor
let owner: Visitor
beforeEach(async () => {
  admin = await signUp(test, 'administrator')
  owner = await signUp(test, 'owner')
})

type Files = Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>

async function check(files: Files, fields: Readonly<Record<string, string>> = {}, visitor = owner) {
  const form = new FormData()
  for (const [path, content] of Object.entries(files)) form.append('files', new File([content], path), path)
  for (const [name, value] of Object.entries({ do: 'check', visibility: '', ...fields })) form.append(name, value)
  return await visitor.send('/import', form)
}

/** The rows of the table: outcome, title, place, remark. */
function rowsOf(html: string): string[][] {
  return [...html.matchAll(/<tr class="\w+">(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => cell.replaceAll(/<[^>]*>/g, '').replaceAll('&quot;', '"')),
  )
}

/** Imports what was checked. @returns the page of what became of it */
async function runAll(path: string, visitor = owner): Promise<string> {
  const { to } = await visitor.post(path, { do: 'run' })
  expect(to).toMatch(/^\/import\/[0-9a-f-]{36}$/)
  return (await visitor.get(to ?? '')).html
}

const list = async (kind: 'prompts' | 'skills', visitor = owner) =>
  (await visitor.get(`/library${kind === 'skills' ? '?kind=skills' : ''}`)).html

describe('an import on a page', () => {
  it('says what it would do, does that, and repeated changes nothing', async () => {
    const files: Files = {
      'some.csv': 'act,prompt,category,tags\nFirst,Say ${one}.,coding,"a, b"\n,No title.,,\nSecond,Say two.,no-such,\n',
      'more.jsonl': `${JSON.stringify({ title: 'Third', content: 'Say three.' })}\nnot json\n`,
      'notes/greet.prompt.md': '---\ntitle: Greet\ndescription: Says hello.\ntags:\n  - kind\n  - short\n---\n\nHello ${name}.\n',
      'plain.md': '# A heading\n\nText.',
      'models/sum-up.prompt.yml': 'messages: [{role: system, content: Short.}, {role: user, content: "Sum up {{text}}"}]\n',
      'bad.prompt': '---\na: [\n---\nText',
      'my-skills/pdf/SKILL.md': '---\nname: pdf\ndescription: Reads PDFs.\n---\n# PDF\n',
      'my-skills/pdf/scripts/run.py': 'print(1)\n',
      'picture.png': new Uint8Array([1, 2, 3]),
      '.env': 'SECRET=1',
    }
    const { to } = await check(files)
    expect(to).toMatch(/^\/import\/[0-9a-f-]{36}$/)
    const path = to ?? ''
    const planned = await owner.get(path)
    expect(rowsOf(planned.html)).toEqual([
      ['Refused', '', '.env', 'is never imported'],
      ['New', 'pdf', 'my-skills/pdf/SKILL.md', ''],
      ['New', 'First', 'some.csv, 1', ''],
      ['Refused', '', 'some.csv, 2', 'title is blank'],
      ['New', 'Second', 'some.csv, 3', 'the category "no-such" does not exist and was left out'],
      ['New', 'Third', 'more.jsonl, 1', ''],
      ['Refused', '', 'more.jsonl, 2', 'is not valid JSON'],
      ['New', 'Greet', 'notes/greet.prompt.md', 'variables: name'],
      ['New', 'A heading', 'plain.md', ''],
      ['New', 'sum up', 'models/sum-up.prompt.yml', 'variables: text'],
      ['Refused', '', 'bad.prompt', expect.stringContaining('is no YAML that can be read')],
      ['Refused', '', 'picture.png', expect.stringContaining('is not a CSV')],
    ])
    expect(planned.html).toContain('Import 7 items')
    expect(await list('prompts')).not.toContain('Greet')

    const over = await runAll(path)
    expect(over).toContain(ENGLISH.importing.over)
    expect(rowsOf(over).filter(([outcome]) => outcome === 'Created')).toHaveLength(7)
    const [, greeting = ''] = /<a href="(\/prompts\/[0-9a-f-]{36})">Greet</.exec(over) ?? []
    const page = await owner.get(greeting)
    for (const text of ['Says hello.', 'Hello ', '>Private</span>', 'short']) expect(page.html).toContain(text)
    expect(page.html).not.toContain('description: Says')
    const [, skill = ''] = /<a href="(\/skills\/[0-9a-f-]{36})">pdf</.exec(over) ?? []
    expect((await owner.get(skill)).html).toContain('run.py')

    const again = await check(files)
    const { html } = await owner.get(again.to ?? '')
    expect(html).toContain(ENGLISH.importing.nothingToDo)
    expect(rowsOf(html).filter(([outcome]) => outcome === 'Unchanged')).toHaveLength(7)
    const changed = await check({ 'more.jsonl': JSON.stringify({ title: 'Third', content: 'Say 3.' }) })
    expect(rowsOf((await owner.get(changed.to ?? '')).html)).toEqual([['Changed', 'Third', 'more.jsonl, 1', '']])
    await runAll(changed.to ?? '')
    expect(await list('prompts')).toContain('Say 3.')
  })

  it('makes everything the importer’s own, whatever a file says', async () => {
    await admin.post('/new', { title: 'Of the administrator', content: 'x', visibility: 'public' })
    const claims = { owner: 'administrator', author: 'administrator', slug: 'taken', createdAt: '2000-01-01T00:00:00.000Z' }
    const entry = { title: 'Claimed', content: 'x', visibility: 'public', ...claims }
    const { to } = await check({ 'a.json': JSON.stringify([entry]) })
    const [, id = ''] = /\/prompts\/([0-9a-f-]{36})"/.exec(await runAll(to ?? '')) ?? []
    const prompt = Object(await readJson(await test.fetch(`/api/prompts/${id}`)))
    expect(prompt).toMatchObject({ title: 'Claimed', author: 'owner', slug: 'claimed', visibility: 'public' })
    expect(prompt.createdAt > '2001').toBe(true)
    expect(await list('prompts', admin)).not.toContain('Claimed')
  })

  it('says what will not be private; a visibility that was chosen holds for all', async () => {
    const open = { 'open.json': JSON.stringify([{ title: 'Stated', content: 'x', visibility: 'public' }]) }
    const stated = await check(open)
    expect(rowsOf((await owner.get(stated.to ?? '')).html)).toEqual([['New', 'Stated', 'open.json, 1', 'will be public']])
    const chosen = await check(open, { visibility: 'private' })
    expect(rowsOf((await owner.get(chosen.to ?? '')).html)).toEqual([['New', 'Stated', 'open.json, 1', '']])
    await runAll(chosen.to ?? '')
    expect(Object(await readJson(await test.fetch('/api/prompts'))).prompts).toEqual([])
  })

  it('belongs to whoever began it, ends with the next, and is forgotten after 15 minutes', async () => {
    const first = await check({ 'a.md': 'Secret plan.' })
    for (const stranger of [admin, visit(test)]) {
      expect([303, 404]).toContain((await stranger.get(first.to ?? '')).status)
      expect([303, 404]).toContain((await stranger.post(first.to ?? '', { do: 'run' })).status)
    }
    const second = await check({ 'b.md': 'Another.' })
    expect((await owner.post(first.to ?? '', { do: 'run' })).status).toBe(404)
    expect((await owner.get(second.to ?? '')).status).toBe(200)
    test.wait(16 * 60 * 1000)
    expect((await owner.get(second.to ?? '')).status).toBe(404)
    expect((await owner.post(second.to ?? '', { do: 'run' })).status).toBe(404)
    expect(await list('prompts')).not.toContain('Another.')
  })

  it('that fails keeps its files, and is finished by another try', async () => {
    const { to } = await check({ 'a.csv': 'title,content\nOne,1\nTwo,2\n' })
    const { store } = test.app
    const { inTransaction } = store
    Object.assign(store, { inTransaction: () => Promise.reject(new Error('The disk is gone.')) })
    expect((await owner.post(to ?? '', { do: 'run' })).status).toBe(500)
    Object.assign(store, { inTransaction })
    expect(rowsOf(await runAll(to ?? '')).map(([outcome]) => outcome)).toEqual(['Created', 'Created'])
    // Done once: the files are gone.
    expect((await owner.post(to ?? '', { do: 'run' })).status).toBe(404)
  })

  it('refuses too much, nothing, and forms that name nothing', async () => {
    const none = await check({})
    expect([none.status, none.html.includes('Choose at least one file.')]).toEqual([400, true])
    const many = await check({ 'many.jsonl': `${JSON.stringify({ title: 't', content: 'c' })}\n`.repeat(5_001) })
    expect([many.status, many.html.includes('There are more than 5000 entries.')]).toEqual([413, true])
    const bomb = await check({ 'bomb.zip': new Uint8Array(zipSync({ 'a.md': new Uint8Array(40_000_000) })) })
    expect(rowsOf((await owner.get(bomb.to ?? '')).html)).toEqual([['Refused', '', 'bomb/a.md', expect.stringContaining('1 MiB')]])
    expect((await check({ 'a.md': 'x' }, {}, visit(test))).to).toContain('/sign-in')
    expect((await check({ 'a.md': 'x' }, { visibility: 'everybody' })).status).toBe(400)
  })
})

describe('the starter library', () => {
  it('is loaded by an administrator into an empty library alone', async () => {
    expect((await admin.get('/prompts')).html).toContain(ENGLISH.importing.starter)
    expect((await owner.get('/prompts')).html).not.toContain(ENGLISH.importing.starter)
    const send = async (visitor: Visitor) => await check({}, { do: 'starter' }, visitor)
    expect((await send(owner)).status).toBe(403)
    expect((await send(admin)).to).toBe('/prompts?done=starter-loaded')
    const { html } = await visit(test).get('/prompts')
    expect(html).not.toContain(ENGLISH.importing.starter)
    expect(html.match(/data-row="prompts"/g)?.length).toBeGreaterThan(10)
    const again = await send(admin)
    expect([again.status, again.html.includes('The starter library is for an empty library.')]).toEqual([409, true])
  })
})
