import { type CompiledQuery, type Insertable, type Kysely, type RawBuilder, sql, type Updateable } from 'kysely'
import { AppError } from '../errors.ts'
import type { Database } from './schema.ts'

/** Marks a parameter of a prepared query. No value of a caller contains NUL. */
const MARK = '\0slot:'

/** Stands for the parameter `name` while a query is being built for {@link prepareQuery}. */
export function slot(name: string): string {
  return MARK + name
}

type SlotValue = string | number | Uint8Array | null

/** Arguments of a prepared query: one value for each slot. */
type SlotValues = Readonly<Record<string, SlotValue>>

/** A query as kysely builds it, or SQL itself. */
interface Built<Row> {
  compile(db: Kysely<Database>): CompiledQuery<Row>
}

/** Runs a compiled statement. A server's answer is awaited. */
export type RunStatement = (text: string, parameters: readonly unknown[]) => unknown[] | Promise<unknown[]>

/** Connections whose prepared queries take no turns. */
const direct = new WeakMap<Kysely<Database>, RunStatement>()

/**
 * Lets prepared queries on a connection go to the engine without the query builder's queue, which costs more than many a look-up. Those
 * that are begun together reach the engine in their order, a server without waiting for the answers of those before. Returns how to undo it.
 */
export function runDirectly(db: Kysely<Database>, run: RunStatement): () => void {
  direct.set(db, run)
  return () => direct.delete(db)
}

/**
 * Builds and compiles a query once; running it costs only the engine's work. (Building and compiling a query takes longer than a lookup.)
 * @example const byId = prepareQuery((db) => db.selectFrom('item').selectAll().where('id', '=', slot('id')))
 */
export function prepareQuery<Row>(
  build: (db: Kysely<Database>) => Built<Row>,
): (db: Kysely<Database>, values: SlotValues) => Promise<Row[]> {
  // Engines write parameters differently, and one process may have two open.
  const byEngine = new WeakMap<object, CompiledQuery<Row>>()
  return async (db, values) => {
    const engine = db.getExecutor().adapter
    let compiled = byEngine.get(engine)
    if (!compiled) {
      compiled = build(db).compile(db)
      byEngine.set(engine, compiled)
    }
    const parameters = compiled.parameters.map((parameter) =>
      typeof parameter === 'string' && parameter.startsWith(MARK) ? (values[parameter.slice(MARK.length)] ?? null) : parameter,
    )
    const run = direct.get(db)
    // The query itself says what its rows are.
    if (run) return (await run(compiled.sql, parameters)) as Row[]
    const { rows } = await db.executeQuery<Row>({ ...compiled, parameters })
    return rows
  }
}

/** A prepared statement in SQL itself, with `slot`s for its parameters. */
export function prepareStatement<Row = unknown>(text: RawBuilder<Row>): (db: Kysely<Database>, values: SlotValues) => Promise<Row[]> {
  return prepareQuery(() => text)
}

/** Lists up to this length have their own compiled query: a page of items. */
const MAX_PREPARED_LIST = 100

/** Like {@link prepareQuery}, for a query over a list of values, which is compiled once for each length of the list. */
export function prepareListQuery<Row, Value extends string | number = number>(
  build: (db: Kysely<Database>, values: readonly RawBuilder<Value>[]) => Built<Row>,
): (db: Kysely<Database>, list: readonly Value[], values?: SlotValues) => Promise<Row[]> {
  const byLength = new Map<number, ReturnType<typeof prepareQuery<Row>>>()
  const prepare = (length: number) =>
    prepareQuery((db) =>
      build(
        db,
        Array.from({ length }, (_, place) => sql<Value>`${slot(`value ${place}`)}`),
      ),
    )
  return async (db, list, values = {}) => {
    const { length } = list
    const run = byLength.get(length) ?? prepare(length)
    if (length <= MAX_PREPARED_LIST) byLength.set(length, run)
    return await run(db, { ...values, ...Object.fromEntries(list.map((value, place) => [`value ${place}`, value])) })
  }
}

type Row = Readonly<Record<string, SlotValue>>

/** A statement on one row, prepared for each set of columns that rows have. */
function prepareRow<Given extends object, Found = unknown>(toText: (columns: readonly string[]) => RawBuilder<Found>) {
  const byColumns = new Map<string, ReturnType<typeof prepareQuery<Found>>>()
  return async (db: Kysely<Database>, row: Given & Row): Promise<Found[]> => {
    const columns = Object.keys(row)
    const key = columns.join()
    const run = byColumns.get(key) ?? prepareStatement(toText(columns))
    byColumns.set(key, run)
    return await run(db, row)
  }
}

const refs = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)))
const slots = (columns: readonly string[]) => sql.join(columns.map((column) => slot(column)))

/** Prepares the insert of one row and gives its number. */
export function prepareInsert<Table extends 'item' | 'version' | 'audit_event' | 'change'>(table: Table) {
  const run = prepareRow<Insertable<Database[Table]>, { seq: number }>(
    (columns) => sql`insert into ${sql.table(table)} (${refs(columns)}) values (${slots(columns)}) returning seq`,
  )
  return async (db: Kysely<Database>, row: Insertable<Database[Table]> & Row): Promise<number> => (await firstOf(run(db, row))).seq
}

/** Prepares the change of the row with a number. */
export function prepareUpdate<Table extends 'item'>(table: Table) {
  return prepareRow<Updateable<Database[Table]> & { readonly seq: number }>((columns) => {
    // Setting the key, even to itself, makes SQLite look for rows that refer to it.
    const others = columns.filter((column) => column !== 'seq')
    const changed = sql.join(others.map((column) => sql`${sql.ref(column)} = ${slot(column)}`))
    return sql`update ${sql.table(table)} set ${changed} where seq = ${slot('seq')}`
  })
}

/** Prepares what writes one row in the place of that with the same key. */
export function preparePut<Table extends 'item_words' | 'verdict'>(table: Table, key: string) {
  return prepareRow<Insertable<Database[Table]>>((columns) => {
    const others = columns.filter((column) => column !== key)
    const changed = sql.join(others.map((column) => sql`${sql.ref(column)} = excluded.${sql.ref(column)}`))
    return sql`insert into ${sql.table(table)} (${refs(columns)}) values (${slots(columns)}) on conflict (${sql.ref(key)}) do update set ${changed}`
  })
}

/**
 * The results of work that begins together in one transaction. Ends when all of it has ended, also when some failed: none goes on in a
 * transaction that is rolled back meanwhile.
 * @throws the first error, in time
 */
export async function together<const Work extends readonly Promise<unknown>[] | []>(
  work: Work,
): Promise<{ -readonly [Place in keyof Work]: Awaited<Work[Place]> }> {
  const all = Promise.all(work)
  // Heard before it is awaited.
  all.catch(() => {})
  await Promise.allSettled(work)
  return await all
}

/** The one row of a query that must find something. */
export async function firstOf<T>(items: Promise<T[]>): Promise<T> {
  const [item] = await items
  if (item === undefined) throw new AppError('internal', 'A row that was just written could not be read back')
  return item
}

/** `column in (values)`, which no engine accepts without values. */
export function isOneOf(column: string, values: readonly (string | number)[]) {
  return values.length === 0 ? sql<boolean>`1 = 0` : sql<boolean>`${sql.ref(column)} in (${sql.join(values)})`
}

/** Items removed in one transaction: others write in between, and engines limit parameters. */
export const ITEMS_A_BATCH = 100

/** Splits a list for statements with many values. */
export function* batches<T>(all: readonly T[], size: number = ITEMS_A_BATCH): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}
