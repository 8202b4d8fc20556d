import { type ExpressionBuilder, type Kysely, sql } from 'kysely'
import { isSharedVersion, type Label, type LabelTarget, MAX_LABELS, sortTargets } from '../../domain/items/labels.ts'
import { type Visibility, visibleSet, visibleVersions } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { ownersSeenBy } from '../people/user-rows.ts'
import { isOneOf, prepareListQuery, prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'

const targetsOf = prepareListQuery((db, seqs) =>
  db
    .selectFrom('label')
    .leftJoin('version', (join) => join.onRef('version.item_seq', '=', 'label.item_seq').onRef('version.number', '=', 'label.version'))
    .select(['label.item_seq', 'label.name', 'label.version', 'label.weight', 'version.visibility'])
    .where('label.item_seq', 'in', seqs)
    .orderBy('label.item_seq')
    .orderBy('label.name'),
)

/** The labels of some items, by row number and name. */
export async function readLabels(
  db: Kysely<Database>,
  rows: readonly { readonly seq: number; readonly version: number; readonly visibility: Visibility }[],
): Promise<ReadonlyMap<number, readonly Label[]>> {
  if (rows.length === 0) return new Map()
  const found = Map.groupBy(
    await targetsOf(
      db,
      rows.map(({ seq }) => seq),
    ),
    ({ item_seq: seq }) => seq,
  )
  return new Map(
    rows.flatMap(({ seq, version: newest, visibility }) => {
      const own = found.get(seq)
      if (!own) return []
      const isShared = (one: (typeof own)[number]) =>
        one.visibility !== null && isSharedVersion({ number: one.version, visibility: one.visibility }, { newest, visibility })
      const labels = [...Map.groupBy(own, ({ name }) => name)].map(([name, targets]) => ({
        name,
        targets: sortTargets(targets.map(({ version, weight }) => ({ version, weight }))),
        isShared: targets.every(isShared),
      }))
      return [[seq, labels] as const]
    }),
  )
}

const automaticLabels = prepareQuery((db) =>
  db
    .selectFrom('label_rule')
    .select('name')
    .where('owner_seq', '=', sql<number>`${slot('owner')}`)
    .where('is_automatic', '=', 1)
    // A label with a gate moves by a decision.
    .where('name', 'not in', (eb) =>
      eb
        .selectFrom('label_gate')
        .select('label_gate.name')
        .where('owner_seq', '=', sql<number>`${slot('owner')}`),
    ),
)

/** A move of a label, as it is written. */
interface Moved {
  readonly name: string
  readonly from: readonly LabelTarget[] | null
  readonly to: readonly LabelTarget[] | null
  readonly reason: string | null
  readonly userSeq: number | null
  readonly at: string
  readonly isOverride?: boolean
}

/** Writes where a label points, and that it was moved there. */
export async function writeMove(
  db: Kysely<Database>,
  itemSeq: number,
  { name, from, to, reason, userSeq, at, isOverride = false }: Moved,
): Promise<void> {
  await db.deleteFrom('label').where('item_seq', '=', itemSeq).where('name', '=', name).execute()
  if (to) {
    await db
      .insertInto('label')
      .values(to.map((target) => ({ item_seq: itemSeq, name, ...target })))
      .execute()
  }
  const toJson = (targets: readonly LabelTarget[] | null) => targets && JSON.stringify(sortTargets(targets))
  await db
    .insertInto('label_move')
    .values({
      item_seq: itemSeq,
      name,
      moved_from: toJson(from),
      moved_to: toJson(to),
      reason,
      user_seq: userSeq,
      moved_at: at,
      is_override: isOverride ? 1 : 0,
    })
    .execute()
}

/** Gives a new version the labels that its owner's new versions get by themselves. */
export async function labelNewVersion(
  db: Kysely<Database>,
  item: { readonly seq: number; readonly ownerSeq: number; readonly version: number; readonly editorSeq: number; readonly at: string },
): Promise<void> {
  const names = (await automaticLabels(db, { owner: item.ownerSeq })).map(({ name }) => name)
  if (names.length === 0) return
  const before = Map.groupBy(await targetsOf(db, [item.seq]), ({ name }) => name)
  for (const name of names) {
    const from = before.get(name)?.map(({ version, weight }) => ({ version, weight })) ?? null
    if (from === null && before.size >= MAX_LABELS) continue
    before.set(name, [])
    await writeMove(db, item.seq, {
      name,
      from,
      to: [{ version: item.version, weight: 100 }],
      reason: null,
      userSeq: item.editorSeq,
      at: item.at,
    })
  }
}

/** Removes labels that point at versions which are about to be removed: no other version takes their place. */
export async function dropLabelsOf(db: Kysely<Database>, itemSeq: number, versions: readonly number[], at: string): Promise<void> {
  const labels = Map.groupBy(await targetsOf(db, [itemSeq]), ({ name }) => name)
  for (const [name, targets] of labels) {
    if (!targets.some(({ version }) => versions.includes(version))) continue
    const from = targets.map(({ version, weight }) => ({ version, weight }))
    await writeMove(db, itemSeq, { name, from, to: null, reason: null, userSeq: null, at })
  }
}

/** Removes labels of items that the next owner has gates for: their versions did not pass those gates, and no move before did. */
export async function dropGatedLabels(db: Kysely<Database>, itemSeqs: readonly number[], ownerSeq: number, at: string): Promise<void> {
  await db.updateTable('label_move').set({ is_former: 1 }).where('item_seq', 'in', itemSeqs).execute()
  const gates = db.selectFrom('label_gate').select('name').where('owner_seq', '=', ownerSeq)
  const gated = await db
    .selectFrom('label')
    .select(['item_seq', 'name', 'version', 'weight'])
    .where('item_seq', 'in', itemSeqs)
    .where('name', 'in', gates)
    .execute()
  for (const targets of Map.groupBy(gated, ({ item_seq: seq, name }) => `${seq} ${name}`).values()) {
    const [{ item_seq: seq, name }] = targets as [(typeof targets)[number]]
    const from = targets.map(({ version, weight }) => ({ version, weight }))
    await writeMove(db, seq, { name, from, to: null, reason: null, userSeq: null, at })
  }
}

/** Whether a version of an item that the actor may see is there for them too. */
export function isVersionVisible(actor: Actor) {
  const { readerId } = visibleSet(actor, 'id')
  return (eb: ExpressionBuilder<Database, 'item' | 'version'>) =>
    eb.or([
      eb('version.number', '=', eb.ref('item.version')),
      isOneOf('version.visibility', visibleVersions(actor)),
      // A blocked version is read by number only: links and labels never lead to it.
      ...(readerId === null ? [] : [eb.and([eb('version.is_blocked', '=', 0), eb('item.owner_seq', 'in', ownersSeenBy(readerId))])]),
    ])
}

/** Versions at a label, the one of the largest share where several are, of items whose version there the actor may see. */
export function selectLabelled(db: Kysely<Database>, actor: Actor, name: string) {
  return db
    .selectFrom('label')
    .innerJoin('item', 'item.seq', 'label.item_seq')
    .innerJoin('version', (join) => join.onRef('version.item_seq', '=', 'label.item_seq').onRef('version.number', '=', 'label.version'))
    .select(['label.item_seq as seq', 'label.version'])
    .where('label.name', '=', name)
    .where(sql<boolean>`not exists (
      select 1 from label as other where other.item_seq = label.item_seq and other.name = label.name
      and (other.weight > label.weight or (other.weight = label.weight and other.version > label.version)))`)
    .where(isVersionVisible(actor))
}
