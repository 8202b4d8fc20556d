import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { Decide, Editor } from '../../domain/items/item-access.ts'
import { type ItemKind, type ItemOf, isOfKind } from '../../domain/items/items.ts'
import {
  type LabelGate,
  type LabelMove,
  type LabelRule,
  type LabelTarget,
  MAX_LABELS,
  sameTargets,
  type WantedMove,
} from '../../domain/items/labels.ts'
import { audienceOf } from '../../domain/items/visibility.ts'
import type { OwnerQuota } from '../../domain/people/usage.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { findRole, findUserSeq, seqOfUser } from '../people/user-rows.ts'
import type { Database } from '../schema.ts'
import { writeMove } from './item-labels.ts'
import type { WriteNotes } from './item-parts.ts'
import { type ItemRow, toItems } from './item-rows.ts'
import { takeRoom } from './owner-usage.ts'
import type { WriteContext } from './write-context.ts'
import { findRow } from './write-items.ts'

/** Moves among which the last one is looked for that led elsewhere. */
const LOOKED_AT = 50
/** How many moves of a label are searched for a version that it held. */
const MOVES_LOOKED_AT = 500
/** Rules of one owner. */
const MAX_RULES = 50

const targetsJson = z.array(z.object({ version: z.number(), weight: z.number() }))

/** The state of a label and its item when a move is decided. */
interface LabelState<Kind extends ItemKind> {
  readonly item: ItemOf<Kind>
  /** Whether the owner lets maintainers alone move it. */
  readonly isProtected: boolean
  /** The last that led elsewhere; null: it was never moved. */
  readonly last: LabelMove | null
}

function selectRules(db: Kysely<Database>) {
  return db.selectFrom('label_rule').select(['name', 'is_protected', 'is_automatic']).orderBy('name')
}

function toRule(row: { name: string; is_protected: number; is_automatic: number }): LabelRule {
  return { name: row.name, isProtected: row.is_protected === 1, isAutomatic: row.is_automatic === 1 }
}

function readTargets(json: string | null): LabelTarget[] | null {
  return json === null ? null : targetsJson.parse(JSON.parse(json))
}

async function readMoves(
  db: Kysely<Database>,
  itemSeq: number,
  { before, limit, name }: { readonly before: number | null; readonly limit: number; readonly name?: string },
): Promise<LabelMove[]> {
  let query = db
    .selectFrom('label_move')
    .leftJoin('user', 'user.seq', 'label_move.user_seq')
    .select([
      'label_move.seq',
      'name as label',
      'moved_from',
      'moved_to',
      'reason',
      'user.username as author',
      'moved_at as at',
      'is_override',
    ])
    .where('item_seq', '=', itemSeq)
  if (name !== undefined) query = query.where('name', '=', name)
  if (before !== null) query = query.where('label_move.seq', '<', before)
  const rows = await query.orderBy('label_move.seq', 'desc').limit(limit).execute()
  return rows.map(({ moved_from: from, moved_to: to, is_override: isOverride, ...move }) => ({
    ...move,
    from: readTargets(from),
    to: readTargets(to),
    isOverride: isOverride === 1,
  }))
}

/** The last move of a label that changed where it points: the one an undo takes back. null: there is none. */
async function readLastMove(db: Kysely<Database>, itemSeq: number, name: string): Promise<LabelMove | null> {
  const moves = await readMoves(db, itemSeq, { before: null, limit: LOOKED_AT, name })
  return moves.find(({ from, to }) => !sameTargets(from, to)) ?? null
}

/** @throws AppError `not_found` for a version that is not there */
async function requireVersions(db: Kysely<Database>, itemSeq: number, targets: readonly LabelTarget[]): Promise<void> {
  const numbers = targets.map(({ version }) => version)
  const rows = await db.selectFrom('version').select('number').where('item_seq', '=', itemSeq).where('number', 'in', numbers).execute()
  const missing = numbers.find((number) => !rows.some((row) => row.number === number))
  if (missing !== undefined) throw new AppError('not_found', `Version ${missing} not found.`)
}

/** Counts a move as a version of the owner, with the version that it leads to or leaves. @throws AppError `too_large` */
async function countMove(db: Kysely<Database>, row: ItemRow, version: number, quota: OwnerQuota): Promise<void> {
  await takeRoom(db, row.owner_seq, { versions: 1 }, quota)
  await db
    .updateTable('version')
    .set((eb) => ({ filings: eb('filings', '+', 1) }))
    .where('item_seq', '=', row.seq)
    .where('number', '=', version)
    .execute()
}

