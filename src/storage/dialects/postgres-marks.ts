import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'

/** Transactions for which marks are kept. A replica that is further behind answers nobody. */
export const KEPT_TRANSACTIONS = 200_000
/** One transaction in so many removes old marks, at most this many. */
const TRIMMED_EVERY = 256
const TRIMMED_AT_ONCE = 10_000

/** What narrows what somebody may see, by table: a condition on the rows `old` and `new`, or null for every row. */
const NARROWING: readonly (readonly [table: string, event: 'insert' | 'update' | 'delete', when: string | null])[] = [
  [
    'item',
    'update',
    `(old.visibility <> new.visibility and new.visibility <> 'public') or (old.deleted_at is null and new.deleted_at is not null)
      or (old.held_at is null and new.held_at is not null) or old.owner_seq <> new.owner_seq`,
  ],
  ['item', 'delete', null],
  ['version', 'update', 'old.visibility <> new.visibility'],
  ['version', 'delete', null],
  ['version_file', 'delete', null],
  ['purge', 'insert', null],
  ['collection', 'update', `(old.visibility <> new.visibility and new.visibility <> 'public') or old.owner_seq <> new.owner_seq`],
  ['collection', 'delete', null],
  ['collection_item', 'delete', null],
  ['team_member', 'update', 'old.role <> new.role'],
  ['team_member', 'delete', null],
  [
    'user',
    'update',
    `old.role <> new.role or (old.suspended_at is null and new.suspended_at is not null) or (old.removal is null and new.removal is not null)`,
  ],
  ['user', 'delete', null],
]

/** Who wrote, by the rows of a statement: everything that a person changes leaves an event, but for votes and favourites. */
const WRITING = [
  ['audit_event', 'insert', 'select actor_id from changed where actor_id is not null'],
  ...(['vote', 'favourite'] as const).flatMap((table) =>
    (['insert', 'delete'] as const).map(
      (event) => [table, event, 'select "user".id from changed join "user" on "user".seq = changed.user_seq'] as const,
    ),
  ),
] as const

/**
 * Triggers that mark transactions. No two transactions write the same row, so none waits for another. Part of migration 0036: not to be
 * edited.
 */
export async function markTransactions(db: Kysely<Database>): Promise<void> {
  const mark = 'on conflict do nothing; return null;'
  await sql`create function mark_narrowing() returns trigger language plpgsql as $$
    begin insert into read_mark (caller, xid) values ('', pg_current_xact_id()::text::bigint) ${sql.raw(mark)} end $$`.execute(db)
  for (const [table, event, when] of NARROWING) {
    const condition = when === null ? sql`` : sql`when (${sql.raw(when)})`
    await sql`create trigger ${sql.id(`narrowing_${table}_${event}`)} after ${sql.raw(event)} on ${sql.table(table)}
      for each row ${condition} execute function mark_narrowing()`.execute(db)
  }
  for (const [table, event, callers] of WRITING) {
    const name = sql.id(`writing_${table}_${event}`)
    await sql`create function ${name}() returns trigger language plpgsql as $$
      begin insert into read_mark (caller, xid) select distinct caller, pg_current_xact_id()::text::bigint
        from (${sql.raw(callers)}) as writer (caller) ${sql.raw(mark)} end $$`.execute(db)
    await sql`create trigger ${name} after ${sql.raw(event)} on ${sql.table(table)}
      referencing ${sql.raw(event === 'insert' ? 'new' : 'old')} table as changed
      for each statement execute function ${name}()`.execute(db)
  }
  // A committed row has a number below the end of the snapshot, unless it came from another server with a dump.
  await sql`create function trim_read_mark() returns trigger language plpgsql as $$
    declare here constant bigint := pg_current_xact_id()::text::bigint;
    begin
      delete from read_mark where ctid = any(array(
        select ctid from read_mark
        where xid < here - ${sql.lit(KEPT_TRANSACTIONS)}
          or (xid > here and xid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
        limit ${sql.lit(TRIMMED_AT_ONCE)} for update skip locked));
      return null;
    end $$`.execute(db)
  await sql`create trigger trim_read_mark after insert on read_mark
    for each row when (new.xid % ${sql.lit(TRIMMED_EVERY)} = 0) execute function trim_read_mark()`.execute(db)
}
