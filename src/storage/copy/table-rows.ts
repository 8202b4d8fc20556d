import { createHash } from 'node:crypto'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import { type Database, type LibraryTables, MARKS } from '../schema.ts'

type Cell = string | number | null | Uint8Array
/** A row of any table, as the engine returns it. */
export type Row = Readonly<Record<string, Cell>>

/** The number of rows, and a digest of their content. */
export interface TableDigest {
  readonly rows: number
  /** Hex, of every cell of every row in the order of the key, in an encoding that is the same on every engine. */
  readonly sha256: string
}

/** Progress of one table: rows copied, of those in the source. */
export interface CopyProgress {
  readonly table: string
  readonly rows: number
  readonly ofRows: number
}

/** Every row of a table in the order of its key, a page at a time. */
export async function* readPages(db: Kysely<Database>, table: CopiedTable): AsyncGenerator<Row[]> {
  const { name, columns, key, rowsAPage, condition = sql`true` } = table
  const order = sql.join(key.map((column) => sql.ref(column)))
  const selected = sql.join(columns.map((column) => sql.ref(column)))
  for (let last: Row | undefined; ; ) {
    const after = last ? sql`(${order}) > (${sql.join(key.map((column) => last?.[column]))})` : sql`true`
    const page = await sql<Row>`
      select ${selected} from ${sql.table(name)} where ${after} and ${condition} order by ${order} limit ${rowsAPage}`.execute(db)
    if (page.rows.length > 0) yield page.rows
    last = page.rows.at(-1)
    if (page.rows.length < rowsAPage) return
  }
}

/** Writes rows as they are, at least one. */
export async function insertRows(db: Kysely<Database>, name: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column] ?? null))})`)
  await sql`insert into ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column)))}) values ${sql.join(values)}`.execute(db)
}

export async function countRows(db: Kysely<Database>, { name, condition = sql`true` }: CopiedTable): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)} where ${condition}`.execute(db)
  return Number(rows[0]?.count ?? 0)
}

/** Where rows are copied from, and how its engine numbers them. */
export interface RowSource {
  readonly db: Kysely<Database>
  readonly dialect: Pick<Dialect, 'readIdentity'>
}

/**
 * Copies the rows of tables, each after those it refers to, and continues their numbers: those of deleted rows are not given again, as what
 * still names them would mean another row.
 * @param options.check called with each page before it is written
 */
export async function copyTables(
  from: RowSource,
  to: Kysely<Database>,
  dialect: Dialect,
  tables: readonly CopiedTable[],
  options: {
    readonly check?: ((table: string, rows: readonly Row[]) => void) | undefined
    readonly onProgress?: ((progress: CopyProgress) => unknown) | undefined
  } = {},
): Promise<void> {
  const { check = () => {}, onProgress = () => {} } = options
  for (const table of tables) {
    const ofRows = await countRows(from.db, table)
    let rows = 0
    for await (const page of readPages(from.db, table)) {
      check(table.name, page)
      await insertRows(to, table.name, page)
      rows += page.length
      if (rows < ofRows) await onProgress({ table: table.name, rows, ofRows })
    }
    if (isNumbered(table)) {
      const last = Math.max(await from.dialect.readIdentity(from.db, table.name), await dialect.readIdentity(to, table.name))
      await dialect.setIdentity(to, table.name, last)
    }
    await onProgress({ table: table.name, rows, ofRows })
  }
}

/** Whether the engine numbers the rows of a table. */
export function isNumbered({ key }: Pick<CopiedTable, 'key'>): boolean {
  return key.join() === 'seq'
}

/** Reads a whole table, a page at a time. */
export async function digestTable(db: Kysely<Database>, table: CopiedTable): Promise<TableDigest> {
  const hash = createHash('sha256')
  let rows = 0
  for await (const page of readPages(db, table)) {
    for (const row of page) for (const part of encodeRow(row)) hash.update(part)
    rows += page.length
  }
  return { rows, sha256: hash.digest('hex') }
}

/** Encodes each cell with its column, type and length, so that different rows never encode the same. Columns are sorted. */
function* encodeRow(row: Row): Generator<string | Uint8Array> {
  for (const column of Object.keys(row).toSorted()) {
    const cell = row[column] ?? null
    if (cell === null) yield `${column} null\n`
    else if (typeof cell === 'number') yield `${column} number ${cell}\n`
    else if (typeof cell === 'string') yield `${column} text ${Buffer.byteLength(cell)} ${cell}\n`
    else {
      yield `${column} bytes ${cell.length} `
      yield cell
      yield '\n'
    }
  }
  yield '\n'
}

/**
 * The purpose of a table. `content`: what people wrote; every whole-library file has it. `own`: what lets people in, and what is theirs alone or
 * of this service; no file without logins has it. `derived`: made of the others again where it is missing, so that no digest has it.
 * `passing`: short-lived data of running instances, and unfinished forms; no row is copied.
 */
