import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadWordVectors } from '../../src/ai/kept-vectors.ts'
import type { LibraryChange } from '../../src/domain/items/changes.ts'
import type { PromptFields, User } from '../../src/domain/items/items.ts'
import type { Actor } from '../../src/domain/people/actor.ts'
import type { TeamRole } from '../../src/domain/people/teams.ts'
import { parseQuery } from '../../src/search/analysis/query.ts'
import { holdLibrary } from '../../src/storage/backup/present-library.ts'
import { prepareRestored } from '../../src/storage/backup/restore-backup.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { openSqlite } from '../../src/storage/dialects/sqlite.ts'
import { examine } from '../../src/storage/doctor/examine.ts'
import { createStore, type LibraryStore } from '../../src/storage/store.ts'
import { countingRandom, ENGINES, replaceInFile } from '../support/engines.ts'
import { writeEmptyLibrary } from '../support/library-file.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'

/** What is deleted for good is in no table, word, file or log, and what is left is sound. */

const PROMPT: PromptFields = PLAIN_PROMPT
/** Letters that stand nowhere else. */
const LEAK = 'xqzleakword'
const DAY_MS = 86_400_000
const toBytes = (text: string) => new TextEncoder().encode(text)
const skillMd = toBytes('---\nname: tidy\ndescription: Tidy a room.\n---\n')

