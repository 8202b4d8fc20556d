import { createHash } from 'node:crypto'
import { type CustomAdapter, createAdapterFactory } from '@better-auth/core/db/adapter'
import { z } from 'zod'
import { LOGIN_TABLES, type LoginCondition, type LoginRow, type LoginTable } from '../domain/sign-in/logins.ts'
import { AppError } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'

const rowShape = z.record(z.string(), z.union([z.string(), z.number(), z.null()]))
const tableShape = z.enum(LOGIN_TABLES)
const operatorShape = z.enum(['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in', 'not_in'])
const dateText = z.date().transform((date) => date.toISOString())
const flag = z.boolean().transform(Number)
const valueShape = z.union([z.string(), z.number(), z.null(), dateText, flag, z.array(z.union([z.string(), z.number()]))])

type Condition = Parameters<CustomAdapter['findOne']>[0]['where'][number]

/** The stored form of a session's token: its SHA-256 in hex, so that reading the database signs nobody in. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** PostgreSQL keeps no text with NUL, which anybody can send in names and addresses of programs. */
export function replaceNul(text: string): string {
  return text.replaceAll('\0', '\ufffd')
}

const storable = <T>(value: T) => (typeof value === 'string' ? replaceNul(value) : value)

/** A session's row is found by the hash of its token. */
function toStored(table: LoginTable, field: string, given: z.infer<typeof valueShape>): z.infer<typeof valueShape> {
  const value = Array.isArray(given) ? given.map(storable) : storable(given)
  if (table !== 'login_session' || field !== 'token') return value
  if (typeof value === 'string') return hashToken(value)
  return Array.isArray(value) ? value.map((token) => hashToken(String(token))) : value
}

function toConditions(table: LoginTable, where: readonly Condition[]): LoginCondition[] {
  return where.map(({ field, operator, value, connector }) => ({
    field,
    operator: operatorShape.parse(operator),
    value: toStored(table, field, valueShape.parse(value)),
    connector: connector ?? 'AND',
  }))
}

function toRow(table: LoginTable, data: Record<string, unknown>): LoginRow {
  return Object.fromEntries(
    Object.entries(data).flatMap(([field, value]) => {
      if (value === undefined) return []
      const stored = toStored(table, field, valueShape.parse(value))
      return Array.isArray(stored) ? [] : [[field, stored]]
    }),
  )
}

/** Programs outlive the session of the browser in which they were allowed, which would end their tokens. */
function withoutSession(table: LoginTable, row: LoginRow): LoginRow {
  return table === 'oauth_access_token' || table === 'oauth_refresh_token' ? { ...row, session_id: null } : row
}

/** better-auth's models on our tables; it gets its rows through the store, like everybody else, and never sees a connection. */
export function loginAdapter(records: LibraryStore['logins']) {
  return createAdapterFactory({
    config: {
      adapterId: 'commonplace',
      adapterName: 'Commonplace',
      supportsNumericIds: false,
      supportsDates: false,
      supportsBooleans: false,
      supportsJSON: false,
      // A password is hashed between one row and the next: nothing may hold the database's only writer meanwhile.
      transaction: false,
    },
    adapter: ({ getFieldName }): CustomAdapter => {
      /** A row as better-auth gave it, where it holds a token: the row that is kept has the hash. */
      const withToken = <T>(row: LoginRow | undefined, token: unknown): T | null => {
        if (!row) return null
        // The factory asks for whatever type its caller says a row is.
        return (typeof token === 'string' ? { ...row, token } : row) as T
      }
      const tokenIn = (table: LoginTable, where: readonly Condition[]) =>
        table === 'login_session' ? where.find(({ field, operator }) => field === 'token' && operator === 'eq')?.value : undefined
      return {
        async create({ model, data }) {
          const table = tableShape.parse(model)
          const row = await records.insertLoginRow(table, withoutSession(table, toRow(table, data)))
          const created = withToken<typeof data>(rowShape.parse(row), table === 'login_session' ? data['token'] : undefined)
          if (!created) throw new AppError('internal', `The row of ${table} was not kept`)
          return created
        },
        async findOne({ model, where }) {
          const table = tableShape.parse(model)
          const [row] = await records.findLoginRows(table, toConditions(table, where), { limit: 1, offset: 0 })
          return withToken(row, tokenIn(table, where))
        },
        async findMany<T>({ model, where, limit, sortBy, offset }: Parameters<CustomAdapter['findMany']>[0]) {
          const table = tableShape.parse(model)
          // Only the name of the sort field is better-auth's own.
          const sorted = sortBy && { ...sortBy, field: getFieldName({ model, field: sortBy.field }) }
          const rows = await records.findLoginRows(table, toConditions(table, where ?? []), { limit, offset: offset ?? 0, sortBy: sorted })
          return rows.flatMap((row) => withToken<T>(row, undefined) ?? [])
        },
        async count({ model, where }) {
          const table = tableShape.parse(model)
          return await records.countLoginRows(table, toConditions(table, where ?? []))
        },
        async update<T>({ model, where, update }: { model: string; where: Condition[]; update: T }) {
          const table = tableShape.parse(model)
          const [row] = await records.updateLoginRows(table, toConditions(table, where), toRow(table, Object.assign({}, update)))
          return withToken<T>(row, tokenIn(table, where))
        },
        async updateMany({ model, where, update }) {
          const table = tableShape.parse(model)
          return (await records.updateLoginRows(table, toConditions(table, where), toRow(table, update))).length
        },
        async delete({ model, where }) {
          const table = tableShape.parse(model)
          await records.deleteLoginRows(table, toConditions(table, where), null)
        },
        async deleteMany({ model, where }) {
          const table = tableShape.parse(model)
          return (await records.deleteLoginRows(table, toConditions(table, where), null)).length
        },
        async consumeOne<T>({ model, where }: { model: string; where: Condition[] }) {
          const table = tableShape.parse(model)
          const [row] = await records.deleteLoginRows(table, toConditions(table, where), 1)
          return withToken<T>(row, undefined)
        },
      }
    },
  })
}

/** The condition that a column has a value. */
export function isEqual(field: string, value: string | number) {
  return { field, operator: 'eq', value, connector: 'AND' } as const satisfies LoginCondition
}
