import { type RawBuilder, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { examine, type Finding, repair } from '../../src/storage/doctor/examine.ts'
import type { LibraryStore } from '../../src/storage/store.ts'
import { createStore } from '../../src/storage/store.ts'
import { ENGINES } from '../support/engines.ts'

const UNUSED_SHA256 = '4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a'
/** What the doctor must see, each made in a library that is sound otherwise: the check, the harm, what is said, and whether it is mended. */
const FAULTS: readonly (readonly [check: string, harm: readonly RawBuilder<unknown>[], fault: RegExp, isMended: boolean])[] = [
  [
    'files',
    [sql`update blob set bytes = ${new Uint8Array([1])} where sha256 = (select min(sha256) from blob)`],
    /^the bytes of [0-9a-f]{64} are others$/,
    false,
  ],
  ['unused files', [sql`insert into blob (sha256, bytes) values (${UNUSED_SHA256}, ${new Uint8Array([1])})`], /^4bf5/, true],
  [
    'versions',
    [sql`delete from version where number = 1 and item_seq = (select seq from item where kind = 'prompt')`],
    /^prompt \S+ has versions up to 2, of which 1 are there$/,
    false,
  ],
  [
    'newest versions',
    [sql`update item set content = 'another' where kind = 'prompt'`],
    /^prompt \S+ is not what its newest version is$/,
    false,
  ],
  ['newest versions', [sql`delete from skill_file where filename <> 'SKILL.md'`], /^skill \S+ is not what its newest version is$/, false],
  [
    'addresses',
    [sql`update item set slug = 'elsewhere' where kind = 'prompt'`],
    /^prompt \S+ is not found by its address elsewhere$/,
    false,
  ],
  [
    'teams',
    [sql`insert into team_member (team_seq, user_seq, role, joined_at) select seq, seq, 'reader', created_at from "user"`],
    /^user \S+ cannot be in team \S+$/,
    false,
  ],
  [
    'teams',
    [sql`insert into former_name (username_key, user_seq) select username_key, seq from "user"`],
    /^user \S+ has the former name of a team$/,
    false,
  ],
  [
    'addresses',
    [
      sql`insert into collection (id, slug, owner_seq, title, title_key, visibility, was_public, version, created_at, updated_at)
        select 'lost', 'nowhere', seq, '', '', 'public', 1, 1, '', '' from "user" limit 1`,
    ],
    /^collection lost is not found by its address nowhere$/,
    false,
  ],
  ['votes', [sql`update item set votes = 7`], /^(prompt|skill) \S+ has another count than votes$/, true],
  [
    'search words',
    [sql`delete from item_words where item_seq = (select seq from item where kind = 'prompt')`],
    /^prompt \S+ lacks words$/,
    true,
  ],
  ['search words', [sql`delete from word where word = 'walrus'`], /^prompt \S+ lacks words$/, true],
  [
    'item vectors',
    [
      sql`insert into item_vector (item_seq, model, digest, vector)
        select seq, 'm', 'd', ${new Uint8Array(383)} from item where kind = 'prompt'`,
      sql`insert into item_vector (item_seq, model, digest, vector)
        select seq, 'm', 'd', ${new Uint8Array(384)} from item where kind = 'skill'`,
    ],
    /^prompt \S+ has a vector of 383 bytes$/,
    true,
  ],
  [
    'item vectors',
    [
      sql`insert into item_vector (item_seq, model, digest, vector) select seq, 'm', 'd', ${new Uint8Array(384)} from item`,
      sql`update item set deleted_at = created_at where kind = 'skill'`,
    ],
    /^skill \S+ is in the trash and has a vector$/,
    true,
  ],
  [
    'item vectors',
    [
      sql`insert into item_vector (item_seq, model, digest, vector, is_provided) select seq, 'm', 'd', ${new Uint8Array(384)}, 1 from item`,
      sql`update item set visibility = 'private' where kind = 'skill'`,
    ],
    /^skill \S+ is not public and has a vector of a provider$/,
    true,
  ],
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
    const prompt = await store.items.createItem(editor, {
      kind: 'prompt',
      ...fields,
      title: 'Walrus',
      type: 'TEXT',
      content: 'Write about it.',
    })
    await store.items.changeItem('prompt', prompt.id, editor, () => ({ content: 'Write at length about it.' }))
    const bytes = (text: string) => new TextEncoder().encode(text)
    const files = [
      { filename: 'SKILL.md', bytes: bytes('---\nname: tidy\ndescription: Tidy.\n---\n') },
      { filename: 'notes.txt', bytes: bytes('notes') },
    ]
    await store.items.createItem(editor, { kind: 'skill', ...fields, title: 'Tidy', files })
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
    await database.file?.compact()
  })

  it.each(FAULTS)('sees a fault of %s (%#)', async (check, harm, fault, isMended) => {
    await database.transact(async (db) => {
      for (const statement of harm) await statement.execute(db)
    })
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
