import type { Compilable, CompiledQuery, Kysely } from 'kysely'
import type { Database } from './schema.ts'

/** Marks a parameter of a prepared query; NUL keeps it apart from any value a caller could give. */
const MARK = '\0slot:'

/** Stands for the parameter `name` while a query is being built for {@link prepareQuery}. */
export function slot(name: string): string {
  return MARK + name
}

/** What a prepared query is run with: one value for each slot. */
type SlotValues = Readonly<Record<string, string | number | null>>

/**
 * Builds and compiles a query once; running it costs the engine's work alone (building and compiling one takes longer than a look-up).
 * @example const byId = prepareQuery((db) => db.selectFrom('item').selectAll().where('id', '=', slot('id')))
 */
export function prepareQuery<Row>(
  build: (db: Kysely<Database>) => Compilable<Row>,
): (db: Kysely<Database>, values: SlotValues) => Promise<Row[]> {
  let compiled: CompiledQuery<Row> | undefined
  return async (db, values) => {
    compiled ??= build(db).compile()
    const parameters = compiled.parameters.map((parameter) =>
      typeof parameter === 'string' && parameter.startsWith(MARK) ? (values[parameter.slice(MARK.length)] ?? null) : parameter,
    )
    const { rows } = await db.executeQuery<Row>({ ...compiled, parameters })
    return rows
  }
}
