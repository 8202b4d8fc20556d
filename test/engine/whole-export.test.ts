import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import { type Actor, ANONYMOUS } from '../../src/library/actor.ts'
import type { LibraryStore } from '../../src/library/ports/store.ts'
import { parseQuery } from '../../src/search/analysis/query.ts'
import { createStore } from '../../src/storage/store.ts'
import { exportLibrary, exportWholeLibrary, importLibrary, importWholeLibrary } from '../../src/transfer/library-folder.ts'
import { ENGINES, type Engine } from '../support/engines.ts'
import { readTree } from '../support/read-tree.ts'
import { makeRichLibrary, SECRETS } from '../support/rich-library.ts'

const AS_WRITTEN = { owner: undefined, visibility: undefined }
const cleanUps: (() => Promise<void>)[] = []
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-whole-'))
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
  rmSync(folder, { recursive: true, force: true })
})

/** A new library, and how another process opens it. */
async function openPlace(engine: Engine) {
  const place = await engine.create()
  cleanUps.push(place.remove)
  const open = async (): Promise<LibraryStore> => {
    const store = await createStore(place.open(), SYSTEM)
    cleanUps.push(() => store.close())
    return store
  }
  return { open, openDatabase: place.open }
}
const openNew = async (engine: Engine) => await (await openPlace(engine)).open()

async function actAs(store: LibraryStore, username: string): Promise<Actor> {
  const user = await store.people.findUser(username)
  if (!user) throw new Error(`there is no ${username}`)
  return { kind: 'user', userId: user.id, username: user.username, scopes: new Set(['read', 'write']) }
}
const titles = async (store: LibraryStore, actor: Actor, query: string) => {
  const request = { query: parseQuery(query), filter: {}, sort: 'relevance', limit: 10, offset: 0 } as const
  return (await store.items.searchPrompts(actor, request)).items.map((item) => item.title)
}
/** Everything below a folder, with what would tell a damaged copy from a whole one. */
const modes = (root: string) =>
  readdirSync(root, { recursive: true, withFileTypes: true }).map((entry) => [
    entry.isDirectory(),
    statSync(join(entry.parentPath, entry.name)).mode & 0o777,
  ])

