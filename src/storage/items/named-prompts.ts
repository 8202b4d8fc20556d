import { type Kysely, sql } from 'kysely'
import type { Item, ItemOf } from '../../domain/items/items.ts'
import { LATEST } from '../../domain/items/labels.ts'
import { slugifyTag } from '../../domain/items/slug.ts'
import { visibleSet } from '../../domain/items/visibility.ts'
import { type Actor, privateReaderId } from '../../domain/people/actor.ts'
import { MAX_PARTS, partsOf } from '../../domain/prompts/parts.ts'
import { AppError } from '../../errors.ts'
import { ownersSeenBy } from '../people/user-rows.ts'
import type { Database } from '../schema.ts'
import { readLabels, selectLabelled } from './item-labels.ts'
import type { NextState } from './item-parts.ts'
import { findVisibleRow } from './item-queries.ts'
import { isInVisibleSet, readConfig, readItemsInOrder, readRowsAs, readTags, selectItems } from './item-rows.ts'

/** The name that programs know a prompt by. */
const nameOf = sql<string>`coalesce(item.api_name, item.slug)`

/** Refuses a name that a live prompt of the owner has. Call it in the transaction that writes it. @throws AppError `conflict` */
export async function requireFreeName(db: Kysely<Database>, ownerSeq: number, name: string | null): Promise<void> {
  if (name === null) return
  const live = db.selectFrom('item').select('seq').where('owner_seq', '=', ownerSeq).where('deleted_at', 'is', null)
  const named = await live.where('api_name', '=', name).executeTakeFirst()
  const taken = named ?? (await live.where('slug', '=', name).where('kind', '=', 'prompt').where('api_name', 'is', null).executeTakeFirst())
  if (taken) throw new AppError('conflict', `There is a prompt named "${name}" already. Read it again, and save its next version.`)
}

/** Takes the names that other live prompts of their owner have from prompts, which are known by their slugs from then on. */
export async function dropTakenNames(db: Kysely<Database>, seqs: readonly number[]): Promise<void> {
  await db
    .updateTable('item')
    .set({ api_name: null })
    .where('seq', 'in', seqs)
    .where('api_name', 'is not', null)
    .where(sql<boolean>`exists (
      select 1 from item as other where other.owner_seq = item.owner_seq and other.api_name = item.api_name
      and other.seq <> item.seq and other.deleted_at is null)`)
    .execute()
}

