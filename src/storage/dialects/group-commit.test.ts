import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { OpenDatabase } from './dialect.ts'
import { createGroupCommit, type GroupEngine } from './group-commit.ts'
import { openSqlite } from './sqlite.ts'

let folder: string
let path: string
let database: OpenDatabase
/** What a second connection reads: only what is committed. */
let other: DatabaseSync
let statements: string[]
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-groups-'))
  path = join(folder, 'library.db')
  statements = []
  database = openSqlite(path, (text) => statements.push(text))
  await database.transact((db) => sql`create table note (name text not null unique)`.execute(db))
  other = new DatabaseSync(path)
  statements.length = 0
})
afterEach(async () => {
  other.close()
  await database.close()
  rmSync(folder, { recursive: true, force: true })
})

const committed = () =>
  other
    .prepare('select name from note order by rowid')
    .all()
    .map((row) => String(row['name']))
const write = (name: string, caller = '') =>
  database.transact((db) => sql`insert into note (name) values (${name})`.execute(db), { caller }).then(() => name)
const commits = () => statements.filter((text) => text === 'commit').length

describe('writes that arrive together', () => {
  it('share a commit, and are answered once it is durable', async () => {
    const names = ['a', 'b', 'c', 'd']
    const seen = await Promise.all(names.map(async (name) => ({ name: await write(name), committed: committed() })))
    for (const { name, committed: found } of seen) expect(found).toContain(name)
    expect(committed()).toEqual(names)
    expect(commits()).toBe(1)
  })

  it.each([0, 1, 3])('keep nothing of one that fails as number %i, and everything of the others', async (place) => {
    const names = ['a', 'b', 'c', 'd']
    const outcomes = await Promise.allSettled(
      names.map((name, index) =>
        index === place
          ? database.transact(async (db) => {
              await sql`insert into note (name) values (${`half of ${name}`})`.execute(db)
              throw new Error(`no ${name}`)
            })
          : write(name),
      ),
    )
    expect(outcomes.map(({ status }) => status)).toEqual(names.map((_, index) => (index === place ? 'rejected' : 'fulfilled')))
    expect(committed()).toEqual(names.filter((_, index) => index !== place))
    expect(await write('later')).toBe('later')
  })

  it('see what earlier ones wrote', async () => {
    const outcomes = await Promise.allSettled(['a', 'a', 'b'].map((name) => write(name)))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(committed()).toEqual(['a', 'b'])
  })

  it('all fail when the engine ends their transaction, and later ones do not', async () => {
    const outcomes = await Promise.allSettled([
      write('a'),
      database.transact((db) => sql`insert or rollback into note (name) values ('a')`.execute(db)),
      write('b'),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
    expect(committed()).toEqual(['b'])
  })

  it('run each in the context of their caller', async () => {
    const who = new AsyncLocalStorage<string>()
    const ask = (name: string) => who.run(name, () => database.transact(async () => who.getStore()))
    expect(await Promise.all([ask('a'), ask('b'), ask('c')])).toEqual(['a', 'b', 'c'])
  })

  it('take turns by caller', async () => {
    const order: string[] = []
    const many = Array.from({ length: 120 }, (_, index) => write(`many ${index}`, 'many').then((name) => order.push(name)))
    await write('one', 'one').then((name) => order.push(name))
    // In the first group: two of three places are for the others.
    expect(order.length).toBeLessThan(60)
    await Promise.all(many)
    expect(committed().indexOf('one')).toBeLessThan(3)
    expect(committed()).toHaveLength(121)
    expect(commits()).toBeGreaterThan(1)
  })
})

describe('an engine that cannot', () => {
  const engine = (fails: { begin?: boolean; commit?: boolean }): GroupEngine => ({
    async run(work) {
      if (fails.begin) throw new Error('locked')
      await work(database.writer)
      if (fails.commit) throw new Error('disk full')
    },
    savepoint: { begin() {}, release() {}, rollback() {} },
    isOpen: () => true,
    explain: (error) => error,
  })
  const outcomesOf = async (group: ReturnType<typeof createGroupCommit>) =>
    (
      await Promise.allSettled([
        group(async () => 1, 'a'),
        group(async () => 2, 'b'),
        group(async () => Promise.reject(new Error('no')), 'b'),
      ])
    ).map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason)))

  it('begin refuses those that waited', async () => {
    const fails = { begin: true }
    const group = createGroupCommit(engine(fails))
    expect(await outcomesOf(group)).toEqual(['Error: locked', 'Error: locked', 'Error: locked'])
    fails.begin = false
    expect(await outcomesOf(group)).toEqual([1, 2, 'Error: no'])
  })

  it('commit acknowledges none', async () => {
    expect(await outcomesOf(createGroupCommit(engine({ commit: true })))).toEqual([
      'Error: disk full',
      'Error: disk full',
      'Error: disk full',
    ])
  })
})
