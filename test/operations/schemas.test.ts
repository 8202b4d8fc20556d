import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LOGIN_TABLES } from '../../src/domain/sign-in/logins.ts'
import { copyBeforeUpgrade } from '../../src/storage/copy/library-file.ts'
import { openSqlite } from '../../src/storage/dialects/sqlite.ts'
import { MIGRATIONS, migrate } from '../../src/storage/migrations/index.ts'
import { bringUpToDate } from '../../src/storage/store.ts'
import { describeSchema, testSchemas } from '../support/opened-schemas.ts'
import { SCHEMAS, writeSchema } from '../support/schema-fixtures.ts'

/** The oldest, those whose paths branched most, and the newest; test/long/schemas.test.ts opens all. */
testSchemas([
  '0001-82cb203',
  '0003-b602e19',
  '0007-cbc3d52',
  '0010-01bba77-then-243fe49',
  '0010-5e8b060-then-243fe49',
  ...SCHEMAS.slice(-1),
])

const SCHEMA = fileURLToPath(new URL('../../src/storage/schema.ts', import.meta.url))
const BEFORE_FROZEN = '0010-243fe49'
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-schemas-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function makeFile(name: string): string {
  const path = join(folder, name)
  writeSchema(BEFORE_FROZEN, path)
  return path
}

describe('the schema', () => {
  it('has the tables and columns of its types, and no others', async () => {
    const database = openSqlite(join(folder, 'columns.db'))
    await migrate(database)
    const columns = [...(await database.dialect.readColumns(database.reader))].filter((place) => !/^(migration|sqlite_\w+)\./.test(place))
    await database.close()
    const [, types = ''] =
      /^export interface LibraryTables \{\n(.*?)^\}/ms.exec(readFileSync(SCHEMA, 'utf8').replaceAll(/\/\*\*.*?\*\//gs, '')) ?? []
    const places = [...types.matchAll(/^ {2}(\w+): \{([^}]*)\}/gm)].flatMap(([, table, body = '']) =>
      [...body.matchAll(/(\w+): /g)].map(([, column]) => `${table}.${column}`),
    )
    // Of the tables of better-auth, which reads and writes whole rows, the types name what statements of the store use.
    const isNamed = (place: string) => places.includes(place) || !LOGIN_TABLES.some((table) => place.startsWith(`${table}.`))
    expect(columns.filter(isNamed).toSorted()).toEqual(places.toSorted())
  })
})

describe('the copy before an upgrade', () => {
  const upgrade = async (path: string) => {
    const steps: string[] = []
    const database = openSqlite(path)
    try {
      await bringUpToDate(database, true, ({ step, detail }) => steps.push(`${step} ${detail}`))
    } finally {
      await database.close()
    }
    return steps
  }

  it('is made of a library that has something pending, once', async () => {
    const path = makeFile('upgraded.db')
    const pending = MIGRATIONS.slice(10).map(({ name }) => `migrating ${name}`)
    expect(await upgrade(path)).toEqual([`copying ${path}.before-0011`, ...pending])
    expect(await upgrade(path)).toEqual([])
    expect(await upgrade(join(folder, 'never-before.db'))).toEqual([])
  })

  it('is not replaced by one of after', async () => {
    const path = makeFile('raced.db')
    await upgrade(path)
    const database = openSqlite(path)
    const before = readFileSync(`${path}.before-0011`)
    await copyBeforeUpgrade(database, `${path}.before-0011`, '0011')
    await database.close()
    expect(readFileSync(`${path}.before-0011`).equals(before)).toBe(true)
  })

  it('stops the upgrade when it cannot be made', async () => {
    const path = makeFile('blocked.db')
    mkdirSync(`${path}.before-0011`)
    const before = describeSchema(path)
    await expect(upgrade(path)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /^The library was not upgraded, because it could not be copied to .*BACKUP_BEFORE_UPGRADE=false no copy is made\.$/,
      ),
    })
    expect(describeSchema(path)).toEqual(before)
  })
})

describe('a library that is refused', () => {
  const refuse = async (name: string, damage: string) => {
    const path = makeFile(`${name}.db`)
    const file = new DatabaseSync(path)
    file.exec(damage)
    file.close()
    const before = describeSchema(path)
    const database = openSqlite(path)
    const refusal = await migrate(database).then(
      () => '',
      (error: Error) => error.message,
    )
    await database.close()
    expect(describeSchema(path)).toEqual(before)
    return refusal
  }

  it('is left as the earlier build wrote it', async () => {
    expect(await refuse('lacking', 'alter table item drop column contributors')).toBe(
      'The database lacks item.contributors, which it should have by its migrations, and is as it was: restore a backup, or start the version that wrote it.',
    )
    // The last migration fails after it has mended what it could.
    const clash = 'alter table migration add column digest text; alter table session drop column holder'
    expect(await refuse('failing', clash)).toMatch(/^The database could not be brought up to date, and is as it was: duplicate column name/)
  })

  it('says that another program made it', async () => {
    const damage = `alter table migration add column digest text; update migration set digest = 'another' where name = '0007-accounts'`
    expect(await refuse('other', damage)).toBe(
      'The database was made by another program: its "0007-accounts" is not this one\'s. Start that program.',
    )
  })
})