/** Narrows a list of prompts by their versions. Times are ISO 8601 in UTC; `to` is not included. */
interface NamedFilter {
  readonly name?: string | undefined
  readonly label?: string | undefined
  readonly tag?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Versions of prompts of the actor and of their teams that pass a filter. */
function selectVersions(db: Kysely<Database>, actor: Actor, { name, label, tag, from, to }: NamedFilter) {
  let query = db
    .selectFrom('version')
    .innerJoin('item', 'item.seq', 'version.item_seq')
    .where('item.kind', '=', 'prompt')
    .where('item.owner_seq', 'in', ownersSeenBy(privateReaderId(actor)))
    .where(isInVisibleSet(visibleSet(actor, 'list')))
  if (name !== undefined) query = query.where(nameOf, '=', name)
  if (from !== undefined) query = query.where('version.created_at', '>=', from)
  if (to !== undefined) query = query.where('version.created_at', '<', to)
  if (tag !== undefined) {
    query = query.where('item.seq', 'in', (eb) => eb.selectFrom('item_tag').select('item_seq').where('slug', '=', slugifyTag(tag)))
  }
  if (label === LATEST) query = query.whereRef('version.number', '=', 'item.version')
  else if (label !== undefined) {
    query = query.where((eb) =>
      eb.exists(
        eb
          .selectFrom(selectLabelled(db, actor, label).as('labelled'))
          .select('labelled.seq')
          .whereRef('labelled.seq', '=', 'item.seq')
          .whereRef('labelled.version', '=', 'version.number'),
      ),
    )
  }
  return query
}

/** Prompts by the names that programs know them by. */
export function readNamedPrompts(db: Kysely<Database>) {
  return {
    /** The actor's own prompt of a name, else one of their teams', else the prompt of this slug or id that they may see; null for none. */
    async findNamed(actor: Actor, name: string): Promise<ItemOf<'prompt'> | null> {
      const readerId = privateReaderId(actor)
      const named = await selectItems(db)
        .where('item.kind', '=', 'prompt')
        .where('item.api_name', '=', name)
        .where('item.owner_seq', 'in', ownersSeenBy(readerId))
        .where(isInVisibleSet(visibleSet(actor, 'list')))
        .orderBy(sql`case when owner.id = ${readerId} then 0 else 1 end`)
        .orderBy('item.seq')
        .limit(1)
        .executeTakeFirst()
      const other = named?.owner_id === readerId ? null : await findVisibleRow(db, actor, 'prompt', name)
      const row = other?.owner_id === readerId ? other : (named ?? other)
      return row ? ((await readRowsAs(db, [row], 'prompt'))[0]?.item ?? null) : null
    },
    /** The prompt that an owner calls so; `hidden` where the actor may not see it, null where the owner calls none so. */
    async findNamedOf(ownerId: string, actor: Actor, name: string): Promise<ItemOf<'prompt'> | 'hidden' | null> {
      const named = await db
        .selectFrom('item')
        .innerJoin('user', 'user.seq', 'item.owner_seq')
        .select('item.id')
        .where('item.kind', '=', 'prompt')
        .where('item.api_name', '=', name)
        .where('user.id', '=', ownerId)
        .where('item.deleted_at', 'is', null)
        .executeTakeFirst()
      if (!named) return null
      const row = await findVisibleRow(db, actor, 'prompt', named.id)
      return row ? ((await readRowsAs(db, [row], 'prompt'))[0]?.item ?? 'hidden') : 'hidden'
    },
    /** A page of the prompts of the actor and of their teams by name, and how many there are. Of each, the versions that pass the filter. */
    async listNamed(actor: Actor, filter: NamedFilter, { limit, offset }: { readonly limit: number; readonly offset: number }) {
      const versions = selectVersions(db, actor, filter)
      const { total } = await versions.select((eb) => eb.fn.count<number>('item.seq').distinct().as('total')).executeTakeFirstOrThrow()
      const rows = await versions
        .select(['item.seq', 'item.version', 'item.visibility', nameOf.as('name')])
        .select(sql<number>`case when item.messages is null then 0 else 1 end`.as('is_chat'))
        .groupBy('item.seq')
        .orderBy('name')
        .orderBy('item.seq')
        .limit(limit)
        .offset(offset)
        .execute()
      const seqs = rows.map(({ seq }) => seq)
      if (seqs.length === 0) return { prompts: [], total: Number(total) }
      const [found, labels, tags] = await Promise.all([
        versions
          .select(['version.seq', 'version.item_seq', 'version.number', 'version.created_at'])
          .where('item.seq', 'in', seqs)
          .orderBy('version.number')
          .execute(),
        readLabels(db, rows),
        readTags(db, seqs),
      ])
      const versionsOf = Map.groupBy(found, ({ item_seq: seq }) => seq)
      const newest = [...versionsOf.values()].flatMap((own) => own.at(-1)?.seq ?? [])
      const configs = await db.selectFrom('version').select(['item_seq', 'config']).where('seq', 'in', newest).execute()
      const configOf = new Map(configs.map(({ item_seq: seq, config }) => [seq, readConfig(config)]))
      return {
        prompts: rows.map(({ seq, name, version, is_chat: isChat }) => {
          const own = versionsOf.get(seq) ?? []
          return {
            name,
            isChat: isChat === 1,
            /** Number of its newest version, whatever the filter. */
            newest: version,
            versions: own.map(({ number }) => number),
            labels: labels.get(seq) ?? [],
            tags: tags.get(seq) ?? [],
            /** Of these versions, as is `config` of the newest of them. */
            updatedAt: own.reduce((last, { created_at: at }) => (at > last ? at : last), ''),
            config: configOf.get(seq) ?? null,
          }
        }),
        total: Number(total),
      }
    },
  }
}

/** Keeps which prompts the newest text of a prompt takes in. Names without a prompt get no row. */
export async function writePartRefs(
  db: Kysely<Database>,
  item: { readonly seq: number; readonly ownerSeq: number; readonly isNew: boolean },
  next: NextState,
): Promise<void> {
  const refs = next.kind === 'prompt' ? partsOf(next).slice(0, MAX_PARTS) : []
  if (!item.isNew) await db.deleteFrom('item_part').where('item_seq', '=', item.seq).execute()
  if (refs.length === 0) return
  const names = [...new Set(refs.map(({ ref }) => ref))]
  const found = await db
    .selectFrom('item')
    .leftJoin('slug', 'slug.item_seq', 'item.seq')
    .select(['item.seq', 'item.id', 'slug.slug', 'item.api_name', 'item.owner_seq', 'item.deleted_at'])
    .where('item.kind', '=', 'prompt')
    .where((eb) =>
      eb.or([
        eb('item.id', 'in', names),
        eb('slug.slug', 'in', names),
        eb.and([eb('item.api_name', 'in', names), eb('item.owner_seq', '=', item.ownerSeq)]),
      ]),
    )
    .execute()
  // What the owner calls so comes before what has the name as its address.
  const parts = names.flatMap((name) => {
    const own = found.filter((one) => one.api_name === name && one.owner_seq === item.ownerSeq)
    const live = own.find(({ deleted_at: deletedAt }) => deletedAt === null)
    // One in the trash may come back.
    return live ?? found.find(({ id, slug }) => id === name || slug === name) ?? own[0] ?? []
  })
  if (parts.length === 0) return
  await db
    .insertInto('item_part')
    .values([...new Set(parts.map(({ seq }) => seq))].map((seq) => ({ item_seq: item.seq, part_seq: seq })))
    .execute()
}

/** Prompts that take others in. */
export function readParts(db: Kysely<Database>) {
  return {
    /** Prompts whose newest text takes this one in, as far as the actor finds them in lists or owns them, in the order they were made. */
    async listDependants(actor: Actor, itemId: string, limit: number): Promise<Item[]> {
      const rows = await db
        .selectFrom('item_part')
        .innerJoin('item', 'item.seq', 'item_part.item_seq')
        .select('item.seq')
        .where('item_part.part_seq', '=', sql<number>`(select part.seq from item as part where part.id = ${itemId})`)
        .where(isInVisibleSet(visibleSet(actor, 'list')))
        .orderBy('item.seq')
        .limit(limit)
        .execute()
      return await readItemsInOrder(db, rows)
    },
  }
}
