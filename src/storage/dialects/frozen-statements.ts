import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'

/**
 * The statements of landed migrations that differ by engine. None of it may be edited: the digests of these migrations are of the statements that it
 * runs. Migration 0044 removes what it made.
 */
export interface FrozenStatements {
  /**
   * Creates triggers that raise the revision of a scope with each change of these tables, or of these columns of their rows. Part of migration
   * 0014: not to be edited.
   */
  raiseRevision(db: Kysely<Database>, scope: string, tables: readonly RevisedTable[]): Promise<void>
  /** Adds such triggers for further tables, where `raiseRevision` has run. Part of migration 0015: not to be edited. */
  addRevisionTriggers(db: Kysely<Database>, scope: string, tables: readonly RevisedTable[]): Promise<void>
  /** Creates a trigger that runs after each row of an event. Part of migration 0034: not to be edited. */
  addTrigger(db: Kysely<Database>, trigger: Trigger): Promise<void>
  /** Adds what marks transactions for reads from replicas; nothing where there are none. Part of migration 0036: not to be edited. */
  markTransactions(db: Kysely<Database>): Promise<void>
  /** Lets the triggers of revisions run at the commit, where several write at once. Part of migration 0035: not to be edited. */
  deferTriggers(db: Kysely<Database>): Promise<void>
  /** Creates the tables of the snapshot of the search index, where the engine keeps it in tables. Part of migration 0037: not to be edited. */
  createSnapshotTables(db: Kysely<Database>): Promise<void>
  /** Drops all triggers of the library and their functions. Part of migration 0044: not to be edited. */
  dropTriggers(db: Kysely<Database>): Promise<void>
}

/** A table whose changes raise a revision; with `columns`, only updates of those count. */
interface RevisedTable {
  readonly table: string
  readonly columns?: readonly string[]
}

/** A trigger of one event. `body` and `when` are SQL that every engine knows, over the rows `old` and `new`. */
interface Trigger {
  readonly name: string
  readonly table: string
  readonly event: 'insert' | 'update' | 'delete'
  /** Only updates of these columns count. Default: all */
  readonly columns?: readonly string[]
  readonly when?: string
  /** Statements, each with its semicolon. */
  readonly body: string
  /** The scope of `revision` whose row is locked first, until the transaction ends, where several write at once. */
  readonly locks: string
}

/** The event of a trigger with its columns. */
function eventOf({ event, columns }: Trigger) {
  return columns ? sql`${sql.raw(event)} of ${sql.join(columns.map((column) => sql.ref(column)))}` : sql.raw(event)
}

