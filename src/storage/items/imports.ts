import type { Kysely } from 'kysely'
import { z } from 'zod'
import { type FullImportEntry, IMPORT_OUTCOMES, type ImportEntry, type ImportStore } from '../../library/ports/imports.ts'
import type { Database } from '../schema.ts'
import type { WriteContext } from './write-context.ts'
import { findUserSeq } from './write-items.ts'

const outcome = z.enum(IMPORT_OUTCOMES)
/** Rows of one insert: engines bound the parameters of a statement. */
const ROWS_AT_ONCE = 500
const LISTED = ['number', 'name', 'title', 'kind', 'outcome', 'remark', 'is_done', 'item_id'] as const

/** A text as every engine stores it: names of files, and remarks that quote them, may hold anything. */
function storable(text: string | null): string | null {
  return text === null ? null : text.replaceAll('\0', '\ufffd').toWellFormed()
}

interface EntryRow extends Omit<Database['import_entry'], 'import_seq' | 'body'> {}

function toEntry(row: EntryRow): ImportEntry {
  const { number, name, title, kind, remark } = row
  return { number, name, title, kind, remark, outcome: outcome.parse(row.outcome), isDone: row.is_done === 1, itemId: row.item_id }
}

/** Imports that people began on a page. */
export function importStore(reader: Kysely<Database>, context: WriteContext): ImportStore {
  const entriesOf = (id: string) =>
    reader
      .selectFrom('import_entry')
      .where('import_entry.import_seq', '=', (eb) => eb.selectFrom('import').select('seq').where('id', '=', id))
  return {
    keepImport: (userId, { visibility, entries }, oldest) =>
      context.transact(async (db) => {
        const ownerSeq = await findUserSeq(db, userId)
        await db
          .deleteFrom('import')
          .where((eb) => eb.or([eb('owner_seq', '=', ownerSeq), eb('created_at', '<', oldest)]))
          .execute()
        const id = context.random.id()
        const { seq } = await db
          .insertInto('import')
          .values({ id, owner_seq: ownerSeq, visibility, created_at: new Date(context.clock()).toISOString() })
          .returning('seq')
          .executeTakeFirstOrThrow()
        const rows = entries.map((entry, index) => ({
          import_seq: seq,
          number: index + 1,
          name: storable(entry.name) ?? '',
          title: storable(entry.title),
          kind: entry.kind,
          body: entry.body,
          outcome: entry.outcome,
          remark: storable(entry.remark),
          is_done: entry.isDone ? 1 : 0,
          item_id: entry.itemId,
        }))
        for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
          await db
            .insertInto('import_entry')
            .values(rows.slice(at, at + ROWS_AT_ONCE))
            .execute()
        }
        return id
      }),
    async findImport(userId, id, oldest) {
      const found = await reader
        .selectFrom('import')
        .innerJoin('user', 'user.seq', 'import.owner_seq')
        .select(['import.seq', 'import.id', 'import.visibility', 'import.created_at'])
        .where('import.id', '=', id)
        .where('user.id', '=', userId)
        .where('import.created_at', '>=', oldest)
        .executeTakeFirst()
      if (!found) return null
      const groups = await reader
        .selectFrom('import_entry')
        .select((eb) => ['outcome', 'is_done', eb.fn.countAll<number>().as('n')])
        .where('import_seq', '=', found.seq)
        .groupBy(['outcome', 'is_done'])
        .execute()
      const counts = { created: 0, updated: 0, unchanged: 0, kept: 0, refused: 0 }
      let [total, done] = [0, 0]
      for (const group of groups) {
        const n = Number(group.n)
        counts[outcome.parse(group.outcome)] += n
        total += n
        if (group.is_done === 1) done += n
      }
      return { id: found.id, visibility: found.visibility, createdAt: found.created_at, total, done, counts }
    },
    async listImportEntries(id, page) {
      const all = entriesOf(id)
      const wanted = page.outcome === null ? all : all.where('outcome', '=', page.outcome)
      const rows = await wanted.select(LISTED).orderBy('number').limit(page.limit).offset(page.offset).execute()
      return rows.map(toEntry)
    },
    async nextImportEntries(id, limit, maxLength) {
      const rows = await entriesOf(id)
        .select((eb) => [...LISTED, eb.fn<number>('length', ['body']).as('length')])
        .where('is_done', '=', 0)
        .orderBy('number')
        .limit(limit)
        .execute()
      const next: FullImportEntry[] = []
      let length = 0
      for (const row of rows) {
        length += Number(row.length ?? 0)
        if (next.length > 0 && length > maxLength) break
        const { body } = await entriesOf(id).select('body').where('number', '=', row.number).executeTakeFirstOrThrow()
        next.push({ ...toEntry(row), body })
      }
      return next
    },
    finishImportEntries: (id, entries) =>
      context.transact(async (db) => {
        const { seq } = await db.selectFrom('import').select('seq').where('id', '=', id).executeTakeFirstOrThrow()
        for (const entry of entries) {
          await db
            .updateTable('import_entry')
            .set({ outcome: entry.outcome, remark: storable(entry.remark), item_id: entry.itemId, is_done: 1, body: null })
            .where('import_seq', '=', seq)
            .where('number', '=', entry.number)
            .execute()
        }
      }),
  }
}
