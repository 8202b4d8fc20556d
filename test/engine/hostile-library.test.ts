import { copyFileSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import type { LibraryStore } from '../../src/storage/store.ts'
import { createStore } from '../../src/storage/store.ts'
import { ENGINES } from '../support/engines.ts'
import { makeRichLibrary } from '../support/rich-library.ts'

for (const engine of ENGINES) {
  describe(`a whole-library file that somebody changed, on ${engine.name}`, () => {
    const cleanUps: (() => Promise<void>)[] = []
    let folder = ''
    let [good, bad] = ['', '']
    let target: LibraryStore
    const openNew = async (): Promise<LibraryStore> => {
      const place = await engine.create()
      cleanUps.push(place.remove)
      const store = await createStore(place.open(), SYSTEM)
      cleanUps.push(() => store.close())
      return store
    }
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'commonplace-hostile-'))
      good = join(folder, 'good.db')
      bad = join(folder, 'bad.db')
      const source = await openNew()
      await makeRichLibrary(source)
      await source.transfer.exportWhole(good)
      target = await openNew()
    })
    afterEach(async () => {
      for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
      rmSync(folder, { recursive: true, force: true })
    })
    const run = (statements: string) => {
      const file = new DatabaseSync(bad)
      file.exec(`pragma foreign_keys = off; ${statements}`)
      file.close()
    }
    /** Without a manifest, as another tool would leave it. */
    const change = (statements: string) => () => run(`drop table backup_manifest; ${statements}`)
    const set = (table: string, column: string, value: string, where = 'true') =>
      change(`update "${table}" set ${column} = ${value} where rowid = (select rowid from "${table}" where ${where} limit 1)`)
    /** Something else under the name of a table. */
    const replace = (name: string, definition: string) => change(`alter table "${name}" rename to real_${name}; ${definition}`)
    const FAULTS: readonly (readonly [string, () => unknown, RegExp])[] = [
      ['a text was changed', () => run("update item set content = 'Thrice'"), /does not match its manifest in: item\./],
      ['a table is missing', () => run('drop table vote'), /does not match its manifest in: vote\./],
      ['it was cut off', () => truncateSync(bad, 40_960), /cannot be used/],
      ['it is no database', () => writeFileSync(bad, 'x'.repeat(5_000)), /cannot be used/],
      ['it is newer', change("insert into migration values ('9999-future', '', null)"), /newer version/],
      ['its schema is of another program', set('migration', 'digest', "'x'", "name like '0007%'"), /another program/],
      ['it says to be older than it is', change("delete from migration where name > '0012'"), /brought up to date|lacks/],
      ['a view stands for a table', replace('item', 'create view item as select * from real_item'), /lacks item\./],
      ['a virtual table does', replace('vote', 'create virtual table vote using fts5(item_seq, user_seq, created_at)'), /lacks vote\./],
      ['a table has no key', replace('slug', 'create table slug (slug text, item_seq integer)'), /lacks slug\./],
      ['it refers to nothing', set('vote', 'user_seq', '999'), /refers to a missing user|FOREIGN KEY/],
      ['a file is another', set('blob', 'bytes', "x'00'"), /the bytes of .* are others/],
      ['a blob stands for a text', set('item', 'title', "x'41'"), /title .*string/],
      ['a text stands for a number', set('item', 'version', "'many'"), /version .*number/],
      ['a person is a team', set('team_member', 'team_seq', '2'), /cannot be in team/],
      [
        'an old version is gone',
        change("delete from version where number = 1 and item_seq in (select seq from item where kind = 'prompt')"),
        /of which \d+ are there/,
      ],
      ['a skill is a path', set('item', 'channel_name', "'../x'", "kind = 'skill'"), /channel_name is not the name of a skill/],
      ['a file leads outside', set('skill_file', 'filename', "'../x'", "filename = 'same.txt'"), /filename contains "\.\."/],
      [
        'a skill has no SKILL.md',
        set('skill_file', 'filename', "'other.md'", "filename = 'SKILL.md'"),
        /newest version|SKILL\.md is missing/,
      ],
      ['it is held and public', set('item', 'visibility', "'public'", 'held_at is not null'), /held and readable by others/],
      ['what is public never was', set('item', 'was_public', '0', "visibility = 'public'"), /public and never was/],
      ['a retired slug is used', change("insert into retired_slug values ('walrus-anew')"), /walrus-anew is in use, and retired/],
      ['a slug leads elsewhere', set('slug', 'slug', "'../../etc'"), /slug is not a slug/],
      [
        'a contributor owns something',
        set('item', 'owner_seq', '(select seq from "user" where contributor_key is not null)'),
        /owned by a contributor/,
      ],
      ['a user has a name of the service', set('user', 'username', "'api'"), /username is reserved/],
      ['a website runs a script', set('user', 'website', "'javascript:alert(1)'"), /website/],
      ['a text has a NUL', set('item', 'content', "'a' || char(0) || 'b'", "kind = 'prompt'"), /NUL|content of its kind/],
      ['votes were added', set('item', 'votes', '1000'), /another count than votes/],
    ]

    it('is refused in words that say what is wrong, and leaves nothing', async () => {
      const categories = await target.transfer.exportCategories()
      for (const [what, harm, reason] of FAULTS) {
        rmSync(bad, { force: true })
        copyFileSync(good, bad)
        harm()
        const refusal = await target.transfer.importWhole(bad).then(
          () => null,
          (error: unknown) => error,
        )
        expect(refusal, what).toMatchObject({ message: expect.stringMatching(reason) })
        const left = [await target.service.isEmpty(), (await target.people.listPeople({ limit: 9, offset: 0, matching: null })).total]
        expect(left, what).toEqual([true, 0])
        expect(await target.transfer.exportCategories(), what).toEqual(categories)
      }
      expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([])
      expect(await target.transfer.importWhole(good)).toMatchObject({ isNew: true })
    })

    it('gives rows of expected tables alone: no role, trigger, view, table or login comes along', async () => {
      copyFileSync(good, bad)
      change(`
        update "user" set role = 'admin';
        create table evil (x text); insert into evil values ('evil');
        create view evil_view as select * from item;
        create trigger evil_trigger after insert on item begin delete from item; end;
        insert into api_key (id, user_seq, name, sha256, scopes, created_at) values ('k', 1, 'evil', 'evil', '["write"]', '2026');
        insert into secret values ('sealing_key', 'evil')`)()
      expect(await target.transfer.importWhole(bad)).toMatchObject({ isNew: true })
      expect(await target.keys.listKeys(null)).toEqual([])
      const { items } = await target.people.listPeople({ limit: 9, offset: 0, matching: null })
      expect(items.map(({ role }) => role)).toEqual(items.map(() => 'user'))
      expect(await target.service.ensureSecret(() => 'mine')).toBe('mine')
    })
  })
}