for (const engine of ENGINES) {
  describe(`deleting for good on ${engine.name}`, () => {
    let place: Awaited<ReturnType<(typeof engine)['create']>>
    let database: OpenDatabase
    let store: LibraryStore
    let ada: User
    let now: number
    const changes: LibraryChange[] = []
    const outside = { clock: () => (now += 1000), random: countingRandom(), onChange: (change: LibraryChange) => changes.push(change) }
    const by = (user: User) => ({ userId: user.id, note: null })
    const asAda = (): Actor => ({ kind: 'user', userId: ada.id, username: ada.username, scopes: new Set(['read', 'write']) })
    const find = async (query: string) =>
      (await store.items.searchItems(asAda(), 'prompt', { query: parseQuery(query), filter: {}, sort: 'relevance', limit: 10, offset: 0 }))
        .total
    const everything = async () => await engine.readEverything(database)
    const expectSound = async () => {
      const findings = await database.readSnapshot((db) => examine(db, database.dialect))
      expect(findings.filter(({ state }) => state === 'fault')).toEqual([])
    }
    const numbersOf = async (id: string) =>
      (await store.items.listVersions(asAda(), id, { before: null, limit: 50 })).map(({ version }) => version).toReversed()
    const isMine = (_item: unknown, role: TeamRole | null) => role !== null
    /** A prompt whose versions are numbered in their texts. */
    const saveVersions = async (count: number, text: (version: number) => string) => {
      const { id } = await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, content: text(1) })
      for (let version = 2; version <= count; version++)
        await store.items.changeItem('prompt', id, by(ada), () => ({ content: text(version) }))
      return id
    }

    beforeEach(async () => {
      now = Date.UTC(2026, 0, 1)
      changes.length = 0
      place = await engine.create()
      database = place.open()
      store = await createStore(database, outside)
      ada = await store.people.createUser({ username: 'Ada', defaultVisibility: 'private' })
    })
    afterEach(async () => {
      await store.close()
      await place.remove()
    })

    it('takes an item out of everything, and leaves its id alone', async () => {
      const kept = await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'Kept', content: 'shared words' })
      const { id, slug } = await store.items.createItem(by(ada), {
        kind: 'prompt',
        ...PROMPT,
        title: `Title ${LEAK}a`,
        content: `${LEAK}b`,
        tags: [`${LEAK}c`],
      })
      await store.items.changeItem('prompt', id, { userId: ada.id, note: `${LEAK}d` }, () => ({
        description: `${LEAK}e`,
        content: `shared ${LEAK}f`,
      }))
      await store.formDrafts.saveFormDraft(ada.id, 'form', JSON.stringify({ path: `/prompts/${slug}/edit`, text: `${LEAK}g` }))
      const other = await store.formDrafts.saveFormDraft(ada.id, 'form', JSON.stringify({ path: '/prompts/another/edit', text: 'other' }))
      await store.marks.setVote(asAda(), 'prompt', id, ada.id, true)
      expect(await find(`${LEAK}f`)).toBe(1)
      expect(await everything()).toContain(LEAK)
      changes.length = 0
      expect(await store.purges.purgeItem('prompt', id, '', () => false)).toBe(false)
      expect(await store.purges.purgeItem('prompt', id, ada.id, isMine)).toBe(true)
      expect(await store.purges.purgeItem('prompt', id, ada.id, isMine)).toBe(false)
      expect(changes).toMatchObject([{ kind: 'prompt', ownerId: ada.id, audience: 'everybody', isPurge: true }])
      expect(await find(`${LEAK}f`)).toBe(0)
      expect(await find('shared')).toBe(1)
      expect(await store.items.findItem(asAda(), 'prompt', id)).toBeNull()
      expect(await everything()).not.toContain(LEAK)
      expect(await everything()).toContain(id)
      expect(await store.formDrafts.findFormDraft(ada.id, 'form', other)).toContain('other')
      await expectSound()
      // The address is not given again, though nobody can read it any more.
      const next = await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: `Title ${LEAK}a` })
      expect(next.slug).not.toBe(slug)
      expect(await store.items.findItem(asAda(), 'prompt', kept.id)).toMatchObject({ content: 'shared words' })
    })

    it('takes an item out of the trash', async () => {
      const { id } = await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: LEAK, visibility: 'private' })
      expect(await store.purges.findDeleted('prompt', id, ada.id)).toBeNull()
      await store.items.setDeleted('prompt', id, ada.id, true)
      expect(await store.purges.findDeleted('prompt', id, ada.id)).toEqual({ id, title: LEAK })
      expect(await store.purges.findDeleted('prompt', id, 'somebody else')).toBeNull()
      expect(await store.purges.purgeItem('prompt', id, ada.id, isMine)).toBe(true)
      expect((await store.items.listTrash(ada.id, { limit: 9, offset: 0 })).total).toBe(0)
      expect(await everything()).not.toContain(LEAK)
      await expectSound()
    })

    it('takes versions out, with words that stood in them alone', async () => {
      const id = await saveVersions(6, (version) => (version <= 3 ? `${LEAK} ${version}` : `clean ${version}`))
      await store.formDrafts.saveFormDraft(ada.id, 'form', JSON.stringify({ path: `/prompts/${id}/edit`, text: LEAK }))
      expect(await store.purges.purgeVersions('prompt', id, 'somebody else', { first: 1, last: 1 })).toBeNull()
      await expect(store.purges.purgeVersions('prompt', id, ada.id, { first: 1, last: 6 })).rejects.toMatchObject({ code: 'conflict' })
      expect(await numbersOf(id)).toEqual([1, 2, 3, 4, 5, 6])
      expect(await store.purges.purgeVersions('prompt', id, ada.id, { first: 2, last: 2 })).toBe(1)
      expect(await everything()).toContain(LEAK)
      await expectSound()
      expect(await store.purges.purgeVersions('prompt', id, ada.id, { first: 1, last: 3 })).toBe(2)
      expect(await store.purges.purgeVersions('prompt', id, ada.id, { first: 1, last: 3 })).toBe(0)
      expect(await numbersOf(id)).toEqual([4, 5, 6])
      expect(await store.items.findVersion(asAda(), id, 3)).toBeNull()
      expect(await everything()).not.toContain(LEAK)
      await expectSound()
      const gaps = database.reader.selectFrom('purge').select(['item_id', 'first_version', 'last_version']).where('file_key', 'is', null)
      expect(await gaps.execute()).toEqual([{ item_id: id, first_version: 1, last_version: 3 }])
    })

    it('takes a file out of the versions before, and leaves what the newest has', async () => {
      const file = (filename: string, text: string) => ({ filename, bytes: toBytes(text) })
      const { id } = await store.items.createItem(by(ada), {
        kind: 'skill',
        ...PROMPT,
        files: [{ filename: 'SKILL.md', bytes: skillMd }, file('keys.env', `${LEAK}1`)],
      })
      await store.items.changeItem('skill', id, by(ada), () => ({
        files: [{ filename: 'SKILL.md', bytes: skillMd }, file('keys.env', `${LEAK}2`)],
      }))
      await expect(store.purges.purgeFile(id, ada.id, 'SKILL.md')).rejects.toMatchObject({ code: 'invalid_input' })
      expect(await store.purges.purgeFile(id, ada.id, 'none.txt')).toBe(0)
      expect(await store.purges.purgeFile(id, 'somebody else', 'keys.env')).toBeNull()
      expect(await store.purges.purgeFile(id, ada.id, 'keys.env')).toBe(1)
      expect(await everything()).not.toContain(`${LEAK}1`)
      expect(await everything()).toContain(`${LEAK}2`)
      await store.items.changeItem('skill', id, by(ada), () => ({ files: [{ filename: 'SKILL.md', bytes: skillMd }] }))
      expect(await store.purges.purgeFile(id, ada.id, 'keys.env')).toBe(1)
      expect(await everything()).not.toContain(LEAK)
      expect(await everything()).not.toContain('keys.env')
      expect(await numbersOf(id)).toEqual([1, 2, 3])
      expect(await store.items.findVersion(asAda(), id, 1)).toMatchObject({ files: [{ filename: 'SKILL.md' }] })
      await expectSound()
    })

    it('takes out what lay in the trash for too long, and versions beyond the newest', async () => {
      const old = await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: `${LEAK}old` })
      await store.items.setDeleted('prompt', old.id, ada.id, true)
      now += 10 * DAY_MS
      const trashBefore = new Date(now - 5 * DAY_MS).toISOString()
      const fresh = await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'Fresh' })
      await store.items.setDeleted('prompt', fresh.id, ada.id, true)
      const long = await saveVersions(5, (version) => `${version <= 3 ? LEAK : 'clean'} ${version}`)
      const short = await saveVersions(2, (version) => `short ${version}`)
      expect(await store.purges.purgeExpired({ trashBefore: null, versionsKeep: null })).toEqual({ items: 0, versions: 0 })
      expect(await store.purges.purgeExpired({ trashBefore, versionsKeep: 2 })).toEqual({ items: 1, versions: 3 })
      expect(await store.purges.purgeExpired({ trashBefore, versionsKeep: 2 })).toEqual({ items: 0, versions: 0 })
      expect([await numbersOf(long), await numbersOf(short)]).toEqual([
        [4, 5],
        [1, 2],
      ])
      expect((await store.items.listTrash(ada.id, { limit: 9, offset: 0 })).items).toMatchObject([{ id: fresh.id }])
      expect(await everything()).not.toContain(LEAK)
      await expectSound()
    })

    it('counts the versions there are, not their numbers', async () => {
      const id = await saveVersions(8, (version) => `text ${version}`)
      await store.purges.purgeVersions('prompt', id, ada.id, { first: 4, last: 7 })
      expect(await store.purges.purgeExpired({ trashBefore: null, versionsKeep: 3 })).toEqual({ items: 0, versions: 1 })
      expect(await numbersOf(id)).toEqual([2, 3, 8])
      await expectSound()
    })

    it('is finished later when it could not be at once', async () => {
      const { id } = await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, content: LEAK })
      let fails = false
      const failing = replaceInFile(database, {
        async emptyLog() {
          if (fails) throw new Error('disk full')
          return (await database.file?.emptyLog()) ?? true
        },
      })
      const other = await createStore(failing, outside)
      fails = true
      // The deletion has been made, whatever is left to do.
      expect(await other.purges.purgeItem('prompt', id, ada.id, isMine)).toBe(true)
      const due = () => database.reader.selectFrom('secret').select('name').where('name', '=', 'sweep_due').execute()
      expect(await due()).toHaveLength(1)
      await expect(other.purges.finishDeletions()).rejects.toThrow('disk full')
      // Whoever opens the library meanwhile is not kept from it.
      expect((await createStore(failing, outside)).service.readUsage).toBeTypeOf('function')
      expect(await due()).toHaveLength(1)
      fails = false
      await other.purges.finishDeletions()
      expect(await due()).toEqual([])
      expect(await everything()).not.toContain(LEAK)
    })
  })
}

