import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../schema.ts'
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

describe('concurrent writes', () => {
  const add = (name: string) => async (db: Kysely<Database>) => {
    await sql`insert into note (name) values (${name})`.execute(db)
    return name
  }
  it('finish together, in their order, before any is answered', async () => {
    const calls: (readonly string[])[] = []
    const finish = async (db: Kysely<Database>, names: readonly string[]) => {
      calls.push(names)
      await sql`insert into note (name) values (${`end of ${names.join()}`})`.execute(db)
    }
    const options = { isConcurrent: true, finish }
    const seen = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => ({ name: await database.transact(add(name), options), all: committed() })),
    )
    for (const { all } of seen) expect(all).toEqual(['a', 'b', 'c', 'end of a,b,c'])
    expect(calls).toEqual([['a', 'b', 'c']])
    expect(commits()).toBe(1)
  })

  it('finish without those that were refused', async () => {
    const calls: (readonly string[])[] = []
    const options = { isConcurrent: true, finish: async (_: Kysely<Database>, names: readonly string[]) => void calls.push(names) }
    const outcomes = await Promise.allSettled(['a', 'a', 'b'].map((name) => database.transact(add(name), options)))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(calls).toEqual([['a', 'b']])
  })

  it('run again by themselves when their last steps fail, so that one harms no other', async () => {
    const finish = async (_: Kysely<Database>, names: readonly string[]) => {
      if (names.includes('b')) throw new Error('no b')
    }
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((name) => database.transact(add(name), { isConcurrent: true, finish })))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(committed()).toEqual(['a', 'c'])
  })

  it('are never in one transaction with others', async () => {
    const order: string[] = []
    const finish = async (_: Kysely<Database>, names: readonly string[]) => void order.push(`end of ${names.join()}`)
    const run = (name: string, isConcurrent: boolean) =>
      database.transact(
        async (db) => {
          order.push(name)
          return await add(name)(db)
        },
        { isConcurrent, finish },
      )
    await Promise.all([run('a', true), run('b', true), run('c', false), run('d', false), run('e', true)])
    expect(order).toEqual(['a', 'b', 'end of a,b', 'c', 'end of c', 'd', 'end of d', 'e', 'end of e'])
    expect(commits()).toBe(3)
  })

  it('run again after a collision, and give up after some', async () => {
    const collision = new Error('deadlock')
    const patience: boolean[] = []
    const beside: boolean[] = []
    const group = createGroupCommit({
      lanes: 1,
      run: async (work, isConcurrent) => {
        beside.push(isConcurrent)
        await database.transact(work)
      },
      savepoint: { begin() {}, release() {}, rollback() {} },
      isOpen: () => true,
      setPatience: (_, waits) => void patience.push(waits),
      isCollision: (error) => error === collision,
      explain: (error) => error,
    })
    let runs = 0
    const work = (until: number) => async () => {
      if (++runs < until) throw collision
      return runs
    }
    const options = { caller: '', isConcurrent: true }
    expect(await group(work(3), options)).toBe(3)
    runs = 0
    await expect(group(work(100), options)).rejects.toMatchObject({ code: 'unavailable' })
    expect(runs).toBe(5)
    // The last time while no other group runs.
    expect(beside.slice(-5)).toEqual([true, true, true, true, false])
    runs = 0
    await expect(group(work(3), { ...options, isConcurrent: false })).rejects.toBe(collision)
    expect(runs).toBe(1)
    // Beside another one in its group.
    runs = 0
    patience.length = 0
    expect(await Promise.all([group(async () => 'other', options), group(work(3), options)])).toEqual(['other', 3])
    // Beside the other it does not wait; afterwards it begins its group.
    expect(patience.slice(0, 2)).toEqual([false, true])
  })
})

describe('concurrent writes in an engine that fails', () => {
  const options = { caller: '', isConcurrent: true }
  const nothing = { begin() {}, release() {}, rollback() {} }
  const engine: GroupEngine = {
    lanes: 1,
    run: (work) => work(database.writer),
    savepoint: nothing,
    setPatience() {},
    isOpen: () => true,
    isCollision: () => false,
    explain: (error) => error,
  }

  it('are not run again when nobody knows whether the commit was made', async () => {
    let runs = 0
    const run: GroupEngine['run'] = async (work) => {
      await work(database.writer)
      throw new Error('the connection is gone')
    }
    const group = createGroupCommit({ ...engine, run })
    const outcomes = await Promise.allSettled(['a', 'b'].map(() => group(async () => runs++, options)))
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(runs).toBe(2)
  })

  it('are not acknowledged when a savepoint was not released', async () => {
    let fails = true
    const release = async () => {
      if (fails) throw new Error('the transaction is aborted')
    }
    let commits = 0
    const run: GroupEngine['run'] = async (work) => {
      await work(database.writer)
      commits++
      fails = false
    }
    const group = createGroupCommit({ ...engine, run, savepoint: { ...nothing, release } })
    expect(await Promise.all(['a', 'b', 'c'].map((name) => group(async () => name, options)))).toEqual(['a', 'b', 'c'])
    // Each in a transaction of its own, which has no savepoint.
    expect(commits).toBe(3)
  })

  it('wait for a lane that works when another cannot begin', async () => {
    let goOn = () => {}
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    let begun = 0
    const run: GroupEngine['run'] = async (work) => {
      // The second lane does not get the lock that the first has.
      if (++begun === 2) throw new Error('locked')
      await work(database.writer)
      if (begun === 2) goOn()
    }
    const group = createGroupCommit({ ...engine, lanes: 2, run })
    const first = group(async () => {
      await held
      return 'first'
    }, options)
    await nextTurn()
    await nextTurn()
    const others = ['b', 'c', 'd'].map((name) => group(async () => name, options))
    setTimeout(goOn, 20)
    const outcomes = await Promise.allSettled([first, ...others])
    expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason)))).toEqual([
      'first',
      'Error: locked',
      'c',
      'd',
    ])
  })
})

describe('an engine that cannot', () => {
  const engine = (fails: { begin?: boolean; commit?: boolean }): GroupEngine => ({
    lanes: 1,
    setPatience() {},
    isCollision: () => false,
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
        group(async () => 1, { caller: 'a', isConcurrent: false }),
        group(async () => 2, { caller: 'b', isConcurrent: false }),
        group(async () => Promise.reject(new Error('no')), { caller: 'b', isConcurrent: false }),
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
