import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadWordVectors } from '../../src/ai/word-vectors-file.ts'
import type { Actor } from '../../src/library/actor.ts'
import type { PromptFields, User } from '../../src/library/items.ts'
import type { LibraryChange } from '../../src/library/library-change.ts'
import type { LibraryStore } from '../../src/library/ports.ts'
import { parseQuery } from '../../src/library/search/query.ts'
import { prepareRestored } from '../../src/storage/backup/prepare-restored.ts'
import { holdLibrary } from '../../src/storage/backup/present-library.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { openSqlite } from '../../src/storage/dialects/sqlite.ts'
import { examine } from '../../src/storage/doctor/examine.ts'
import { createStore } from '../../src/storage/store.ts'
import { countingRandom, ENGINES } from '../support/engines.ts'

/** What is deleted for good is in no table, word, file or log, and what is left is sound. */

const PROMPT: PromptFields = {
  title: 'A title',
  content: 'Some text',
  description: null,
  category: null,
  tags: [],
  type: 'TEXT',
  visibility: 'public',
}
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
      (await store.searchPrompts(asAda(), { query: parseQuery(query), filter: {}, sort: 'relevance', limit: 10, offset: 0 })).total
    const everything = async () => await engine.readEverything(database)
    const expectSound = async () => {
      const findings = await database.readSnapshot((db) => examine(db, database.dialect))
      expect(findings.filter(({ state }) => state === 'fault')).toEqual([])
    }
    const numbersOf = async (id: string) =>
      (await store.listVersions(asAda(), id, { before: null, limit: 50 })).map(({ version }) => version).toReversed()
    const isMine = ({ ownerId }: { ownerId: string }) => ownerId === ada.id
    /** A prompt whose versions are numbered in their texts. */
    const saveVersions = async (count: number, text: (version: number) => string) => {
      const { id } = await store.createPrompt(by(ada), { ...PROMPT, content: text(1) })
      for (let version = 2; version <= count; version++) await store.changePrompt(id, by(ada), () => ({ content: text(version) }))
      return id
    }

    beforeEach(async () => {
      now = Date.UTC(2026, 0, 1)
      changes.length = 0
      place = await engine.create()
      database = place.open()
      store = await createStore(database, outside)
      ada = await store.createUser({ username: 'Ada', defaultVisibility: 'private' })
    })
    afterEach(async () => {
      await store.close()
      await place.remove()
    })

    it('takes an item out of everything, and leaves its id alone', async () => {
      const kept = await store.createPrompt(by(ada), { ...PROMPT, title: 'Kept', content: 'shared words' })
      const { id, slug } = await store.createPrompt(by(ada), {
        ...PROMPT,
        title: `Title ${LEAK}a`,
        content: `${LEAK}b`,
        tags: [`${LEAK}c`],
      })
      await store.changePrompt(id, { userId: ada.id, note: `${LEAK}d` }, () => ({ description: `${LEAK}e`, content: `shared ${LEAK}f` }))
      await store.saveFormDraft(ada.id, `${LEAK}g`, { most: 5, oldest: '' })
      await store.setVote(asAda(), 'prompt', id, ada.id, true)
      expect(await find(`${LEAK}f`)).toBe(1)
      expect(await everything()).toContain(LEAK)
      changes.length = 0
      expect(await store.purgeItem('prompt', id, () => false)).toBe(false)
      expect(await store.purgeItem('prompt', id, isMine)).toBe(true)
      expect(await store.purgeItem('prompt', id, isMine)).toBe(false)
      expect(changes).toMatchObject([{ kind: 'prompt', ownerId: ada.id, isPublic: true, isPurge: true }])
      expect(await find(`${LEAK}f`)).toBe(0)
      expect(await find('shared')).toBe(1)
      expect(await store.findPrompt(asAda(), id)).toBeNull()
      expect(await everything()).not.toContain(LEAK)
      expect(await everything()).toContain(id)
      await expectSound()
      // The address is not given again, though nobody can read it any more.
      const next = await store.createPrompt(by(ada), { ...PROMPT, title: `Title ${LEAK}a` })
      expect(next.slug).not.toBe(slug)
      expect(await store.findPrompt(asAda(), kept.id)).toMatchObject({ content: 'shared words' })
    })

    it('takes an item out of the trash', async () => {
      const { id } = await store.createPrompt(by(ada), { ...PROMPT, title: LEAK, visibility: 'private' })
      expect(await store.findDeleted('prompt', id, ada.id)).toBeNull()
      await store.setDeleted('prompt', id, ada.id, true)
      expect(await store.findDeleted('prompt', id, ada.id)).toEqual({ id, title: LEAK })
      expect(await store.findDeleted('prompt', id, 'somebody else')).toBeNull()
      expect(await store.purgeItem('prompt', id, isMine)).toBe(true)
      expect((await store.listTrash(ada.id, { limit: 9, offset: 0 })).total).toBe(0)
      expect(await everything()).not.toContain(LEAK)
      await expectSound()
    })

    it('takes versions out, with words that stood in them alone', async () => {
      const id = await saveVersions(6, (version) => (version <= 3 ? `${LEAK} ${version}` : `clean ${version}`))
      expect(await store.purgeVersions('prompt', id, 'somebody else', { first: 1, last: 1 })).toBeNull()
      await expect(store.purgeVersions('prompt', id, ada.id, { first: 1, last: 6 })).rejects.toMatchObject({ code: 'conflict' })
      expect(await numbersOf(id)).toEqual([1, 2, 3, 4, 5, 6])
      expect(await store.purgeVersions('prompt', id, ada.id, { first: 2, last: 2 })).toBe(1)
      expect(await everything()).toContain(LEAK)
      await expectSound()
      expect(await store.purgeVersions('prompt', id, ada.id, { first: 1, last: 3 })).toBe(2)
      expect(await store.purgeVersions('prompt', id, ada.id, { first: 1, last: 3 })).toBe(0)
      expect(await numbersOf(id)).toEqual([4, 5, 6])
      expect(await store.findVersion(asAda(), id, 3)).toBeNull()
      expect(await everything()).not.toContain(LEAK)
      await expectSound()
      const rows = await database.reader.selectFrom('purge').select(['item_id', 'first_version', 'last_version', 'file_key']).execute()
      expect(rows).toEqual([{ item_id: id, first_version: 1, last_version: 3, file_key: null }])
    })

    it('takes a file out of the versions before, and leaves what the newest has', async () => {
      const file = (filename: string, text: string) => ({ filename, bytes: toBytes(text) })
      const { id } = await store.createSkill(by(ada), {
        ...PROMPT,
        files: [{ filename: 'SKILL.md', bytes: skillMd }, file('keys.env', `${LEAK}1`)],
      })
      await store.changeSkill(id, by(ada), () => ({ files: [{ filename: 'SKILL.md', bytes: skillMd }, file('keys.env', `${LEAK}2`)] }))
      await expect(store.purgeFile(id, ada.id, 'SKILL.md')).rejects.toMatchObject({ code: 'invalid_input' })
      expect(await store.purgeFile(id, ada.id, 'none.txt')).toBe(0)
      expect(await store.purgeFile(id, 'somebody else', 'keys.env')).toBeNull()
      expect(await store.purgeFile(id, ada.id, 'keys.env')).toBe(1)
      expect(await everything()).not.toContain(`${LEAK}1`)
      expect(await everything()).toContain(`${LEAK}2`)
      await store.changeSkill(id, by(ada), () => ({ files: [{ filename: 'SKILL.md', bytes: skillMd }] }))
      expect(await store.purgeFile(id, ada.id, 'keys.env')).toBe(1)
      expect(await everything()).not.toContain(LEAK)
      expect(await everything()).not.toContain('keys.env')
      expect(await numbersOf(id)).toEqual([1, 2, 3])
      expect(await store.findVersion(asAda(), id, 1)).toMatchObject({ files: [{ filename: 'SKILL.md' }] })
      await expectSound()
    })

    it('takes out what lay in the trash for too long, and versions beyond the newest', async () => {
      const old = await store.createPrompt(by(ada), { ...PROMPT, title: `${LEAK}old` })
      await store.setDeleted('prompt', old.id, ada.id, true)
      now += 10 * DAY_MS
      const trashBefore = new Date(now - 5 * DAY_MS).toISOString()
      const fresh = await store.createPrompt(by(ada), { ...PROMPT, title: 'Fresh' })
      await store.setDeleted('prompt', fresh.id, ada.id, true)
      const long = await saveVersions(5, (version) => `${version <= 3 ? LEAK : 'clean'} ${version}`)
      const short = await saveVersions(2, (version) => `short ${version}`)
      expect(await store.purgeExpired({ trashBefore: null, versionsKeep: null })).toEqual({ items: 0, versions: 0 })
      expect(await store.purgeExpired({ trashBefore, versionsKeep: 2 })).toEqual({ items: 1, versions: 3 })
      expect(await store.purgeExpired({ trashBefore, versionsKeep: 2 })).toEqual({ items: 0, versions: 0 })
      expect([await numbersOf(long), await numbersOf(short)]).toEqual([
        [4, 5],
        [1, 2],
      ])
      expect((await store.listTrash(ada.id, { limit: 9, offset: 0 })).items).toMatchObject([{ id: fresh.id }])
      expect(await everything()).not.toContain(LEAK)
      await expectSound()
    })

    it('removes the words when it is opened again after a kill between', async () => {
      const { id } = await store.createPrompt(by(ada), { ...PROMPT, content: LEAK })
      let left = Number.POSITIVE_INFINITY
      const failing: OpenDatabase = {
        ...database,
        transact: (work) => {
          if (left-- <= 0) throw new Error('killed')
          return database.transact(work)
        },
      }
      const killed = await createStore(failing, outside)
      left = 1
      await expect(killed.purgeItem('prompt', id, isMine)).rejects.toThrow('killed')
      const words = () => database.reader.selectFrom('word').select('word').where('word', '=', LEAK).execute()
      expect(await words()).toHaveLength(1)
      await createStore(database, outside)
      expect(await words()).toEqual([])
    })
  })
}