type Purpose = 'content' | 'own' | 'derived' | 'passing'

/** Every table of the library, after those it refers to. The compiler demands new ones, and a test compares with the databases. */
export const TABLES = {
  user: 'content',
  team_member: 'content',
  former_name: 'content',
  login: 'own',
  login_account: 'own',
  login_session: 'own',
  login_factor: 'own',
  login_recovery_code: 'own',
  login_passkey: 'own',
  login_verification: 'own',
  oauth_client: 'own',
  oauth_resource: 'passing',
  oauth_client_resource: 'own',
  oauth_refresh_token: 'own',
  oauth_access_token: 'own',
  oauth_consent: 'own',
  oauth_client_assertion: 'passing',
  invite: 'own',
  api_key: 'own',
  sync_state: 'own',
  category: 'content',
  item: 'content',
  change: 'content',
  slug: 'content',
  retired_slug: 'content',
  purge: 'content',
  item_tag: 'content',
  vote: 'content',
  item_source: 'content',
  import_source: 'content',
  favourite: 'content',
  collection: 'content',
  collection_slug: 'content',
  collection_item: 'content',
  version: 'content',
  item_part: 'content',
  label: 'content',
  label_move: 'content',
  label_rule: 'content',
  label_gate: 'content',
  verdict: 'content',
  check_level: 'content',
  eval_run: 'content',
  eval_result: 'content',
  case_set: 'content',
  model_answer: 'own',
  test_usage: 'own',
  blob: 'content',
  skill_file: 'content',
  version_file: 'content',
  secret: 'own',
  waiver: 'own',
  word: 'derived',
  word_removal: 'derived',
  item_words: 'derived',
  owner_usage: 'derived',
  item_vector: 'derived',
  improve_usage: 'own',
  use_count: 'own',
  embed: 'own',
  audit_event: 'own',
  ended_session: 'passing',
  counter: 'passing',
  embedding_claim: 'passing',
  form_draft: 'passing',
} as const satisfies Readonly<Record<keyof LibraryTables, Purpose>>

/** Which tables and columns are meant: all that are copied, or those of a file without logins. */
export type Scope = 'everything' | 'content'

const PURPOSES: Readonly<Record<string, Purpose>> = TABLES
const COLUMN_MARKS: Readonly<Record<string, Readonly<Record<string, string>>>> = MARKS
/** Of the log of changes, content is what items became; the rest says when caches are out of date. */
const CONDITIONS: Readonly<Record<string, RawBuilder<unknown>>> = { change: sql`version is not null` }
/** Rows held in memory at once. */
const ROWS_A_PAGE = 500
/** The same of tables with large rows. */
const LARGE_ROWS: Readonly<Record<string, number>> = { item: 100, version: 100, blob: 16, item_words: 200 }

/** How the rows of a table are read, and written elsewhere. */
export interface CopiedTable {
  readonly name: string
  readonly columns: readonly string[]
  /** Its primary key: the order of the rows, which is the same on every engine. */
  readonly key: readonly string[]
  readonly rowsAPage: number
  /** Which rows are meant. Default: all */
  readonly condition?: RawBuilder<unknown> | undefined
}

/** Whether a table is made of others, so that it is counted and not part of a digest. */
export function isDerived(table: string): boolean {
  return PURPOSES[table] === 'derived'
}

/** Tables as a database has them, by name. One that it lacks is left out. */
export async function readTables(
  db: Kysely<Database>,
  dialect: Pick<Dialect, 'readColumns' | 'readKey'>,
  names: readonly string[],
): Promise<CopiedTable[]> {
  const columns = Map.groupBy(
    Array.from(await dialect.readColumns(db), (place) => place.split('.')),
    ([table = '']) => table,
  )
  const tables: CopiedTable[] = []
  for (const name of names) {
    const own = columns.get(name)?.map(([, column = '']) => column) ?? []
    const key = own.length === 0 ? [] : await dialect.readKey(db, name)
    if (key.length > 0) tables.push({ name, columns: own, key, rowsAPage: LARGE_ROWS[name] ?? ROWS_A_PAGE })
  }
  return tables
}

/** The tables of a scope, each after those it refers to. Earlier schemas have fewer. */
export async function tablesOf(
  scope: Scope,
  db: Kysely<Database>,
  dialect: Pick<Dialect, 'readColumns' | 'readKey'>,
): Promise<CopiedTable[]> {
  const names = Object.keys(PURPOSES).filter((name) => (scope === 'content' ? PURPOSES[name] === 'content' : PURPOSES[name] !== 'passing'))
  const tables = await readTables(db, dialect, names)
  return scope === 'everything' ? tables : tables.map(withoutSecrets)
}

function withoutSecrets(table: CopiedTable): CopiedTable {
  const marks = COLUMN_MARKS[table.name]
  const isOpen = (column: string) => marks === undefined || marks[column] === 'open'
  return { ...table, columns: table.columns.filter(isOpen), condition: CONDITIONS[table.name] }
}