/** Labels of items: their moves, and what owners say of them. */
export function labelStore(reader: Kysely<Database>, context: WriteContext) {
  return {
    /**
     * Moves a label of an item as `decide` says of it as it is now, and keeps the move, also one to where it is; null when the item is not found.
     * @throws AppError `not_found` for a version that is not there, `invalid_input` for too many labels, `too_large` for too many moves
     */
    moveLabel: <Kind extends ItemKind>(
      kind: Kind,
      ref: string,
      editor: Editor,
      name: string,
      decide: Decide<LabelState<Kind>, WantedMove | Promise<WantedMove>>,
    ): Promise<ItemOf<Kind> | null> =>
      context.transact(
        async (db, notes) => {
          const row = await findRow(db, kind, ref, editor)
          if (!row) return null
          const read = async () => (await toItems(db, [row])).filter(isOfKind(kind))[0] ?? null
          const item = await read()
          if (!item) return null
          const rule = await selectRules(db).where('owner_seq', '=', row.owner_seq).where('name', '=', name).executeTakeFirst()
          const last = await readLastMove(db, row.seq, name)
          const role = await findRole(db, editor.userId, row.owner_id)
          const { to, reason, isOverride } = await decide({ item, isProtected: rule?.is_protected === 1, last }, role)
          const from = item.labels.find((label) => label.name === name)?.targets ?? null
          if (from === null && item.labels.length >= MAX_LABELS) {
            throw invalidInput('label', `This ${kind} has ${MAX_LABELS} labels, which is the limit.`)
          }
          if (to) await requireVersions(db, row.seq, to)
          await countMove(db, row, (to ?? from ?? [])[0]?.version ?? row.version, context.quota)
          const at = context.now()
          await writeMove(db, row.seq, {
            name,
            from,
            to,
            reason,
            userSeq: await findUserSeq(db, editor.userId),
            at,
            ...(isOverride && { isOverride }),
          })
          noteMove(notes, row, name, to)
          return await read()
        },
        { isUnseen: true },
      ),
    /** Moves of labels of an item, the newest first, for those who see all its versions. */
    async findLastMove(itemId: string, name: string): Promise<LabelMove | null> {
      const item = await reader.selectFrom('item').select('seq').where('id', '=', itemId).executeTakeFirst()
      return item ? await readLastMove(reader, item.seq, name) : null
    },
    async listLabelMoves(itemId: string, page: { readonly before: number | null; readonly limit: number }): Promise<LabelMove[]> {
      const item = await reader.selectFrom('item').select('seq').where('id', '=', itemId).executeTakeFirst()
      return item ? await readMoves(reader, item.seq, page) : []
    },
    /** Whether a label pointed at this version alone before, by a move of this owner's that passed its gate. */
    async hasHeld(itemId: string, name: string, version: number): Promise<boolean> {
      const moves = await reader
        .selectFrom('label_move')
        .innerJoin('item', 'item.seq', 'label_move.item_seq')
        .select('moved_to')
        .where('item.id', '=', itemId)
        .where('name', '=', name)
        .where('is_override', '=', 0)
        .where('is_former', '=', 0)
        .orderBy('label_move.seq', 'desc')
        .limit(MOVES_LOOKED_AT)
        .execute()
      return moves.some(({ moved_to: to }) => readTargets(to)?.some((target) => target.version === version && target.weight === 100))
    },
    /** The gates of an owner's labels, by name. */
    async listLabelGates(ownerId: string): Promise<(LabelGate & { readonly name: string })[]> {
      const rows = await reader
        .selectFrom('label_gate')
        .select(['name', 'min_percent as minPercent', 'max_days as maxDays', 'max_drop as maxDrop', 'needs_check', 'keys'])
        .where('owner_seq', '=', await seqOfUser(reader, ownerId))
        .orderBy('name')
        .execute()
      return rows.map(({ needs_check: needsCheck, keys, ...gate }) => ({ ...gate, needsCheck: needsCheck === 1, keys: JSON.parse(keys) }))
    },
    /** Sets what an owner asks before a label moves; null asks for nothing. @throws AppError `invalid_input` for too many */
    setLabelGate: (ownerId: string, name: string, gate: LabelGate | null): Promise<void> =>
      context.transact(async (db, notes) => {
        const owner = await seqOfUser(db, ownerId)
        await db.deleteFrom('label_gate').where('owner_seq', '=', owner).where('name', '=', name).execute()
        const gates = await db.selectFrom('label_gate').select('name').where('owner_seq', '=', owner).execute()
        if (gate && gates.length >= MAX_RULES) throw invalidInput('name', `There are ${MAX_RULES} gates, which is the limit.`)
        if (gate) {
          const { minPercent, maxDays, maxDrop, needsCheck, keys } = gate
          await db
            .insertInto('label_gate')
            .values({
              owner_seq: owner,
              name,
              min_percent: minPercent,
              max_days: maxDays,
              max_drop: maxDrop,
              needs_check: needsCheck ? 1 : 0,
              keys: JSON.stringify(keys),
            })
            .execute()
        }
        notes.audit({ action: 'label_gate_changed', targetId: ownerId, ownerId, detail: { label: name } })
      }),
    async listLabelRules(ownerId: string): Promise<LabelRule[]> {
      return (
        await selectRules(reader)
          .where('owner_seq', '=', await seqOfUser(reader, ownerId))
          .execute()
      ).map(toRule)
    },
    /** Sets what an owner says of a label; a rule that says nothing is removed. @throws AppError `invalid_input` for too many */
    setLabelRule: (ownerId: string, { name, isProtected, isAutomatic }: LabelRule): Promise<void> =>
      context.transact(async (db, notes) => {
        const owner = await seqOfUser(db, ownerId)
        await db.deleteFrom('label_rule').where('owner_seq', '=', owner).where('name', '=', name).execute()
        const rules = await selectRules(db).where('owner_seq', '=', owner).execute()
        if (rules.length >= MAX_RULES) throw invalidInput('name', `There are ${MAX_RULES} rules, which is the limit.`)
        if (isProtected || isAutomatic) {
          await db
            .insertInto('label_rule')
            .values({ owner_seq: owner, name, is_protected: isProtected ? 1 : 0, is_automatic: isAutomatic ? 1 : 0 })
            .execute()
        }
        notes.audit({ action: 'label_rule_changed', targetId: ownerId, ownerId, detail: { label: name } })
      }),
  }
}

function noteMove(notes: WriteNotes, row: ItemRow, name: string, to: readonly LabelTarget[] | null): void {
  notes.index(row.seq, null)
  notes.changed({ kind: row.kind, ownerId: row.owner_id, audience: audienceOf(row.visibility) })
  const target = { targetId: row.id, ownerId: row.owner_id }
  const [first] = to ?? []
  if (first) notes.audit({ action: 'label_moved', ...target, detail: { kind: row.kind, label: name, version: first.version } })
  else notes.audit({ action: 'label_removed', ...target, detail: { kind: row.kind, label: name } })
}