describe('a backup of before', () => {
  it('comes back without what was deleted for good since', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'commonplace-purges-'))
    let now = Date.UTC(2026, 0, 1)
    const outside = { clock: () => (now += 1000), random: countingRandom() }
    const [path, backup] = [join(folder, 'library.db'), join(folder, 'backup.db')]
    const database = openSqlite(path)
    const store = await createStore(database, outside)
    const ada = await store.createUser({ username: 'ada', defaultVisibility: 'public' })
    const by = { userId: ada.id, note: null }
    const actor: Actor = { kind: 'user', userId: ada.id, username: 'ada', scopes: new Set(['read', 'write']) }
    const gone = await store.createPrompt(by, { ...PROMPT, title: 'Gone' })
    const kept = await store.createPrompt(by, { ...PROMPT, title: 'Kept', content: `${LEAK} in version 1` })
    await store.changePrompt(kept.id, by, () => ({ content: 'clean' }))
    const newest = await store.createPrompt(by, { ...PROMPT, title: 'Newest', content: `${LEAK} now` })
    const skill = await store.createSkill(by, {
      ...PROMPT,
      title: 'Skill',
      files: [
        { filename: 'SKILL.md', bytes: skillMd },
        { filename: 'keys.env', bytes: toBytes(LEAK) },
      ],
    })
    await database.file?.copyTo(backup)
    await store.purgeItem('prompt', gone.id, () => true)
    await store.purgeVersions('prompt', kept.id, ada.id, { first: 1, last: 1 })
    await store.changePrompt(newest.id, by, () => ({ content: 'clean' }))
    await store.purgeVersions('prompt', newest.id, ada.id, { first: 1, last: 1 })
    await store.changeSkill(skill.id, by, () => ({ files: [{ filename: 'SKILL.md', bytes: skillMd }] }))
    await store.purgeFile(skill.id, ada.id, 'keys.env')
    await store.close()

    const present = holdLibrary(path)
    const { afterwards } = present
    present.release()
    const report = await prepareRestored(backup, afterwards, { ...outside, revokesKeys: false, vectors: loadWordVectors() })
    expect(report).toMatchObject({ knewLater: true, removedParts: 2 })
    expect(report.removedItems.toSorted()).toEqual([gone.id, newest.id].toSorted())
    const again = openSqlite(backup)
    const restored = await createStore(again, outside)
    expect(await restored.findVersion(actor, kept.id, 1)).toBeNull()
    expect(await restored.findPrompt(actor, kept.id)).toMatchObject({ content: 'clean' })
    expect(await restored.findVersion(actor, skill.id, 1)).toMatchObject({ files: [{ filename: 'SKILL.md' }] })
    const sqlite = ENGINES.find(({ name }) => name === 'sqlite')
    expect(await sqlite?.readEverything(again)).not.toContain(LEAK)
    expect((await again.readSnapshot((db) => examine(db, again.dialect))).filter(({ state }) => state === 'fault')).toEqual([])
    await restored.close()
    rmSync(folder, { recursive: true, force: true })
  })
})
