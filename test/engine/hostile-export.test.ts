import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import type { LibraryStore } from '../../src/library/ports/store.ts'
import { createStore } from '../../src/storage/store.ts'
import { exportWholeLibrary, importWholeLibrary } from '../../src/transfer/library-folder.ts'
import { ENGINES } from '../support/engines.ts'
import { makeRichLibrary } from '../support/rich-library.ts'

for (const engine of ENGINES) {
  describe(`a whole export that somebody changed, on ${engine.name}`, () => {
    const cleanUps: (() => Promise<void>)[] = []
    let folder = ''
    const openNew = async (): Promise<LibraryStore> => {
      const place = await engine.create()
      cleanUps.push(place.remove)
      const store = await createStore(place.open(), SYSTEM)
      cleanUps.push(() => store.close())
      return store
    }
    afterEach(async () => {
      for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
      rmSync(folder, { recursive: true, force: true })
    })
    type Line = Record<string, unknown>
    let good = ''
    let bad = ''
    let target: LibraryStore
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'commonplace-hostile-'))
      const source = await openNew()
      await makeRichLibrary(source)
      good = join(folder, 'good')
      bad = join(folder, 'bad')
      await exportWholeLibrary(source.transfer, good)
      target = await openNew()
    })
    const path = (...parts: string[]) => join(bad, ...parts)
    const edit = (file: string, change: (text: string) => string) => writeFileSync(path(file), change(readFileSync(path(file), 'utf8')))
    /** Changes the records, and what the manifest says of them. */
    const rewrite = (change: (lines: Line[]) => unknown) => {
      const lines = readFileSync(path('history', 'records.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line): Line => JSON.parse(line))
      change(lines)
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
      writeFileSync(path('history', 'records.jsonl'), text)
      const manifest = JSON.parse(readFileSync(path('history', 'manifest.json'), 'utf8'))
      const count = (kind: string) => lines.filter(({ record }) => record === kind).length
      manifest.digest = createHash('sha256').update(text).digest('hex')
      const inTrash = lines.filter(({ record, deletedAt }) => record === 'item' && deletedAt !== null).length
      manifest.counts = {
        categories: count('category'),
        users: count('user'),
        items: count('item'),
        inTrash,
        versions: count('version'),
        votes: count('vote'),
      }
      writeFileSync(path('history', 'manifest.json'), JSON.stringify(manifest))
    }
    const first = (lines: Line[], record: string, more: (line: Line) => boolean = () => true) => {
      const line = lines.find((one) => one['record'] === record && more(one))
      if (!line) throw new Error(`no ${record}`)
      return line
    }
    const blob = () => {
      const files = path('history', 'files')
      const [part = ''] = readdirSync(files)
      return join('history', 'files', part, readdirSync(join(files, part))[0] ?? '')
    }
    /** Puts a link in the place of what is there, to the same thing elsewhere. */
    const link = (...parts: string[]) => {
      const elsewhere = join(folder, `elsewhere-${parts.join('-').replaceAll('/', '-')}`)
      rmSync(elsewhere, { recursive: true, force: true })
      renameSync(path(...parts), elsewhere)
      symlinkSync(elsewhere, path(...parts))
    }
    /** Changes the first record of a kind, and the manifest with it. */
    const set = (record: string, fields: Line, more?: (line: Line) => boolean) => () =>
      rewrite((lines) => Object.assign(first(lines, record, more), fields))
    const inRecords = (change: (text: string) => string) => () => edit('history/records.jsonl', change)
    const FAULTS: readonly (readonly [string, () => unknown, RegExp])[] = [
      ['a text was changed', inRecords((text) => text.replace('Twice', 'Thrice')), /records\.jsonl does not match the manifest/],
      ['lines were cut off', inRecords((text) => text.slice(0, text.length - 300)), /not valid JSON|does not match the manifest/],
      ['a line has no end', inRecords(() => 'x'.repeat(9 * 1024 * 1024)), /a line of more than 8388608 characters/],
      ['it is newer', () => edit('history/manifest.json', (text) => text.replace('"format": 2', '"format": 3')), /newer version/],
      ['the records are missing', () => rmSync(path('history/records.jsonl')), /records\.jsonl is missing/],
      ['a person is a team', set('teamMember', { team: 'ben' }), /the team "ben", with the member "Ada", is none of it/],
      ['a file was changed', () => writeFileSync(path(blob()), 'x'), /its name does not match the digest/],
      ['a skill has a file more', () => writeFileSync(path('skills', 'a-skill', 'more.txt'), ''), /a-skill was changed/],
      ['a link stands for the history', () => link('history'), /links are not followed/],
      ['a link stands for a file', () => link(blob()), /links are not followed/],
      ['a link stands for the skills', () => link('skills'), /skills was changed/],
      ['an old version lacks its text', () => rewrite((lines) => delete first(lines, 'version')['title']), /is not whole/],
      ['a vote is of nobody', set('vote', { user: 'nobody' }), /"nobody" is no user/],
      ['a skill is a path', set('item', { channelName: '../x' }, ({ kind }) => kind === 'skill'), /channelName is not the name of a skill/],
      ['it is held and public', set('item', { visibility: 'public' }, ({ heldAt }) => heldAt !== null), /held and public at once/],
      ['what is public never was', set('item', { wasPublic: false }), /public and never was/],
      ['a retired slug is used', set('retiredSlug', { slug: 'walrus-anew' }), /"walrus-anew" is there twice/],
      ['a slug leads elsewhere', set('slug', { slug: '../../etc' }), /slug is not a slug/],
      ['an owner is nobody', set('item', { owner: 'nobody' }), /owner "nobody" is no user/],
      ['a user has a name of the service', set('user', { username: 'api' }), /username is reserved/],
      ['a user comes with a password', set('user', { password: 'x' }), /password/],
      ['a text has a NUL', set('item', { content: 'a\0b' }), /content contains a NUL/],
    ]

    it('is refused in words that say what is wrong, and leaves nothing', async () => {
      const categories = await target.transfer.exportCategories()
      for (const [what, harm, reason] of FAULTS) {
        rmSync(bad, { recursive: true, force: true })
        cpSync(good, bad, { recursive: true })
        harm()
        const refusal = await importWholeLibrary(target.transfer, bad).then(
          () => null,
          (error: unknown) => error,
        )
        expect(refusal, what).toMatchObject({ code: 'invalid_input', message: expect.stringMatching(reason) })
        const left = [await target.service.isEmpty(), (await target.people.listPeople({ limit: 9, offset: 0, matching: null })).total]
        expect(left, what).toEqual([true, 0])
        expect(await target.transfer.exportCategories(), what).toEqual(categories)
      }
      expect(await importWholeLibrary(target.transfer, good)).toMatchObject({ isNew: true })
    })
  })
}
