import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { User } from '../../src/domain/items/items.ts'
import { scanFolder } from '../../src/transfer/sync/scan-folder.ts'
import { type SyncOptions, syncFolder } from '../../src/transfer/sync/sync-folder.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'
import { type TestApp, testApp } from '../support/test-app.ts'

let test: TestApp
let place: string
let folder: string
let ada: User
let actor: Awaited<ReturnType<TestApp['user']>>['actor']

beforeEach(async () => {
  test = await testApp()
  place = mkdtempSync(join(tmpdir(), 'commonplace-sync-'))
  folder = join(place, 'folder')
  mkdirSync(folder)
  actor = (await test.user('ada')).actor
  const user = await test.app.store.people.findUser('ada')
  if (!user) throw new Error('no user')
  ada = user
})
afterEach(async () => {
  await test.close()
  rmSync(place, { recursive: true, force: true })
})

const sync = (options: Partial<SyncOptions> = {}, root = folder) => syncFolder(test.app.store, ada, root, { now: Date.now(), ...options })
const write = (path: string, text: string | Uint8Array, root = folder) => {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), text)
}
const read = (path: string, root = folder) => readFileSync(join(root, path), 'utf8')
const list = (path: string, root = folder) => (existsSync(join(root, path)) ? readdirSync(join(root, path)).toSorted() : [])
const save = async (title: string, content: string) =>
  await test.app.store.items.createItem(
    { userId: ada.id, note: null },
    { kind: 'prompt', title, content, description: null, category: null, tags: ['a', 'b: c'], type: 'TEXT', visibility: 'private' },
  )
const edit = (id: string, content: string) =>
  test.app.store.items.changeItem('prompt', id, { userId: ada.id, note: null }, () => ({ content }))
const prompts = async () => (await test.app.store.transfer.exportPrompts(ada.id, 0, 100)).map(({ prompt }) => prompt)
const skills = async () => await test.app.store.transfer.exportSkills(ada.id, 0, 100)
const SKILL = '---\nname: tidy\ndescription: Tidies a room.\n---\n\nTidy.\n'

