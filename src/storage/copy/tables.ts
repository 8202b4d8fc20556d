import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import { type Database, type LibraryTables, MARKS } from '../schema.ts'

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