// A server's backups are a matter of its own tools.
describe.runIf(ENGINES.some(({ name }) => name === 'sqlite'))('a backup of before', () => {
  let folder: string
  let path: string
  let now = Date.UTC(2026, 0, 1)
  const outside = { clock: () => (now += 1000), random: countingRandom() }
  const by = (ada: User) => ({ userId: ada.id, note: null })
  const asUser = (ada: User): Actor => ({ kind: 'user', userId: ada.id, username: 'ada', scopes: new Set(['read', 'write']) })
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'commonplace-purges-'))
    path = join(folder, 'library.db')
    await writeEmptyLibrary(path)
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /** Does something with the library at `path`. */
  async function use<T>(work: (store: LibraryStore, database: OpenDatabase, ada: User) => Promise<T>): Promise<T> {
    const database = openSqlite(path)
    const store = await createStore(database, outside)
    const ada = (await store.people.findUser('ada')) ?? (await store.people.createUser({ username: 'ada', defaultVisibility: 'public' }))
    const result = await work(store, database, ada)
    await store.close()
    return result
  }
  const backUp = async (name: string) => {
    const target = join(folder, name)
    await use((_, database) => database.file?.copyTo(target) ?? Promise.resolve())
    return target
  }
  /** Puts a copy in the place of the library, as `restore-backup` does, and keeps what stood there. */
  async function restore(backup: string, keptAs: string) {
    const present = await holdLibrary(path)
    const { afterwards } = present
    present.release()
    const prepared = join(folder, 'prepared.db')
    copyFileSync(backup, prepared)
    const report = await prepareRestored(prepared, afterwards, { ...outside, revokesKeys: false, vectors: loadWordVectors() })
    renameSync(path, keptAs)
    renameSync(prepared, path)
    return report
  }
  const save = (store: LibraryStore, ada: User, content: string) => store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, content })
  const expectSound = () =>
    use(async (_, database) => {
      const findings = await database.readSnapshot((db) => examine(db, database.dialect))
      expect(findings.filter(({ state }) => state === 'fault')).toEqual([])
    })
  const everything = async () => readFileSync(path, 'latin1')

  it('comes back without what was deleted for good since', async () => {
    const made = await use(async (store, _, ada) => {
      const gone = await save(store, ada, 'gone')
      const kept = await save(store, ada, `${LEAK} in version 1`)
      await store.items.changeItem('prompt', kept.id, by(ada), () => ({ content: 'clean' }))
      const newest = await save(store, ada, `${LEAK} now`)
      const files = [
        { filename: 'SKILL.md', bytes: skillMd },
        { filename: 'keys.env', bytes: toBytes(LEAK) },
      ]
      return { gone, kept, newest, skill: await store.items.createItem(by(ada), { kind: 'skill', ...PROMPT, title: 'Skill', files }) }
    })
    const backup = await backUp('backup.db')
    await use(async (store, _, ada) => {
      await store.purges.purgeItem('prompt', made.gone.id, '', () => true)
      await store.purges.purgeVersions('prompt', made.kept.id, ada.id, { first: 1, last: 1 })
      await store.items.changeItem('prompt', made.newest.id, by(ada), () => ({ content: 'clean' }))
      await store.purges.purgeVersions('prompt', made.newest.id, ada.id, { first: 1, last: 1 })
      await store.items.changeItem('skill', made.skill.id, by(ada), () => ({ files: [{ filename: 'SKILL.md', bytes: skillMd }] }))
      await store.purges.purgeFile(made.skill.id, ada.id, 'keys.env')
    })
    const report = await restore(backup, `${path}.first`)
    expect(report).toMatchObject({ knewLater: true, removedParts: 2 })
    expect(report.removedItems.toSorted()).toEqual([made.gone.id, made.newest.id].toSorted())
    await use(async (store, _, ada) => {
      expect(await store.items.findVersion(asUser(ada), made.kept.id, 1)).toBeNull()
      expect(await store.items.findItem(asUser(ada), 'prompt', made.kept.id)).toMatchObject({ content: 'clean' })
      expect(await store.items.findVersion(asUser(ada), made.skill.id, 1)).toMatchObject({ files: [{ filename: 'SKILL.md' }] })
    })
    expect(await everything()).not.toContain(LEAK)
    await expectSound()

    // The copy of the library that stood there has a newer version: the item is there again, and what was deleted is not.
    const again = await restore(`${path}.first`, `${path}.second`)
    expect(again.removedItems).toEqual([])
    await use(async (store, _, ada) => {
      expect(await store.items.findItem(asUser(ada), 'prompt', made.newest.id)).toMatchObject({ content: 'clean' })
      expect(await store.items.findItem(asUser(ada), 'prompt', made.gone.id)).toBeNull()
    })
    expect(await everything()).not.toContain(LEAK)
    await expectSound()
  })

  it('keeps what was deleted for good gone, over any order of restores', async () => {
    await use(async (store, _, ada) => save(store, ada, 'first'))
    const early = await backUp('early.db')
    const { id } = await use((store, _, ada) => save(store, ada, LEAK))
    const late = await backUp('late.db')
    await use((store) => store.purges.purgeItem('prompt', id, '', () => true))
    await restore(early, `${path}.one`)
    expect((await restore(late, `${path}.two`)).removedItems).toEqual([id])
    expect(await everything()).not.toContain(LEAK)
    expect((await restore(early, `${path}.three`)).removedItems).toEqual([])
    expect((await restore(late, `${path}.four`)).removedItems).toEqual([id])
  })

  it('brings back what went by age and number alone', async () => {
    const { long, old } = await use(async (store, _, ada) => {
      const long = await save(store, ada, 'one')
      await store.items.changeItem('prompt', long.id, by(ada), () => ({ content: 'two' }))
      return { long, old: await save(store, ada, 'old') }
    })
    const backup = await backUp('backup.db')
    await use(async (store, _, ada) => {
      for (const content of ['three', 'four', 'five']) await store.items.changeItem('prompt', long.id, by(ada), () => ({ content }))
      await store.items.setDeleted('prompt', old.id, ada.id, true)
      await store.purges.purgeExpired({ trashBefore: new Date(now + DAY_MS).toISOString(), versionsKeep: 1 })
    })
    for (const keptAs of [`${path}.one`, `${path}.two`]) {
      expect(await restore(backup, keptAs)).toMatchObject({ removedItems: [], removedParts: 0 })
      await use(async (store, _, ada) => {
        expect(await store.items.findItem(asUser(ada), 'prompt', long.id)).toMatchObject({ content: 'two', version: 2 })
        expect(await store.items.findItem(asUser(ada), 'prompt', old.id)).toMatchObject({ content: 'old' })
      })
      await expectSound()
    }
  })

  it('leaves a version of the same number that was written after another restore', async () => {
    const { id } = await use((store, _, ada) => save(store, ada, 'one'))
    const backup = await backUp('backup.db')
    await use(async (store, _, ada) => {
      for (const content of [LEAK, 'three']) await store.items.changeItem('prompt', id, by(ada), () => ({ content }))
      await store.purges.purgeVersions('prompt', id, ada.id, { first: 2, last: 2 })
    })
    await restore(backup, `${path}.one`)
    await use((store, _, ada) => store.items.changeItem('prompt', id, by(ada), () => ({ content: 'another two' })))
    await expectSound()
    const later = await backUp('later.db')
    expect(await restore(later, `${path}.two`)).toMatchObject({ removedItems: [], removedParts: 0 })
    await use(async (store, _, ada) =>
      expect(await store.items.findItem(asUser(ada), 'prompt', id)).toMatchObject({ content: 'another two' }),
    )
  })

  it('keeps what a file held that was never deleted', async () => {
    const skillWith = (text: string) => [
      { filename: 'SKILL.md', bytes: skillMd },
      { filename: 'run.sh', bytes: toBytes(text) },
    ]
    const { id } = await use((store, _, ada) => store.items.createItem(by(ada), { kind: 'skill', ...PROMPT, files: skillWith('good') }))
    const backup = await backUp('backup.db')
    await use(async (store, _, ada) => {
      for (const text of [LEAK, 'good']) await store.items.changeItem('skill', id, by(ada), () => ({ files: skillWith(text) }))
      expect(await store.purges.purgeFile(id, ada.id, 'run.sh')).toBe(1)
    })
    expect(await restore(backup, `${path}.one`)).toMatchObject({ removedParts: 0 })
    await use(async (store, _, ada) => {
      expect((await store.items.readSkillFiles(asUser(ada), id)).map(({ filename }) => filename)).toEqual(['SKILL.md', 'run.sh'])
    })
  })
})
