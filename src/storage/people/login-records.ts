import { type ExpressionBuilder, type Kysely, type RawBuilder, sql } from 'kysely'
import type { AuditAction, AuditEntry } from '../../domain/service/audit.ts'
import type { LoginCondition, LoginEvent, LoginRow, LoginTable } from '../../domain/sign-in/logins.ts'
import { isId } from '../../domain/text/addresses.ts'
import type { WriteContext } from '../items/write-context.ts'
import { prepareListQuery } from '../prepared.ts'
import type { Database } from '../schema.ts'

const DAY_MS = 86_400_000
/** Days a refresh token is kept after its use: whoever presents it again may have stolen it, and the whole connection ends. */
const KEPT_USED_DAYS = 7
/** Programs kept that nobody connected. */
const MAX_UNUSED_CLIENTS = 5_000

const OPERATORS = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=', in: 'in', not_in: 'not in' } as const

function toCondition({ field, operator, value }: LoginCondition): RawBuilder<boolean> {
  const column = sql.ref(field)
  if (value === null) return operator === 'ne' ? sql`${column} is not null` : sql`${column} is null`
  if (!Array.isArray(value)) return sql`${column} ${sql.raw(OPERATORS[operator])} ${value}`
  if (value.length === 0) return operator === 'in' ? sql`1 = 0` : sql`1 = 1`
  return sql`${column} ${sql.raw(OPERATORS[operator])} (${sql.join([...value])})`
}

/** All conditions joined by AND hold, and at least one of those joined by OR when there are any. */
function toWhere(conditions: readonly LoginCondition[]): RawBuilder<unknown> {
  if (conditions.length === 0) return sql``
  const either = conditions.filter((condition) => condition.connector === 'OR').map(toCondition)
  const parts = conditions.filter((condition) => condition.connector === 'AND').map(toCondition)
  if (either.length > 0) parts.push(sql<boolean>`(${sql.join(either, sql` or `)})`)
  return sql`where ${sql.join(parts, sql` and `)}`
}

async function run(db: Kysely<Database>, query: RawBuilder<LoginRow>): Promise<LoginRow[]> {
  return (await query.execute(db)).rows
}

/** The event of a new row, and the column with the id of the person. Whoever signs in acts as themselves from then on. */
const NEW_ROWS: {
  readonly [Table in LoginTable]?: { readonly action: AuditAction; readonly column: string; readonly actsFromNowOn?: true }
} = {
  login_session: { action: 'signed_in', column: 'user_id', actsFromNowOn: true },
  login_verification: { action: 'reset_link_created', column: 'value' },
  login_passkey: { action: 'passkey_added', column: 'user_id' },
}

function describeNewRow(table: LoginTable, row: LoginRow): AuditEntry | null {
  const newRow = NEW_ROWS[table]
  const userId = row[newRow?.column ?? '']
  // Other verifications have a value that is no person.
  if (!newRow || typeof userId !== 'string' || !isId(userId)) return null
  return { action: newRow.action, targetId: userId, ownerId: userId, ...(newRow.actsFromNowOn ? { actorId: userId } : {}) }
}

