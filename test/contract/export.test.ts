import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import { type Actor, ANONYMOUS } from '../../src/library/actor.ts'
import type { PromptFields, User } from '../../src/library/items.ts'
import type { LibraryStore } from '../../src/library/ports/store.ts'
import { createStore } from '../../src/storage/store.ts'
import { exportLibrary, importLibrary } from '../../src/transfer/library-folder.ts'
import { ENGINES } from '../support/engines.ts'

const PROMPT: PromptFields = {
  title: 'A title',
  content: 'Some text',
  description: null,
  category: null,
  tags: [],
  type: 'TEXT',
  visibility: 'public',
}
const SKILL = {
  title: 'A skill',
  description: null,
  category: null,
  tags: [],
  visibility: 'public' as const,
  files: [{ filename: 'SKILL.md', bytes: Buffer.from('# Skill') }],
}
const AS_WRITTEN = { owner: undefined, visibility: undefined }
const as = (user: User): Actor => ({ kind: 'user', userId: user.id, username: user.username, scopes: new Set(['read', 'write']) })

for (const engine of ENGINES) {
  describe(`an export on ${engine.name}`, () => {
    const cleanUps: (() => Promise<void>)[] = []
    let folder = ''
    const open = async (): Promise<LibraryStore> => {
      const place = await engine.create()
      const store = await createStore(place.open(), SYSTEM)
      cleanUps.push(place.remove, () => store.close())
      return store
    }
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'commonplace-export-'))
    })
    afterEach(async () => {
      for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
      rmSync(folder, { recursive: true, force: true })
    })

    it('brings back items in categories that administrators made', async () => {
      const from = await open()
      const ada = await from.people.createUser({ username: 'ada', defaultVisibility: 'private' })
      const ben = await from.people.createUser({ username: 'ben', defaultVisibility: 'private' })
      await from.categories.createCategory({ slug: 'ours', name: 'Ours & theirs', parent: null })
      await from.categories.createCategory({ slug: 'below', name: 'Below', parent: 'ours' })
      await from.categories.createCategory({ slug: 'unused', name: 'Unused', parent: 'coding' })
      await from.items.createPrompt({ userId: ada.id, note: null }, { ...PROMPT, category: 'below' })
      await from.items.createSkill({ userId: ben.id, note: null }, { ...SKILL, category: 'ours' })
      const [all, hers] = [join(folder, 'all'), join(folder, 'hers')]
      await exportLibrary(from.transfer, all, null)
      await exportLibrary(from.transfer, hers, ada.id)
      expect(JSON.parse(readFileSync(join(hers, 'categories.json'), 'utf8'))).toEqual([
        { slug: 'ours', name: 'Ours & theirs', parent: null },
        { slug: 'below', name: 'Below', parent: 'ours' },
      ])

      const to = await open()
      const { report, madeCategories } = await importLibrary(to, all, AS_WRITTEN)
      expect({ report, madeCategories }).toMatchObject({
        report: { created: 2, refused: 0 },
        madeCategories: ['ours', 'unused', 'below'],
      })
      const named = (await to.categories.listCategories(ANONYMOUS)).filter(({ slug }) => ['ours', 'below', 'unused'].includes(slug))
      expect(named).toEqual([
        { slug: 'unused', name: 'Unused', parent: 'coding', prompts: 0, skills: 0 },
        { slug: 'ours', name: 'Ours & theirs', parent: null, prompts: 0, skills: 1 },
        { slug: 'below', name: 'Below', parent: 'ours', prompts: 1, skills: 0 },
      ])
      // What is here stays as it is, and an export of earlier has no such file.
      await to.categories.renameCategory('ours', 'Renamed')
      expect((await importLibrary(to, all, AS_WRITTEN)).madeCategories).toEqual([])
      expect((await to.categories.listCategories(ANONYMOUS)).find(({ slug }) => slug === 'ours')?.name).toBe('Renamed')
      rmSync(join(all, 'categories.json'))
      expect((await importLibrary(to, all, AS_WRITTEN)).report).toMatchObject({ unchanged: 2, refused: 0 })
    })

    it('makes a category of the first level where its parent is not one here', async () => {
      const from = await open()
      const ada = await from.people.createUser({ username: 'ada', defaultVisibility: 'private' })
      await from.categories.createCategory({ slug: 'top', name: 'Top', parent: null })
      await from.categories.createCategory({ slug: 'leaf', name: 'Leaf', parent: 'top' })
      await from.items.createPrompt({ userId: ada.id, note: null }, { ...PROMPT, category: 'leaf' })
      await exportLibrary(from.transfer, join(folder, 'out'), null)
      const to = await open()
      await to.categories.createCategory({ slug: 'top', name: 'Top', parent: 'coding' })
      expect((await importLibrary(to, join(folder, 'out'), AS_WRITTEN)).report).toMatchObject({ created: 1, refused: 0 })
      expect((await to.categories.listCategories(ANONYMOUS)).find(({ slug }) => slug === 'leaf')).toMatchObject({
        parent: null,
        prompts: 1,
      })
    })

    it('refuses a list of categories that none of this wrote, and makes nothing', async () => {
      const to = await open()
      writeFileSync(join(folder, 'prompts.jsonl'), `${JSON.stringify({ title: 'T', content: 'c', owner: 'ada' })}\n`)
      for (const text of ['{', '{}', '[{"slug":"../x","name":"X","parent":null}]', '[{"slug":"x","name":"","parent":null}]']) {
        writeFileSync(join(folder, 'categories.json'), text)
        await expect(importLibrary(to, folder, AS_WRITTEN), text).rejects.toMatchObject({ code: 'invalid_input' })
      }
      expect(await to.service.isEmpty()).toBe(true)
      expect(await to.people.findUser('ada')).toBeNull()
    })

    it('keeps out of the lists what an administrator holds', async () => {
      const from = await open()
      const ada = await from.people.createUser({ username: 'ada', defaultVisibility: 'public' })
      const editor = { userId: ada.id, note: null }
      const prompt = await from.items.createPrompt(editor, PROMPT)
      const skill = await from.items.createSkill(editor, SKILL)
      const chosen = await from.items.createPrompt(editor, { ...PROMPT, title: 'Chosen' })
      for (const { kind, id } of [prompt, skill, chosen]) await from.marks.setHeld(kind, id, true)
      await from.items.changePrompt(chosen.id, editor, () => ({ visibility: 'private' }))
      await exportLibrary(from.transfer, join(folder, 'out'), null)

      const to = await open()
      expect((await importLibrary(to, join(folder, 'out'), { owner: undefined, visibility: 'public' })).report).toMatchObject({
        created: 3,
      })
      const owner = await to.people.findUser('ada')
      if (!owner) throw new Error('the owner was not made')
      for (const { kind, id } of [prompt, skill]) {
        expect(await to.marks.findMarks(as(owner), kind, id)).toMatchObject({ isHeld: true, role: 'maintainer' })
      }
      const publish = { userId: owner.id, note: null }
      await expect(to.items.changePrompt(prompt.id, publish, () => ({ visibility: 'public' }))).rejects.toMatchObject({ code: 'forbidden' })
      await expect(to.items.changeSkill(skill.id, publish, () => ({ visibility: 'public' }))).rejects.toMatchObject({ code: 'forbidden' })
      expect((await to.marks.listHeld({ limit: 9, offset: 0 })).items.map(({ id }) => id).toSorted()).toEqual(
        [prompt.id, skill.id].toSorted(),
      )
      // Lifting makes it what it was, under the address it had; what its owner chose meanwhile stays.
      for (const { kind, id } of [prompt, chosen]) await to.marks.setHeld(kind, id, false)
      expect(await to.items.findPrompt(ANONYMOUS, prompt.slug)).toMatchObject({ id: prompt.id, slug: prompt.slug, visibility: 'public' })
      expect(await to.items.findPrompt(as(owner), chosen.id)).toMatchObject({ visibility: 'private' })
    })

    it('refuses what is held and public at once, or held by a mark that cannot be read', async () => {
      const to = await open()
      const line = (more: object) => JSON.stringify({ title: 'T', content: 'c', owner: 'ada', author: 'ghost', ...more })
      const heldAt = '2026-01-01T00:00:00.000Z'
      const lines = [line({ visibility: 'public', heldAt }), line({ heldAt: 'yes' }), line({ heldAt, heldFrom: 'private' })]
      writeFileSync(join(folder, 'prompts.jsonl'), lines.join('\n'))
      const { report } = await importLibrary(to, folder, AS_WRITTEN)
      expect(report).toMatchObject({ read: 3, created: 0, refused: 3 })
      expect(report.remarks.join('\n')).toMatch(/Row 1 refused: An administrator[\s\S]*Row 2 refused: heldAt[\s\S]*Row 3 refused: heldFrom/)
      expect(await to.people.findUser('ghost')).toBeNull()
      // One that says nothing of its visibility is unlisted, whatever is the custom here.
      await to.people.createUser({ username: 'ada', defaultVisibility: 'public' })
      writeFileSync(join(folder, 'prompts.jsonl'), line({ heldAt, heldFrom: 'public' }))
      expect((await importLibrary(to, folder, { owner: undefined, visibility: 'public' })).report).toMatchObject({ created: 1 })
      expect((await to.marks.listHeld({ limit: 9, offset: 0 })).items).toMatchObject([{ visibility: 'unlisted' }])
    })
  })
}
