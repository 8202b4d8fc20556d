import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import type { PromptFields, User } from '../../src/domain/items/items.ts'
import { type Actor, ANONYMOUS } from '../../src/domain/people/actor.ts'
import { createStore, type LibraryStore } from '../../src/storage/store.ts'
import { exportLibrary, importLibrary } from '../../src/transfer/library-folder.ts'
import { ENGINES } from '../support/engines.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'

const PROMPT: PromptFields = PLAIN_PROMPT
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
      await from.items.createItem({ userId: ada.id, note: null }, { kind: 'prompt', ...PROMPT, category: 'below' })
      await from.items.createItem({ userId: ben.id, note: null }, { kind: 'skill', ...SKILL, category: 'ours' })
      const [all, hers] = [join(folder, 'all'), join(folder, 'hers')]
      await exportLibrary(from.transfer, all, null)
      await exportLibrary(from.transfer, hers, ada.id)
      expect(JSON.parse(readFileSync(join(hers, 'categories.json'), 'utf8'))).toEqual([
        { slug: 'ours', name: 'Ours & theirs', parent: null },
        { slug: 'below', name: 'Below', parent: 'ours' },
      ])

      const to = await open()
      const { report, madeCategories } = await importLibrary(to, all, AS_WRITTEN)
      expect({ report, madeCategories }).toMatchObject({ report: { created: 2, refused: 0 }, madeCategories: ['ours', 'unused', 'below'] })
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
      await from.items.createItem({ userId: ada.id, note: null }, { kind: 'prompt', ...PROMPT, category: 'leaf' })
      await exportLibrary(from.transfer, join(folder, 'out'), null)
      const to = await open()
      await to.categories.createCategory({ slug: 'top', name: 'Top', parent: 'coding' })
      expect((await importLibrary(to, join(folder, 'out'), AS_WRITTEN)).report).toMatchObject({ created: 1, refused: 0 })
      expect((await to.categories.listCategories(ANONYMOUS)).find(({ slug }) => slug === 'leaf')).toMatchObject({
        parent: null,
        prompts: 1,
      })
    })

    it('refuses lists of categories and teams that none of this wrote, and makes nothing', async () => {
      const to = await open()
      writeFileSync(join(folder, 'prompts.jsonl'), `${JSON.stringify({ title: 'T', content: 'c', owner: 'ada' })}\n`)
      for (const [file, ...rest] of [
        ['categories.json', '[{"slug":"../x","name":"X","parent":null}]', '[{"slug":"x","name":"","parent":null}]'],
        ['teams.json', '[{"name":"ada"}]', '[{"name":1,"displayName":null,"description":null,"newItems":"private"}]'],
      ] as const) {
        for (const text of ['{', '{}', ...rest]) {
          writeFileSync(join(folder, file), text)
          await expect(importLibrary(to, folder, AS_WRITTEN), text).rejects.toMatchObject({ code: 'invalid_input' })
        }
        rmSync(join(folder, file))
      }
      expect(await to.service.isEmpty()).toBe(true)
      expect(await to.people.findUser('ada')).toBeNull()
    })

    /** A team with items of two members, one of whom also owns an item, and items that changed hands. */
    const fillWithTeam = async (store: LibraryStore) => {
      const user = async (username: string) => {
        const { id } = await store.people.createUser({ username, defaultVisibility: 'private' })
        return { userId: id, isAdmin: false, note: null }
      }
      const [ann, ben, zoe] = [await user('ann'), await user('ben'), await user('zoe')]
      const about = { displayName: 'Acme Inc.', description: 'Ours.', defaultVisibility: 'members' as const, maintainer: undefined }
      const acme = await store.teams.createTeam(ann, { name: 'Acme', ...about })
      await store.teams.setMember(ann, acme.id, 'ben', 'editor')
      const [byAnn, byBen] = [
        { ...ann, ownerId: acme.id },
        { ...ben, ownerId: acme.id },
      ]
      await store.items.createItem(byAnn, { kind: 'prompt', ...PROMPT, title: 'Of Ann', visibility: 'private' })
      await store.items.createItem(byAnn, { kind: 'skill', ...SKILL, visibility: 'private' })
      await store.items.createItem(byBen, { kind: 'prompt', ...PROMPT, title: 'Of Ben', visibility: 'members' })
      await store.items.createItem(
        { userId: acme.id, note: null },
        { kind: 'prompt', ...PROMPT, title: 'Of the team', visibility: 'private' },
      )
      await store.items.createItem(ann, { kind: 'prompt', ...PROMPT, title: 'Her own', visibility: 'private' })
      // Ben is no member any more, and what Zoe has is of Ann.
      await store.teams.removeMember(ann, acme.id, 'ben')
      const given = await store.items.createItem(ann, { kind: 'prompt', ...PROMPT, title: 'Given', visibility: 'private' })
      await store.teams.setMember(ann, acme.id, 'zoe', 'maintainer')
      for (const [user, to] of [
        [ann, 'Acme'],
        [zoe, 'zoe'],
      ] as const) {
        await store.ownership.transferItem(user.userId, 'prompt', given.id, { to, leavesOutPrivate: false, makesPrivate: false })
      }
      await store.teams.removeMember(ann, acme.id, 'zoe')
      return { ann, ben, acme }
    }
    const names = async (store: LibraryStore) =>
      (await store.people.listPeople({ limit: 20, offset: 0, matching: null })).items.map(({ username }) => username).toSorted()

    it('of a team creates nothing in the same library, whoever is in the team now', async () => {
      const store = await open()
      const { ann, acme } = await fillWithTeam(store)
      const before = await names(store)
      await exportLibrary(store.transfer, join(folder, 'out'), null)
      const nothing = { report: { read: 6, unchanged: 6, created: 0, refused: 0 }, madeOwners: [], madeTeams: [] }
      expect(await importLibrary(store, join(folder, 'out'), AS_WRITTEN)).toMatchObject(nothing)
      await store.teams.changeTeam(ann, acme.id, { name: 'acme-2' })
      expect(await importLibrary(store, join(folder, 'out'), AS_WRITTEN)).toMatchObject(nothing)
      // Exports of earlier do not say who is a team.
      await store.teams.changeTeam(ann, acme.id, { name: 'Acme' })
      rmSync(join(folder, 'out', 'teams.json'))
      expect(await importLibrary(store, join(folder, 'out'), AS_WRITTEN)).toMatchObject(nothing)
      expect(await names(store)).toEqual(before)
    })

    it('of a team makes a team without members elsewhere, and no person', async () => {
      const from = await open()
      await fillWithTeam(from)
      const out = join(folder, 'out')
      await exportLibrary(from.transfer, out, null)
      expect(JSON.parse(readFileSync(join(out, 'teams.json'), 'utf8'))).toEqual([
        { name: 'Acme', displayName: 'Acme Inc.', description: 'Ours.', newItems: 'members' },
      ])

      const to = await open()
      const { report, madeOwners, madeTeams } = await importLibrary(to, out, AS_WRITTEN)
      expect({ report, madeOwners: madeOwners.toSorted(), madeTeams }).toMatchObject({
        report: { read: 6, created: 6, refused: 0 },
        madeOwners: ['ann', 'zoe'],
        madeTeams: ['Acme'],
      })
      const team = await to.teams.findTeam('acme')
      expect(team).toMatchObject({ name: 'Acme', displayName: 'Acme Inc.', description: 'Ours.', defaultVisibility: 'members' })
      expect(await to.people.findUser('acme')).toMatchObject({ isTeam: true, isPlaceholder: false })
      expect(await to.teams.countMembers(team?.id ?? '')).toBe(0)
      // Their names in a file make nobody the author of another owner's items.
      expect(await names(to)).toEqual(['ann', 'ann-2', 'ben', 'zoe'])
      expect(await to.people.findUser('ann')).toMatchObject({ isPlaceholder: false })
      expect(await importLibrary(to, out, AS_WRITTEN)).toMatchObject({ report: { unchanged: 6, created: 0, refused: 0 } })
      expect(await names(to)).toEqual(['ann', 'ann-2', 'ben', 'zoe'])
    })

    it('of a team knows authors who are members, and them alone', async () => {
      const from = await open()
      await fillWithTeam(from)
      const out = join(folder, 'out')
      await exportLibrary(from.transfer, out, null)
      const to = await open()
      const ben = await to.people.createUser({ username: 'ben', defaultVisibility: 'private' })
      const ann = await to.people.createUser({ username: 'ann', defaultVisibility: 'private' })
      const about = { displayName: null, description: null, defaultVisibility: 'private' as const, maintainer: undefined }
      const acme = await to.teams.createTeam({ userId: ben.id, isAdmin: false }, { name: 'acme', ...about })
      expect(await importLibrary(to, out, AS_WRITTEN)).toMatchObject({ report: { created: 6 }, madeOwners: ['zoe'], madeTeams: [] })
      const authors = async (author: User, title: string) => (await to.items.findImported('prompt', acme.id, author.id, title)).length
      expect([await authors(ben, 'Of Ben'), await authors(ann, 'Of Ann')]).toEqual([1, 0])
    })

    it('of a team goes to no person of its name, and that of a person to no team', async () => {
      const from = await open()
      const { ann, acme } = await fillWithTeam(from)
      const out = join(folder, 'out')
      await exportLibrary(from.transfer, out, null)
      const to = await open()
      await to.people.createUser({ username: 'acme', defaultVisibility: 'private' })
      const { report } = await importLibrary(to, out, AS_WRITTEN)
      expect(report).toMatchObject({ created: 2, refused: 4 })
      expect(report.remarks.join()).toContain('"acme" is a team in the export and a person here.')

      const other = await open()
      const zoe = await other.people.createUser({ username: 'bob', defaultVisibility: 'private' })
      const about = { displayName: null, description: null, defaultVisibility: 'private' as const, maintainer: undefined }
      await other.teams.createTeam({ userId: zoe.id, isAdmin: false }, { name: 'ann', ...about })
      const refused = (await importLibrary(other, out, AS_WRITTEN)).report
      expect(refused.remarks.join()).toContain('"ann" is a person in the export and a team here.')

      // The exported items of a deleted team do not come back under it.
      for (const kind of ['prompt', 'skill'] as const) {
        const owned = kind === 'prompt' ? await from.transfer.exportPrompts(acme.id, 0, 9) : await from.transfer.exportSkills(acme.id, 0, 9)
        for (const one of owned) await from.purges.purgeItem(kind, 'prompt' in one ? one.prompt.id : one.skill.id, '', () => true)
      }
      await from.teams.deleteTeam(ann, acme.id)
      const deleted = (await importLibrary(from, out, AS_WRITTEN)).report
      expect(deleted).toMatchObject({ unchanged: 2, refused: 4 })
      expect(deleted.remarks.join()).toContain('"Acme" is a team that was deleted here.')
    })

    it('keeps out of the lists what an administrator holds', async () => {
      const from = await open()
      const ada = await from.people.createUser({ username: 'ada', defaultVisibility: 'public' })
      const editor = { userId: ada.id, note: null }
      const prompt = await from.items.createItem(editor, { kind: 'prompt', ...PROMPT })
      const skill = await from.items.createItem(editor, { kind: 'skill', ...SKILL })
      const chosen = await from.items.createItem(editor, { kind: 'prompt', ...PROMPT, title: 'Chosen' })
      for (const { kind, id } of [prompt, skill, chosen]) await from.marks.setHeld(kind, id, true)
      await from.items.changeItem('prompt', chosen.id, editor, () => ({ visibility: 'private' }))
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
      await expect(to.items.changeItem('prompt', prompt.id, publish, () => ({ visibility: 'public' }))).rejects.toMatchObject({
        code: 'forbidden',
      })
      await expect(to.items.changeItem('skill', skill.id, publish, () => ({ visibility: 'public' }))).rejects.toMatchObject({
        code: 'forbidden',
      })
      expect((await to.marks.listHeld({ limit: 9, offset: 0 })).items.map(({ id }) => id).toSorted()).toEqual(
        [prompt.id, skill.id].toSorted(),
      )
      // Lifting makes it what it was, under the address it had; what its owner chose meanwhile stays.
      for (const { kind, id } of [prompt, chosen]) await to.marks.setHeld(kind, id, false)
      expect(await to.items.findItem(ANONYMOUS, 'prompt', prompt.slug)).toMatchObject({
        id: prompt.id,
        slug: prompt.slug,
        visibility: 'public',
      })
      expect(await to.items.findItem(as(owner), 'prompt', chosen.id)).toMatchObject({ visibility: 'private' })
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
