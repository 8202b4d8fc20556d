import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import type { LibraryStore } from '../../src/library/ports/store.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { examine, type Finding, repair } from '../../src/storage/doctor/examine.ts'
import type { Database } from '../../src/storage/schema.ts'
import { createStore } from '../../src/storage/store.ts'
import { ENGINES } from '../support/engines.ts'

/** What the doctor must see, each made in a library that is sound otherwise. */
const FAULTS: readonly { check: string; harm: (db: Kysely<Database>) => Promise<unknown>; fault: RegExp; isMended: boolean }[] = [
  {
    check: 'files',
    harm: (db) => sql`update blob set bytes = ${new Uint8Array([1])} where sha256 = (select min(sha256) from blob)`.execute(db),
    fault: /^the bytes of [0-9a-f]{64} are others$/,
    isMended: false,
  },
  {
    check: 'unused files',
    harm: (db) =>
      sql`insert into blob (sha256, bytes) values ('4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a', ${new Uint8Array([1])})`.execute(
        db,
      ),
    fault: /^4bf5/,
    isMended: true,
  },
  {
    check: 'versions',
    harm: (db) => sql`delete from version where number = 1 and item_seq = (select seq from item where kind = 'prompt')`.execute(db),
    fault: /^prompt \S+ has versions up to 2, of which 1 are there$/,
    isMended: false,
  },
  {
    check: 'newest versions',
    harm: (db) => sql`update item set content = 'another' where kind = 'prompt'`.execute(db),
    fault: /^prompt \S+ is not what its newest version is$/,
    isMended: false,
  },
  {
    check: 'newest versions',
    harm: (db) => sql`delete from skill_file where filename <> 'SKILL.md'`.execute(db),
    fault: /^skill \S+ is not what its newest version is$/,
    isMended: false,
  },
  {
    check: 'addresses',
    harm: (db) => sql`update item set slug = 'elsewhere' where kind = 'prompt'`.execute(db),
    fault: /^prompt \S+ is not found by its address elsewhere$/,
    isMended: false,
  },
  {
    check: 'teams',
    harm: (db) =>
      sql`insert into team_member (team_seq, user_seq, role, joined_at) select seq, seq, 'reader', created_at from "user"`.execute(db),
    fault: /^user \S+ cannot be in team \S+$/,
    isMended: false,
  },
  {
    check: 'teams',
    harm: (db) => sql`insert into former_name (username_key, user_seq) select username_key, seq from "user"`.execute(db),
    fault: /^user \S+ has the former name of a team$/,
    isMended: false,
  },
  {
    check: 'addresses',
    harm: (db) =>
      sql`insert into collection (id, slug, owner_seq, title, title_key, visibility, was_public, version, created_at, updated_at)
        select 'lost', 'nowhere', seq, '', '', 'public', 1, 1, '', '' from "user" limit 1`.execute(db),
    fault: /^collection lost is not found by its address nowhere$/,
    isMended: false,
  },
  {
    check: 'votes',
    harm: (db) => sql`update item set votes = 7`.execute(db),
    fault: /^(prompt|skill) \S+ has another count than votes$/,
    isMended: true,
  },
  {
    check: 'search words',
    harm: (db) => sql`delete from item_words where item_seq = (select seq from item where kind = 'prompt')`.execute(db),
    fault: /^prompt \S+ lacks words$/,
    isMended: true,
  },
  {
    check: 'search words',
    harm: (db) => sql`delete from word where word = 'walrus'`.execute(db),
    fault: /^prompt \S+ lacks words$/,
    isMended: true,
  },
  {
    check: 'words of removed items',
    harm: (db) =>
      sql`insert into item_words (item_seq, revision, analysis, title_length, body_length, words) values (999, 999, 1, 1, 1, ${new Uint8Array([1, 1])})`.execute(
        db,
      ),
    fault: /^row 999 has words$/,
    isMended: true,
  },
  {
    check: 'vectors',
    harm: (db) =>
      sql`insert into embedding (item_seq, model, digest, dims, code) select seq, 'm', 'd', 1, ${new Uint8Array([1])} from item where kind = 'prompt'`.execute(
        db,
      ),
    fault: /^embedding \d+ has no vector$/,
    isMended: true,
  },
  {
    check: 'item vectors',
    harm: (db) =>
      sql`insert into item_vector (item_seq, model, digest, vector) select seq, 'm', 'd', ${new Uint8Array(383)} from item where kind = 'prompt'`.execute(
        db,
      ),
    fault: /^prompt \S+ has a vector of 383 bytes$/,
    isMended: true,
  },
  {
    check: 'item vectors',
    async harm(db) {
      await sql`insert into item_vector (item_seq, model, digest, vector) select seq, 'm', 'd', ${new Uint8Array(384)} from item`.execute(
        db,
      )
      await sql`update item set deleted_at = created_at where kind = 'skill'`.execute(db)
    },
    fault: /^skill \S+ is in the trash and has a vector$/,
    isMended: true,
  },
]