describe('sync', () => {
  it('writes what is new in the library, creates what is new in the folder as private, and then changes nothing', async () => {
    const saved = await save('One prompt', '\n\nSay ${what}.  \n')
    write('prompts/two.md', '---\ntitle: Two\ndescription: The second.\ntags: [x, y]\nowner: somebody\n---\n\nSecond text.\n')
    write('prompts/plain.md', '# A heading\n\nText.')
    write('skills/tidy/SKILL.md', SKILL)
    write('skills/tidy/data/bytes.bin', Uint8Array.from([0, 255, 13, 10]))
    expect(await sync()).toMatchObject({ created: 3, written: 1, updated: 0, conflicts: 0, refused: 0 })
    const all = await prompts()
    expect(all.map(({ title, visibility, author }) => [title, visibility, author]).toSorted()).toEqual([
      ['A heading', 'private', 'ada'],
      ['One prompt', 'private', 'ada'],
      ['Two', 'private', 'ada'],
    ])
    expect(all.find(({ title }) => title === 'Two')).toMatchObject({ content: 'Second text.\n', description: 'The second.' })
    expect(read(`prompts/${saved.slug}.md`)).toContain('\n---\n\n\n\nSay ${what}.  \n')
    const [skill] = await skills()
    expect(skill?.skill).toMatchObject({ title: 'tidy', description: 'Tidies a room.', visibility: 'private' })
    expect(skill?.files.map(({ filename, bytes }) => [filename, [...bytes].length])).toEqual([
      ['SKILL.md', SKILL.length],
      ['data/bytes.bin', 4],
    ])
    const again = await sync()
    expect(again).toMatchObject({ created: 0, written: 0, updated: 0, conflicts: 0, changes: [] })
    expect(list('.')).toEqual(['prompts', 'skills'])
  })

  it('carries a change of one side to the other, and keeps other fields and comments of a file', async () => {
    const saved = await save('One', 'First.')
    await sync()
    const path = `prompts/${saved.slug}.md`
    write(path, read(path).replace('---\n', '---\nmode: agent # ours\n').replace('First.', 'Second.'))
    expect(await sync()).toMatchObject({ updated: 1, written: 0, conflicts: 0 })
    expect((await prompts())[0]).toMatchObject({ content: 'Second.', version: 2 })
    expect((await prompts())[0]?.tags.map((tag) => tag.name)).toEqual(['a', 'b: c'])
    await edit(saved.id, 'Third.')
    expect(await sync()).toMatchObject({ updated: 0, written: 1, conflicts: 0 })
    expect(read(path)).toContain('mode: agent # ours\n')
    expect(read(path)).toContain('\n\nThird.')
    expect(await sync()).toMatchObject({ changes: [] })
  })

  it('carries messages and a config where there were none, and leaves labels where they are', async () => {
    const { id } = await save('Plain', 'one')
    await test.call(actor, 'set_label', { collection: 'prompts', id, label: 'production' })
    const config = { model: 'm', tools: [{ name: 't', input_schema: { type: 'object' } }] }
    const messages = [
      { role: 'user', content: 'Hi ${name}' },
      { type: 'placeholder', name: 'history' },
    ]
    write('prompts/chat.md', `---\n${JSON.stringify({ title: 'Chat', messages, config })}\n---\n`)
    expect(await sync()).toMatchObject({ created: 1, written: 1, refused: 0 })
    const [file = ''] = list('prompts').filter((name) => name !== 'chat.md')
    write(`prompts/${file}`, read(`prompts/${file}`).replace('---\n', `---\nconfig: ${JSON.stringify(config)}\n`))
    expect(await sync()).toMatchObject({ updated: 1, refused: 0 })
    const [plain, chat] = (await prompts()).toSorted((one, other) => (one.title < other.title ? 1 : -1))
    expect(plain).toMatchObject({
      config,
      version: 2,
      messages: null,
      labels: [{ name: 'production', targets: [{ version: 1, weight: 100 }] }],
    })
    expect(chat).toMatchObject({ config, messages, labels: [] })
    await test.call(actor, 'update_prompt', { id, config: null })
    await test.call(actor, 'update_prompt', { id: chat?.id, messages: messages.slice(0, 1), config: { model: 'n' } })
    expect(await sync()).toMatchObject({ written: 2, conflicts: 0 })
    expect(read(`prompts/${file}`)).not.toContain('config:')
    expect(read('prompts/chat.md')).not.toContain('history')
    expect(read('prompts/chat.md')).toContain('model: n')
    expect(await sync()).toMatchObject({ created: 0, updated: 0, written: 0 })
  })

  it('keeps both texts of a conflict, shows the difference, and settles', async () => {
    const saved = await save('One', 'First.')
    await sync()
    const path = `prompts/${saved.slug}.md`
    write(path, read(path).replace('First.', 'Of the folder.'))
    await edit(saved.id, 'Of the library.')
    const report = await sync()
    expect(report).toMatchObject({ conflicts: 1, updated: 0, written: 0 })
    expect(report.changes[0]).toContain('- Of the library.\n+ Of the folder.')
    const copy = list('prompts').find((name) => name.includes('.conflict-'))
    expect(read(`prompts/${copy}`)).toContain('Of the folder.')
    expect(read(path)).toContain('Of the library.')
    expect((await prompts()).map(({ content }) => content)).toEqual(['Of the library.'])
    const again = await sync()
    expect(again).toMatchObject({ conflicts: 0, created: 0, changes: [] })
    expect(again.remarks).toContainEqual(expect.stringContaining('1 copies of conflicts'))
  })

  it('keeps both versions of a skill in conflict, and adopts equal ones', async () => {
    write('skills/tidy/SKILL.md', SKILL)
    await sync()
    const [skill] = await skills()
    const change = (text: string) =>
      test.app.store.items.changeItem('skill', skill?.skill.id ?? '', { userId: ada.id, note: null }, () => ({
        files: [{ filename: 'SKILL.md', bytes: Buffer.from(text) }],
      }))
    await change(`${SKILL}Library.\n`)
    write('skills/tidy/SKILL.md', `${SKILL}Folder.\n`)
    expect(await sync()).toMatchObject({ conflicts: 1 })
    const copy = list('skills').find((name) => name.includes('.conflict-'))
    expect(read(`skills/${copy}/SKILL.md`)).toBe(`${SKILL}Folder.\n`)
    expect(read('skills/tidy/SKILL.md')).toBe(`${SKILL}Library.\n`)
    await change(`${SKILL}Both.\n`)
    write('skills/tidy/SKILL.md', `${SKILL}Both.\n`)
    expect(await sync()).toMatchObject({ conflicts: 0, written: 0, updated: 0 })
  })

  it('finishes a skill that a killed sync wrote in part, without a conflict', async () => {
    write('skills/tidy/SKILL.md', SKILL)
    write('skills/tidy/a.txt', 'a')
    await sync()
    const [skill] = await skills()
    const files = [
      { filename: 'SKILL.md', bytes: Buffer.from(`${SKILL}More.\n`) },
      { filename: 'a.txt', bytes: Buffer.from('b') },
    ]
    await test.app.store.items.changeItem('skill', skill?.skill.id ?? '', { userId: ada.id, note: null }, () => ({ files }))
    write('skills/tidy/SKILL.md', `${SKILL}More.\n`)
    expect(await sync()).toMatchObject({ conflicts: 0, written: 1 })
    expect(read('skills/tidy/a.txt')).toBe('b')
  })

  it('reports deletions, and carries them over with --delete alone', async () => {
    const [one, two] = [await save('One', '1'), await save('Two', '2')]
    await save('Three', '3')
    await sync()
    rmSync(join(folder, `prompts/${one.slug}.md`))
    await test.app.store.items.setDeleted('prompt', two.id, ada.id, true)
    expect(await sync()).toMatchObject({ left: 2, deleted: 0 })
    expect(list('prompts')).toHaveLength(2)
    expect(await prompts()).toHaveLength(2)
    expect(await sync({ deletes: true, isDryRun: true })).toMatchObject({ deleted: 2 })
    expect(await prompts()).toHaveLength(2)
    expect(await sync({ deletes: true })).toMatchObject({ left: 0, deleted: 2 })
    expect((await prompts()).map(({ title }) => title)).toEqual(['Three'])
    expect(list('prompts')).toHaveLength(1)
    const { items: trash } = await test.app.store.items.listTrash(ada.id, { limit: 10, offset: 0 })
    expect(trash).toHaveLength(2)
  })

  it('lets an edit win over a deletion on the other side', async () => {
    const [one, two] = [await save('One', '1'), await save('Two', '2')]
    await sync()
    rmSync(join(folder, `prompts/${one.slug}.md`))
    await edit(one.id, 'edited here')
    await test.app.store.items.setDeleted('prompt', two.id, ada.id, true)
    write(`prompts/${two.slug}.md`, read(`prompts/${two.slug}.md`).replace('\n\n2', '\n\nedited there'))
    expect(await sync({ deletes: true })).toMatchObject({ deleted: 0, written: 1, created: 1 })
    expect((await prompts()).map(({ content }) => content).toSorted()).toEqual(['edited here', 'edited there'])
    expect(read(`prompts/${one.slug}.md`)).toContain('edited here')
  })

  it('refuses deletions that would empty a side of its prompts or its skills', async () => {
    const saved = await save('One', '1')
    write('skills/tidy/SKILL.md', SKILL)
    await sync()
    rmSync(join(folder, 'skills'), { recursive: true })
    await expect(sync({ deletes: true })).rejects.toThrow('The folder has none of its 1 synced skills')
    write('skills/tidy/SKILL.md', SKILL)
    await test.app.store.items.setDeleted('prompt', saved.id, ada.id, true)
    await expect(sync({ deletes: true })).rejects.toThrow('The library has none of the 1 synced prompts')
    expect(await skills()).toHaveLength(1)
    expect(list('prompts')).toHaveLength(1)
  })

  it('trashes nothing whose file is there again', async () => {
    const saved = await save('One', '1')
    await save('Two', '2')
    await sync()
    const path = `prompts/${saved.slug}.md`
    const text = read(path)
    rmSync(join(folder, path))
    const { store } = test.app
    const listCategories: typeof store.categories.listCategories = async (...args) => {
      // An editor replaces the file after the folder was read.
      write(path, text)
      return await store.categories.listCategories(...args)
    }
    const late = { ...store, categories: { ...store.categories, listCategories } }
    const report = await syncFolder(late, ada, folder, { now: Date.now(), deletes: true })
    expect(report).toMatchObject({ deleted: 0, refused: 1 })
    expect(report.remarks).toEqual([expect.stringContaining('changed while it was synced')])
    expect(await prompts()).toHaveLength(2)
  })

  it('follows renames in the folder', async () => {
    const saved = await save('One', '1')
    await sync()
    const text = read(`prompts/${saved.slug}.md`)
    rmSync(join(folder, `prompts/${saved.slug}.md`))
    write('prompts/renamed.md', `${text} and more`)
    expect(await sync()).toMatchObject({ created: 0, updated: 1, left: 0 })
    expect((await prompts()).map(({ id, content }) => [id, content])).toEqual([[saved.id, '1 and more']])
    expect(list('prompts')).toEqual(['renamed.md'])
  })

  it('never puts the text of one item into another whose file name it got', async () => {
    const [one, two] = [await save('One', 'public text'), await save('Two', 'private text')]
    await sync()
    const [first, second] = [`prompts/${one.slug}.md`, `prompts/${two.slug}.md`]
    const texts = [read(first), read(second)] as const
    write(first, texts[1])
    write(second, texts[0])
    const swapped = await sync()
    expect(swapped).toMatchObject({ refused: 2, updated: 0, conflicts: 0 })
    expect(swapped.remarks[0]).toContain('the text of another prompt')
    rmSync(join(folder, second))
    write(first, `${texts[1]} and more`)
    expect(await sync({ deletes: true })).toMatchObject({ refused: 1, updated: 0, deleted: 0, left: 1 })
    const contents = async () => (await prompts()).map(({ id, content }) => [id, content])
    expect(await contents()).toEqual([
      [one.id, 'public text'],
      [two.id, 'private text'],
    ])
    write(first, texts[0].replace('public text', 'edited').replace(/^name: .*\n/m, ''))
    write(second, texts[1])
    expect(await sync()).toMatchObject({ refused: 0, updated: 1 })
    expect(await contents()).toContainEqual([one.id, 'edited'])
  })

  it('creates an item as private when its text may be that of an older one, else as the user wants', async () => {
    const user: User = { ...ada, defaultVisibility: 'public' }
    const run = () => syncFolder(test.app.store, user, folder, { now: Date.now() })
    const [one, two] = [await save('One', 'one'), await save('Two', 'two')]
    await run()
    await test.app.store.items.setDeleted('prompt', one.id, ada.id, true)
    write(`prompts/${one.slug}.md`, read(`prompts/${one.slug}.md`).replace(/one$/, 'one again'))
    write('prompts/new.md', 'New.')
    write('skills/tidy/SKILL.md', SKILL)
    expect(await run()).toMatchObject({ created: 3 })
    rmSync(join(folder, `prompts/${two.slug}.md`))
    write('prompts/other.md', '---\ntitle: Other\n---\n\ntwo, edited')
    write('skills/tidy2/SKILL.md', SKILL.replace('tidy', 'tidy2'))
    expect(await run()).toMatchObject({ created: 2 })
    const found = [...(await prompts()), ...(await skills()).map(({ skill }) => skill)]
    expect(Object.fromEntries(found.map(({ title, visibility }) => [title, visibility]))).toEqual({
      One: 'private',
      Two: 'private',
      new: 'public',
      Other: 'private',
      tidy: 'public',
      tidy2: 'public',
    })
  })

  it('refuses a field that cannot be stored as it is, and leaves the file', async () => {
    const saved = await save('One', '1')
    await sync()
    const path = `prompts/${saved.slug}.md`
    const before = read(path)
    const rows = [
      [`title: ${'t'.repeat(201)}`, '"title" has more than 200'],
      [`description: ${'d'.repeat(501)}`, '"description" has more than 500'],
      ['title: [a, b]', '"title" is not a text'],
      ['description:\n  - a', '"description" is not a text'],
      ['description: { a: b }', '"description" is not a text'],
      ['description: true', '"description" is not a text'],
      ['type: [TEXT]', '"type" is not a text'],
      ['category: { slug: coding }', '"category" is not a text'],
      ['tags: { a: b }', '"tags" is neither'],
      ['tags: [a, [b]]', '"tags" is neither'],
    ] as const
    for (const [line, why] of rows) {
      const rest = before.replace(new RegExp(`^${line.split(':')[0]}:.*\\n(?: +- .*\\n)*`, 'm'), '')
      write(path, rest.replace('---\n', `---\n${line}\n`))
      const text = read(path)
      const report = await sync()
      expect(report, line).toMatchObject({ refused: 1, updated: 0 })
      expect(report.remarks.join(), line).toContain(why)
      expect(read(path), line).toBe(text)
    }
    await edit(saved.id, '2')
    const left = read(path)
    expect(await sync()).toMatchObject({ conflicts: 1 })
    const copy = list('prompts').find((name) => name.includes('.conflict-'))
    expect(read(`prompts/${copy}`)).toBe(left)
  })

  it('refuses a file whose frontmatter is broken, names the line, and syncs the others', async () => {
    const saved = await save('One', '1')
    await sync()
    const path = `prompts/${saved.slug}.md`
    const before = read(path)
    const rows = [
      ['title: Tell: me', /not valid YAML in line 2 \(.*\)\. Put values with a colon in quotes/],
      ['note: x\ntags: [a', /not valid YAML in line [34]/],
      ['globs: *.ts', /alias without a value/],
    ] as const
    for (const [n, [line, why]] of rows.entries()) {
      write(path, before.replace('---\n', `---\n${line}\n`).replace(/1$/, 'changed'))
      write(`prompts/broken-${n}.md`, `---\n${line}\n---\n\nnew`)
      write(`prompts/fine-${n}.md`, `---\ntitle: Fine\n---\n\nfine`)
      const text = read(path)
      const report = await sync()
      expect(report, line).toMatchObject({ refused: n + 2, created: 1, updated: 0 })
      expect(report.remarks, line).toContainEqual(expect.stringMatching(new RegExp(`^${path} is not synced: its frontmatter .*`)))
      expect(report.remarks.join(), line).toMatch(why)
      expect(read(path), line).toBe(text)
    }
    write(path, before.replace(/\n---\n/, '\n').replace(/1$/, 'changed'))
    expect((await sync()).remarks.join()).toMatch(/begins in line 1, has no line --- at its end/)
    expect((await prompts()).map(({ content }) => content).toSorted()).toEqual(['1', 'fine', 'fine', 'fine'])
    write('prompts/rules.md', '---\nOnly a text\n---\n')
    expect(await sync()).toMatchObject({ created: 1 })
  })

  it('leaves an unknown category in the file, until the library has one', async () => {
    write('prompts/one.md', '---\ntitle: One\ncategory: ours-alone # mine\n---\n\nFirst.')
    await sync()
    const [saved] = await prompts()
    await edit(saved?.id ?? '', 'Second.')
    expect(await sync()).toMatchObject({ written: 1 })
    expect(read('prompts/one.md')).toContain('category: ours-alone # mine\n')
    await test.app.store.items.changeItem('prompt', saved?.id ?? '', { userId: ada.id, note: null }, () => ({ category: 'coding' }))
    expect(await sync()).toMatchObject({ written: 1 })
    expect(read('prompts/one.md')).toContain('category: coding')
    await test.app.store.items.changeItem('prompt', saved?.id ?? '', { userId: ada.id, note: null }, () => ({ category: null }))
    expect(await sync()).toMatchObject({ written: 1 })
    expect(read('prompts/one.md')).not.toContain('category')
  })

  it('refuses a frontmatter whose aliases cannot be kept, and syncs the rest', async () => {
    write('prompts/a.md', '---\ntitle: &anchor One\nalso: *anchor\n---\n\nFirst.')
    write('prompts/b.md', '---\ntitle: Two\n---\n\nFirst.')
    await sync()
    const text = read('prompts/a.md')
    for (const { id } of await prompts()) await edit(id, 'Second.')
    const report = await sync()
    expect(report).toMatchObject({ written: 1, refused: 1 })
    expect(report.remarks).toEqual([expect.stringMatching(/^prompts\/a\.md is not synced: .*aliases/)])
    expect(read('prompts/a.md')).toBe(text)
    expect(read('prompts/b.md')).toContain('Second.')
  })

  it('leaves a file alone that changed after it was read', async () => {
    const saved = await save('One', '1')
    await sync()
    await edit(saved.id, '2')
    const path = `prompts/${saved.slug}.md`
    const { store } = test.app
    const report = await syncFolder(
      {
        ...store,
        // Somebody saves the file after the folder was read.
        categories: {
          ...store.categories,
          listCategories: async (...args: Parameters<typeof store.categories.listCategories>) => {
            write(path, read(path).replace('\n\n1', '\n\nmine'))
            return await store.categories.listCategories(...args)
          },
        },
      },
      ada,
      folder,
      { now: Date.now() },
    )
    expect(report.remarks).toContainEqual(expect.stringContaining('changed while it was synced'))
    expect(read(path)).toContain('mine')
    expect(await sync()).toMatchObject({ conflicts: 1 })
  })

  it('refuses links, secrets and broken files by themselves, and syncs the rest', async () => {
    writeFileSync(join(place, 'secret.md'), 'a secret')
    mkdirSync(join(folder, 'prompts'))
    mkdirSync(join(folder, 'skills'))
    symlinkSync(join(place, 'secret.md'), join(folder, 'prompts/link.md'))
    symlinkSync(place, join(folder, 'skills/linked'))
    write('prompts/empty.md', '')
    write('prompts/binary.md', Uint8Array.from([0xff, 0xfe]))
    write('prompts/huge.md', 'x'.repeat(1_100_000))
    write('skills/bare/readme.md', 'no skill')
    write('skills/tidy/SKILL.md', SKILL)
    write('skills/tidy/.env', 'KEY=1')
    write('skills/inside/SKILL.md', SKILL)
    symlinkSync(join(place, 'secret.md'), join(folder, 'skills/inside/nested.md'))
    write('prompts/good.md', 'Good.')
    const report = await sync()
    expect(report).toMatchObject({ created: 2, refused: 7 })
    expect(await test.readEverything()).not.toContain('a secret')
    expect((await skills()).map(({ files }) => files.map((file) => file.filename))).toEqual([['SKILL.md']])
    for (const name of ['link.md', 'linked', 'empty.md', 'binary.md', 'huge.md', 'bare', 'inside', '.env']) {
      expect(
        report.remarks.filter((remark) => remark.includes(name)),
        name,
      ).toHaveLength(1)
    }
    rmSync(join(folder, 'prompts'), { recursive: true })
    symlinkSync(place, join(folder, 'prompts'))
    await expect(sync()).rejects.toThrow('links are not followed')
  })

  it('refuses a folder with too many names at once', async () => {
    mkdirSync(join(folder, 'prompts'))
    for (let n = 0; n < 5; n++) writeFileSync(join(folder, `prompts/${n}`), '')
    const scan = (maxPaths?: number) => scanFolder(folder, () => new Set(), maxPaths)
    expect((await scan()).remarks).toEqual([expect.stringMatching(/^5 other names/)])
    await expect(scan(4)).rejects.toThrow('more than 4 prompts and skills')
  })

  it('leaves other people and their items alone', async () => {
    const { actor: bob } = await test.user('bob')
    const fields = { ...PLAIN_PROMPT, title: 'Of Bob', content: 'private to Bob' }
    await test.app.store.items.createItem({ userId: bob.userId, note: null }, { kind: 'prompt', ...fields })
    expect(await sync()).toMatchObject({ written: 0 })
    expect(list('prompts')).toEqual([])
    expect(actor.username).toBe('ada')
  })
})