export const sqliteFrozen: FrozenStatements = {
  raiseRevision: addSqliteTriggers,
  addRevisionTriggers: addSqliteTriggers,
  async addTrigger(db, trigger) {
    const when = trigger.when === undefined ? sql`` : sql`when ${sql.raw(trigger.when)}`
    await sql`create trigger ${sql.id(trigger.name)} after ${eventOf(trigger)} on ${sql.table(trigger.table)} ${when}
      begin ${sql.raw(trigger.body)} end`.execute(db)
  },
  async markTransactions() {},
  async deferTriggers() {},
  async createSnapshotTables() {},
  async dropTriggers(db) {
    const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'trigger' order by name`.execute(db)
    for (const { name } of rows) await sql`drop trigger ${sql.id(name)}`.execute(db)
  },
}

/** A trigger for each event of a row. */
async function addSqliteTriggers(db: Kysely<Database>, scope: string, tables: readonly RevisedTable[]): Promise<void> {
  for (const { table, columns } of tables) {
    const changed = columns ? sql`update of ${sql.join(columns.map((column) => sql.ref(column)))}` : sql`update`
    for (const [name, event] of [
      ['insert', sql`insert`],
      ['update', changed],
      ['delete', sql`delete`],
    ] as const) {
      await sql`create trigger ${sql.id(`revision_${table}_${name}`)} after ${event} on ${sql.table(table)}
          begin update revision set value = value + 1 where scope = ${sql.lit(scope)}; end`.execute(db)
    }
  }
}

export const postgresFrozen: FrozenStatements = {
  async raiseRevision(db, scope, tables) {
    // Once a transaction: the setting ends with it.
    await sql`create function raise_revision() returns trigger language plpgsql as $$
      begin
        if coalesce(current_setting('commonplace.raised', true), '') <> tg_argv[0] then
          update revision set value = value + 1 where scope = tg_argv[0];
          perform set_config('commonplace.raised', tg_argv[0], true);
        end if;
        return null;
      end $$`.execute(db)
    await addPostgresTriggers(db, scope, tables)
  },
  addRevisionTriggers: addPostgresTriggers,
  async addTrigger(db, trigger) {
    await sql`create function ${sql.id(trigger.name)}() returns trigger language plpgsql as $$
      begin perform 1 from revision where scope = ${sql.lit(trigger.locks)} for update; ${sql.raw(trigger.body)} return null; end $$`.execute(
      db,
    )
    const when = trigger.when === undefined ? sql`` : sql`when (${sql.raw(trigger.when)})`
    await sql`create trigger ${sql.id(trigger.name)} after ${eventOf(trigger)} on ${sql.table(trigger.table)}
      for each row ${when} execute function ${sql.id(trigger.name)}()`.execute(db)
  },
  async deferTriggers(db) {
    await sql`do $$
      declare found record;
      begin
        for found in
          select tgname, tgrelid::regclass as place, pg_get_triggerdef(pg_trigger.oid) as definition
          from pg_trigger join pg_class on pg_class.oid = tgrelid
          where not tgisinternal and relnamespace = current_schema()::regnamespace
          and (tgname like 'revision\\_%' or tgname like 'public\\_%') and relname <> 'public_change'
          order by relname, tgname
        loop
          execute format('drop trigger %I on %s', found.tgname, found.place);
          execute replace(replace(found.definition, 'CREATE TRIGGER', 'CREATE CONSTRAINT TRIGGER'),
            ' FOR EACH ROW', ' DEFERRABLE INITIALLY DEFERRED FOR EACH ROW');
        end loop;
      end $$`.execute(db)
  },
  createSnapshotTables,
  markTransactions,
  async dropTriggers(db) {
    await sql`do $$
      declare found record;
      begin
        for found in
          select tgname, tgrelid::regclass as place from pg_trigger join pg_class on pg_class.oid = tgrelid
          where not tgisinternal and relnamespace = current_schema()::regnamespace
        loop
          execute format('drop trigger %I on %s', found.tgname, found.place);
        end loop;
        for found in
          select oid::regprocedure as name from pg_proc
          where pronamespace = current_schema()::regnamespace and prorettype = 'trigger'::regtype
            and (proname in ('raise_revision', 'mark_narrowing', 'trim_read_mark') or proname like 'public\\_%' or proname like 'writing\\_%')
        loop
          execute format('drop function %s', found.name);
        end loop;
      end $$`.execute(db)
  },
}

/** One trigger a table, which calls the function that `raiseRevision` makes. */
async function addPostgresTriggers(db: Kysely<Database>, scope: string, tables: readonly RevisedTable[]): Promise<void> {
  for (const { table, columns } of tables) {
    const changed = columns ? sql`update of ${sql.join(columns.map((column) => sql.ref(column)))}` : sql`update`
    await sql`create trigger ${sql.id(`revision_${table}`)} after insert or delete or ${changed} on ${sql.table(table)}
        for each row execute function raise_revision(${sql.lit(scope)})`.execute(db)
  }
}

/** Transactions for which marks are kept. A replica that is further behind answers nobody. */
const KEPT_TRANSACTIONS = 200_000
/** One transaction in so many removes old marks, at most this many. */
const TRIMMED_EVERY = 256
const TRIMMED_AT_ONCE = 10_000

/** Changes that narrow what somebody may see, by table: a condition on the rows `old` and `new`, or null for every row. */
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

/** The writers of a statement, by its rows: everything that a person changes leaves an event, but for votes and favourites. */
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
async function markTransactions(db: Kysely<Database>): Promise<void> {
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

/**
 * Creates the tables of the snapshot. They are unlogged: no write-ahead log, nothing on standbys, and empty after a crash of the server. A
 * snapshot refers to the row of the epoch, so whoever deletes that row deletes the snapshot in the same transaction; there is one finished
 * snapshot, and one writer. Part of migration 0037: not to be edited.
 */
async function createSnapshotTables(db: Kysely<Database>): Promise<void> {
  await sql`create unlogged table index_snapshot (
    id text primary key,
    epoch_name text not null default 'search_epoch' references secret (name) on delete cascade,
    is_whole boolean not null default false,
    renewed_at timestamptz not null default now(),
    unique (epoch_name, is_whole))`.execute(db)
  await sql`create unlogged table index_snapshot_part (
    snapshot_id text not null references index_snapshot (id) on delete cascade,
    part integer not null,
    bytes bytea not null,
    primary key (snapshot_id, part))`.execute(db)
  await sql`alter table index_snapshot_part alter column bytes set storage external`.execute(db)
}
