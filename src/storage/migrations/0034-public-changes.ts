import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** Columns of items and people that answers show, as in migration 0014. */
const ITEM = [
  ...['id', 'kind', 'slug', 'title', 'description', 'type', 'content', 'variables', 'owner_seq', 'author_seq', 'contributors'],
  ...['category_seq', 'visibility', 'votes', 'version', 'created_at', 'updated_at', 'deleted_at', 'skill_name'],
  ...['featured_at', 'held_at', 'held_from'],
]
const USER = ['username', 'username_key', 'contributor_key', 'display_name', 'bio', 'website', 'removal']

/** How many changes are kept at least. Whoever is further behind forgets everything. */
const KEPT = 4096
const TRIMMED_EVERY = 256

const EVENTS = ['insert', 'update', 'delete'] as const
type Event = (typeof EVENTS)[number]
/** The rows that a trigger has. */
const ROWS = { insert: ['new'], update: ['old', 'new'], delete: ['old'] } as const satisfies Record<Event, readonly ('old' | 'new')[]>

/** Somebody besides the owner may see it. */
const isShared = (row: string) => `${row}.visibility <> 'private' and ${row}.deleted_at is null`

/** A statement that logs one change of what others see. */
function logOf(values: readonly string[], from: string, condition: string): string {
  return `insert into public_change (revision, what, seq, effect, kind, visibility, category_seq, type, owner_seq, author_seq, created_at)
    select (select max(revision) from public_change) + 1, ${values.join(', ')} from ${from} where ${condition};`
}

/** A state of an item: `row` is its row. */
function logItem(what: string, effect: number, row: string, from: string, condition: string): string {
  const columns = ['kind', 'visibility', 'category_seq', 'type', 'owner_seq', 'author_seq', 'created_at']
  const values = [`'${what}'`, `${row}.seq`, String(effect), ...columns.map((column) => `${row}.${column}`)]
  return logOf(values, from, condition)
}

/**
 * A log of what changed in what others than its owner may see, one entry for each revision of the scope `public`. From it, caches tell which
 * answers a change can have touched. It holds numbers and times, and no texts: nothing of a deleted item is left in it. Private items are not
 * in it.
 */
export async function logPublicChanges(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('public_change')
    .addColumn('revision', 'bigint', (c) => c.primaryKey())
    .addColumn('what', 'text', (c) => c.notNull())
    .addColumn('seq', 'integer', (c) => c.notNull())
    .addColumn('effect', 'integer', (c) => c.notNull())
    .addColumn('kind', 'text')
    .addColumn('visibility', 'text')
    .addColumn('category_seq', 'integer')
    .addColumn('type', 'text')
    .addColumn('owner_seq', 'integer')
    .addColumn('author_seq', 'integer')
    .addColumn('created_at', 'text')
    .execute()
  // The log is never empty: each entry has the number after the last one's.
  await db.insertInto('public_change').values({ revision: 1, what: 'all', seq: 0, effect: 0 }).execute()
  // The row that writers lock until they commit, where several write at once.
  await db.insertInto('revision').values({ scope: 'public', value: 1 }).execute()
  const add = (table: string, event: Event, body: string, options: { columns?: readonly string[]; when?: string } = {}) =>
    dialect.addTrigger(db, { name: `public_${table}_${event}`, table, event, body, locks: 'public', ...options })

  await add('public_change', 'insert', `delete from public_change where revision <= new.revision - ${KEPT};`, {
    when: `new.revision % ${TRIMMED_EVERY} = 0`,
  })
  // One row, so that statements on `old` and `new` alone have a table to select from.
  const one = '(select 1 as one) as here'
  for (const event of EVENTS) {
    const rows = ROWS[event]
    const body = rows.map((row) => logItem('item', row === 'old' ? -1 : 1, row, one, isShared(row))).join('\n')
    await add('item', event, body, {
      when: rows.map((row) => `(${isShared(row)})`).join(' or '),
      ...(event === 'update' && { columns: ITEM }),
    })
  }
  // Tags that were taken away cannot be read any more; those that were given can.
  const parts: readonly (readonly [table: string, what: (event: Event) => string | null])[] = [
    ['item_tag', (event) => (event === 'insert' ? 'item' : 'tags')],
    ['skill_file', () => 'item'],
    // A new version or slug comes with a change of the item, which names it.
    ...(['slug', 'version'] as const).map((table) => [table, (event: Event) => (event === 'insert' ? null : 'item')] as const),
    // An item comes into lists with its first words.
    ['item_words', (event) => (event === 'insert' ? 'indexed' : 'search')],
    ...(['embedding', 'item_vector'] as const).map((table) => [table, () => 'search'] as const),
  ]
  for (const [table, what] of parts) {
    for (const event of EVENTS) {
      const name = what(event)
      if (name === null) continue
      const ofRow = (row: string) => logItem(name, 0, 'item', 'item', `item.seq = ${row}.item_seq and ${isShared('item')}`)
      await add(table, event, ROWS[event].map(ofRow).join('\n'))
    }
  }
  const nothing = Array.from({ length: 7 }, () => 'null')
  for (const event of EVENTS) {
    const ofRow = (row: string) => logOf([`'collection'`, `${row}.seq`, '0', ...nothing], one, `${row}.visibility <> 'private'`)
    await add('collection', event, ROWS[event].map(ofRow).join('\n'))
    for (const table of ['collection_slug', 'collection_item']) {
      const ofPart = (row: string) =>
        logOf(
          [`'collection'`, 'collection.seq', '0', ...nothing],
          'collection',
          `collection.seq = ${row}.collection_seq and collection.visibility <> 'private'`,
        )
      await add(table, event, ROWS[event].map(ofPart).join('\n'))
    }
  }
  for (const table of ['user', 'category', 'former_name']) {
    for (const event of EVENTS) {
      const columns = table === 'user' && event === 'update' ? { columns: USER } : {}
      await add(table, event, logOf([`'all'`, '0', '0', ...nothing], one, '1 = 1'), columns)
    }
  }
}