for (const engine of ENGINES) {
  describe(`a whole export on ${engine.name}`, () => {
    it('is the same library again, to the byte and the digest', async () => {
      const source = await openNew(engine)
      const was = await makeRichLibrary(source)
      // A change of tags is in the log alone, with who made it.
      const { id: userId } = (await source.people.findUser('ada')) ?? { id: '' }
      await source.audit.actingAs({ actorId: userId, keyId: null, surface: 'web' }, () =>
        source.items.changePrompt(was.published.id, { userId, note: null }, () => ({ tags: ['filed'] })),
      )
      const [one, two] = [join(folder, 'one'), join(folder, 'two')]
      const written = await exportWholeLibrary(source.transfer, one)
      expect(written).toMatchObject({
        prompts: 6,
        skills: 2,
        counts: { categories: 33, users: 6, items: 10, inTrash: 2, versions: 14, votes: 4 },
      })
      const place = await openPlace(engine)
      const target = await place.open()
      const other = await place.open()
      // Both have answered before, from nothing.
      for (const store of [target, other]) expect(await titles(store, ANONYMOUS, 'walrus')).toEqual([])
      const read = await importWholeLibrary(target.transfer, one)
      expect(read).toEqual({ digest: written.digest, counts: written.counts, isNew: true })
      expect((await exportWholeLibrary(target.transfer, two)).digest).toBe(written.digest)
      expect(readTree(two)).toEqual(readTree(one))
      for (const store of [target, other, await place.open()]) {
        expect(await titles(store, ANONYMOUS, 'walrus')).toEqual(['Quiet walrus'])
        expect(await titles(store, ANONYMOUS, 'marmot capybara held')).toEqual([])
      }
      const ada = await actAs(target, 'ada')
      const ben = await actAs(target, 'ben')
      expect(await titles(target, ben, 'marmot')).toEqual(['北京'])
      // Versions with their notes and texts, each under the visibility it was written under.
      const page = { before: null, limit: 10 }
      expect(await target.items.listVersions(ada, was.published.id, page)).toMatchObject([
        { version: 3, note: 'new address', author: 'Ada', visibility: 'public' },
        { version: 2, note: null, visibility: 'public' },
        { version: 1, note: 'first', visibility: 'private', createdAt: was.published.createdAt },
      ])
      expect((await target.items.listVersions(ANONYMOUS, was.published.id, page)).map(({ version }) => version)).toEqual([3, 2])
      expect(await target.items.findVersion(ada, was.published.id, 1)).toMatchObject({
        content: 'Once ${name:the dé faut}\u2028\r\n',
        category: 'passing',
        type: 'TEXT',
      })
      const last = await target.items.findLastChange(was.published.id)
      expect(last).toMatchObject({ version: 3, tags: ['filed'], actorId: ada.kind === 'user' && ada.userId, before: { version: 3 } })
      // Addresses of earlier lead on, and those of what is gone lead nowhere for ever.
      expect(await target.items.findPrompt(ANONYMOUS, 'quiet-walrus')).toMatchObject({ id: was.published.id })
      expect(await target.items.findPrompt(ada, was.published.slug)).toMatchObject({ id: was.published.id })
      expect(await target.items.findPrompt(ANONYMOUS, was.symbols.id)).toMatchObject({ slug: was.symbols.id })
      const fields = { title: 'Lost for good', content: 'c', description: null, category: null, tags: [], type: 'TEXT' as const }
      const again = await target.items.createPrompt(
        { userId: ada.kind === 'user' ? ada.userId : '', note: null },
        { ...fields, visibility: 'public' },
      )
      expect(again.slug).toBe('lost-for-good-2')
    })

    it('is for its owner alone, and lets nobody in', async () => {
      const store = await openNew(engine)
      await makeRichLibrary(store)
      const out = join(folder, 'out')
      await exportWholeLibrary(store.transfer, out)
      expect(statSync(out).mode & 0o777).toBe(0o700)
      for (const [isFolder, mode] of modes(out)) expect(mode).toBe(isFolder ? 0o700 : 0o600)
      const all = Buffer.concat([...readTree(out).values()].map((text) => Buffer.from(text, 'base64'))).toString('latin1')
      for (const [name, secret] of Object.entries(SECRETS)) expect(all.includes(secret), name).toBe(false)
      expect(all).not.toMatch(/passwor|login|"role"|"email"|default_?visibility|cpb_/i)
      expect(all).toContain('https://ada.example.org/')
    })

    it('changes nothing when it is imported again, and is refused where there is something else', async () => {
      const source = await openNew(engine)
      await makeRichLibrary(source)
      const out = join(folder, 'out')
      const written = await exportWholeLibrary(source.transfer, out)
      expect(await importWholeLibrary(source.transfer, out)).toEqual({ digest: written.digest, counts: written.counts, isNew: false })
      const target = await openNew(engine)
      await importWholeLibrary(target.transfer, out)
      expect(await importWholeLibrary(target.transfer, out)).toMatchObject({ isNew: false })

      // Somebody who can sign in here gets nothing from a file.
      const taken = await openNew(engine)
      await taken.people.createLogin({ username: 'ada', email: null, passwordHash: 'x', inviteSha256: null }, () => 'admin')
      await expect(importWholeLibrary(taken.transfer, out)).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringMatching(/--without-history/),
      })
      expect(await taken.service.isEmpty()).toBe(true)
      await source.people.changeProfile((await source.people.findUser('ada'))?.id ?? '', { bio: 'changed' })
      await expect(importWholeLibrary(source.transfer, out)).rejects.toMatchObject({ code: 'conflict' })
      // The readable part comes into any library, as that of any export does.
      expect((await importLibrary(taken, out, AS_WRITTEN)).report).toMatchObject({ read: 8, created: 8, refused: 0 })
      await exportLibrary(source.transfer, join(folder, 'plain'), null)
      await expect(importWholeLibrary((await openNew(engine)).transfer, join(folder, 'plain'))).rejects.toMatchObject({
        code: 'invalid_input',
      })
    })
  })
}