/** The rows of better-auth, which names its own tables and columns. */
export function loginRecords(reader: Kysely<Database>, context: WriteContext) {
  return {
    /** `event`: default by the table. */
    insertLoginRow: (table: LoginTable, row: LoginRow, event?: LoginEvent): Promise<LoginRow> =>
      context.sideTransaction(async (db, audit) => {
        const columns = Object.keys(row)
        const [inserted] = await run(
          db,
          sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
            values (${sql.join(columns.map((column) => row[column] ?? null))}) returning *`,
        )
        const entry = event ? toEntry(event) : describeNewRow(table, row)
        if (entry) audit(entry)
        return inserted ?? row
      }),
    findLoginRows: (
      table: LoginTable,
      conditions: readonly LoginCondition[],
      page: { limit: number; offset: number; sortBy?: { field: string; direction: 'asc' | 'desc' } | undefined },
    ): Promise<LoginRow[]> =>
      run(
        reader,
        sql`select * from ${sql.table(table)} ${toWhere(conditions)}
          order by ${sql.ref(page.sortBy?.field ?? 'id')} ${sql.raw(page.sortBy?.direction ?? 'asc')}
          limit ${page.limit} offset ${page.offset}`,
      ),
    async countLoginRows(table: LoginTable, conditions: readonly LoginCondition[]): Promise<number> {
      const [row] = await run(reader, sql`select count(*) as count from ${sql.table(table)} ${toWhere(conditions)}`)
      return Number(row?.['count'] ?? 0)
    },
    /** The rows as they are afterwards. */
    updateLoginRows: (
      table: LoginTable,
      conditions: readonly LoginCondition[],
      values: LoginRow,
      event?: LoginEvent,
    ): Promise<LoginRow[]> =>
      context.sideTransaction(async (db, audit) => {
        const updated = await run(
          db,
          sql`update ${sql.table(table)}
            set ${sql.join(Object.entries(values).map(([column, value]) => sql`${sql.ref(column)} = ${value}`))}
            ${toWhere(conditions)} returning *`,
        )
        if (event && updated.length > 0) audit(toEntry(event))
        return updated
      }),
    /**
     * Deletes what programs left: tokens and verifications that are over, consents whose key is gone, and programs that nobody connected
     * within a day, or beyond the newest of those.
     */
    removeOldGrants: (): Promise<void> =>
      context.sideTransaction(async (db) => {
        const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()
        const now = daysAgo(0)
        const isConnected = (eb: ExpressionBuilder<Database, 'oauth_client'>) =>
          eb.exists(eb.selectFrom('api_key').select('api_key.id').whereRef('api_key.client_id', '=', 'oauth_client.client_id'))
        for (const table of ['oauth_access_token', 'login_verification', 'oauth_client_assertion'] as const) {
          await db.deleteFrom(table).where('expires_at', '<', now).execute()
        }
        await db
          .deleteFrom('oauth_refresh_token')
          .where((eb) => eb.or([eb('expires_at', '<', now), eb('revoked', '<', daysAgo(KEPT_USED_DAYS))]))
          .execute()
        const keys = db.selectFrom('api_key').select('id').where('client_id', 'is not', null)
        await db.deleteFrom('oauth_consent').where('created_at', '<', daysAgo(1)).where('reference_id', 'not in', keys).execute()
        await db
          .deleteFrom('oauth_client')
          .where('created_at', '<', daysAgo(1))
          .where((eb) => eb.not(isConnected(eb)))
          .execute()
        const newest = await db
          .selectFrom('oauth_client')
          .select('created_at')
          .where((eb) => eb.not(isConnected(eb)))
          .orderBy('created_at', 'desc')
          .offset(MAX_UNUSED_CLIENTS)
          .limit(1)
          .executeTakeFirst()
        if (!newest) return
        await db
          .deleteFrom('oauth_client')
          .where('created_at', '<=', newest.created_at)
          .where((eb) => eb.not(isConnected(eb)))
          .execute()
      }),
    /** The rows that went; at most `limit`, or all. */
    deleteLoginRows: (
      table: LoginTable,
      conditions: readonly LoginCondition[],
      limit: number | null,
      event?: LoginEvent,
    ): Promise<LoginRow[]> =>
      context.sideTransaction(async (db, audit) => {
        const chosen =
          limit === null
            ? toWhere(conditions)
            : sql`where id in (select id from ${sql.table(table)} ${toWhere(conditions)} order by id limit ${limit})`
        const deleted = await run(db, sql`delete from ${sql.table(table)} ${chosen} returning *`)
        if (event && deleted.length > 0) audit(toEntry(event))
        return deleted
      }),
  }
}

function toEntry({ action, userId }: LoginEvent): AuditEntry {
  return { action, targetId: userId, ownerId: userId }
}

/** Most ended sessions that are remembered. A token of one beyond works again for its owner, to whom it grants nothing. */
const MAX_ENDED = 100_000

const endedAmong = prepareListQuery<{ id: string }, string>((db, ids) => db.selectFrom('ended_session').select('id').where('id', 'in', ids))

/** Ended sessions, by id. */
export function endedSessionStore(reader: Kysely<Database>, context: WriteContext) {
  return {
    /** Ends a session for every process. @param endsAt when its token ends by itself, in milliseconds */
    endSession: (id: string, endsAt: number): Promise<void> =>
      context.sideTransaction(async (db) => {
        const at = (ms: number) => new Date(ms).toISOString()
        await db.deleteFrom('ended_session').where('ends_at', '<', at(context.clock())).execute()
        const surplus = db
          .selectFrom('ended_session')
          .select('id')
          .orderBy('ends_at', 'desc')
          .offset(MAX_ENDED - 1)
          .limit(MAX_ENDED)
        await db.deleteFrom('ended_session').where('id', 'in', surplus).execute()
        await db
          .insertInto('ended_session')
          .values({ id, ends_at: at(endsAt) })
          .onConflict((conflict) => conflict.column('id').doNothing())
          .execute()
      }),
    /** Those of these sessions that were ended. */
    async findEndedSessions(ids: readonly string[]): Promise<string[]> {
      return ids.length === 0 ? [] : (await endedAmong(reader, ids)).map(({ id }) => id)
    },
  }
}