describe.each(ENGINES)('the doctor on $name', (engine) => {
  let database: OpenDatabase
  let store: LibraryStore
  let remove: () => Promise<void>
  beforeEach(async () => {
    const place = await engine.create()
    remove = place.remove
    database = place.open()
    store = await createStore(database, SYSTEM)
    const { id: userId } = await store.people.createUser({ username: 'ada', defaultVisibility: 'public' })
    const editor = { userId, note: null }
    const fields = { description: null, category: null, tags: [], visibility: 'public' as const }
    const prompt = await store.items.createPrompt(editor, { ...fields, title: 'Walrus', type: 'TEXT', content: 'Write about it.' })
    await store.items.changePrompt(prompt.id, editor, () => ({ content: 'Write at length about it.' }))
    const bytes = (text: string) => new TextEncoder().encode(text)
    const files = [
      { filename: 'SKILL.md', bytes: bytes('---\nname: tidy\ndescription: Tidy.\n---\n') },
      { filename: 'notes.txt', bytes: bytes('notes') },
    ]
    await store.items.createSkill(editor, { ...fields, title: 'Tidy', files })
  })
  afterEach(async () => {
    await database.close()
    await remove()
  })
  const look = () => database.readSnapshot((db) => examine(db, database.dialect))
  const faultsOf = (findings: readonly Finding[]) => findings.filter(({ state }) => state === 'fault').map(({ check }) => check)

  it('finds nothing in a library that is sound, and leaves it alone', async () => {
    const findings = await look()
    expect(faultsOf(findings)).toEqual([])
    expect(findings.filter(({ state }) => state === 'skipped').map(({ check }) => check)).toEqual(
      engine.name === 'sqlite' ? [] : ['structure', 'references'],
    )
    expect(faultsOf(await repair(database, findings, { ...SYSTEM, vectors: undefined }))).toEqual([])
    await database.compact()
  })

  it.each(FAULTS)('sees $check: $fault', async ({ check, harm, fault, isMended }) => {
    await database.transact(harm)
    const findings = await look()
    expect(faultsOf(findings)).toContain(check)
    const finding = findings.find((one) => one.check === check)
    expect(finding).toMatchObject({ isRepairable: isMended, faults: expect.arrayContaining([expect.stringMatching(fault)]) })
    const after = await repair(database, findings, { ...SYSTEM, vectors: undefined })
    expect(after.find((one) => one.check === check)?.state).toBe(isMended ? 'repaired' : 'fault')
    if (isMended) expect(faultsOf(await look())).toEqual([])
  })

  it('says what a schema lacks, and nothing of the rest', async () => {
    await database.transact((db) => sql`delete from migration where name = '0010-form-drafts'`.execute(db))
    const findings = await look()
    expect(findings[0]).toMatchObject({
      check: 'schema',
      state: 'fault',
      faults: ['"0010-form-drafts" is pending: start the service once'],
    })
  })
})
