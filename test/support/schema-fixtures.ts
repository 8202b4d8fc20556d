import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'

/**
 * Every schema a library ever had, with the same small library in it: `NUMBER-COMMIT` was written by the first commit that had the schema,
 * `-then-COMMIT` by a later one that opened it. The oldest is SQL, one statement a line; the others are scripts of ed(1), made by
 * `diff -e`, which turn the one named in their first line into theirs.
 *
 * To add one, open the newest with the commit before a new migration (`FILE.db` is what that commit made of it), and run
 * `node test/support/schema-fixtures.ts FILE.db NEWEST > test/fixtures/schemas/NUMBER-243fe49-then-COMMIT.ed`
 */
const FOLDER = fileURLToPath(new URL('../fixtures/schemas/', import.meta.url))

/** Names of all fixtures, oldest schema first. */
export const SCHEMAS: readonly string[] = readdirSync(FOLDER)
  .map((file) => file.replace(/\.(sql|ed)$/, ''))
  .toSorted()

/** The statements that make a fixture. */
function readSchema(name: string): readonly string[] {
  if (name === SCHEMAS[0])
    return readFileSync(join(FOLDER, `${name}.sql`), 'utf8')
      .trimEnd()
      .split('\n')
  const [first = '', ...script] = readFileSync(join(FOLDER, `${name}.ed`), 'utf8')
    .trimEnd()
    .split('\n')
  const statements = [...readSchema(first.replace('# ', ''))]
  while (script.length > 0) {
    const command = script.shift() ?? ''
    const { from = '', to = from, what = '' } = /^(?<from>\d+)(,(?<to>\d+))?(?<what>[acd])$/.exec(command)?.groups ?? {}
    if (what === '') throw new Error(`${name}.ed: no command "${command}".`)
    const added = what === 'd' ? [] : script.splice(0, script.indexOf('.'))
    if (what !== 'd') script.shift()
    // `a` adds after a line; the others replace lines.
    if (what === 'a') statements.splice(Number(from), 0, ...added)
    else statements.splice(Number(from) - 1, Number(to) - Number(from) + 1, ...added)
  }
  return statements
}

/** Writes the library of a fixture to a file. */
export function writeSchema(name: string, path: string): void {
  const database = new DatabaseSync(path)
  database.exec(`pragma foreign_keys = off; begin; ${readSchema(name).join('\n')} commit`)
  database.close()
}

/** All tables with their rows, then what stands on them; texts of the full-text indexes of early schemas are left out. */
function dump(database: DatabaseSync): string[] {
  const read = (query: string) => database.prepare(query).all()
  const objects = read("select name, type, tbl_name, sql from sqlite_master where sql is not null and name <> 'sqlite_sequence'")
  const virtual = objects.filter(({ sql }) => /^create virtual/i.test(String(sql))).map(({ name }) => name)
  const shadows = new Set(virtual.flatMap((name) => ['config', 'data', 'docsize', 'idx'].map((part) => `${name}_${part}`)))
  const own = objects.filter(({ tbl_name: table }) => !shadows.has(String(table)))
  const define = ({ sql }: (typeof own)[number]) => `${String(sql).replace(/\s*\n\s*/g, ' ')};`
  const insert = (table: string) => {
    const columns = read(`select name from pragma_table_info('${table}')`).map(({ name }) => `quote("${name}")`)
    const rows = read(`select ${columns.join(` || ',' || `)} as "values" from "${table}" order by rowid`)
    return rows.map(({ values }) => `INSERT INTO "${table}" VALUES(${values});`)
  }
  const tables = own.filter(({ type }) => type === 'table')
  return [
    ...tables.flatMap((table) => [define(table), ...(virtual.includes(table['name'] ?? '') ? [] : insert(String(table['name'])))]),
    'DELETE FROM sqlite_sequence;',
    ...insert('sqlite_sequence'),
    ...own.filter(({ type }) => type !== 'table').map(define),
  ]
}

if (import.meta.main) {
  const [, , path = '', base = ''] = process.argv
  const database = new DatabaseSync(path, { readOnly: true })
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-schema-'))
  const files = [readSchema(base), dump(database)].map((statements, index) => {
    writeFileSync(join(folder, String(index)), `${statements.join('\n')}\n`)
    return join(folder, String(index))
  })
  process.stdout.write(`# ${base}\n${spawnSync('diff', ['-e', ...files], { encoding: 'utf8' }).stdout}`)
  rmSync(folder, { recursive: true })
}
