import { type Kysely, sql } from 'kysely'
import { atVersion } from '../../domain/items/at-version.ts'
import type { Item, ItemKind } from '../../domain/items/items.ts'
import type { ItemFilter } from '../../domain/items/search.ts'
import { visibleSet } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { AppError } from '../../errors.ts'
import { batches } from '../batches.ts'
import type { Database } from '../schema.ts'
import { applyFilter, readFilter } from './item-filters.ts'
import { selectLabelled } from './item-labels.ts'
import { selectItems, seqOf, toItems } from './item-rows.ts'
import type { readVersions } from './read-versions.ts'

/** An item as the version at a label has it. */
interface LabelledItem {
  readonly item: Item
  readonly version: number
}

/** A page of items at a label. */
export interface LabelledItems {
  readonly items: readonly LabelledItem[]
  readonly total: number
}

/** The texts of one answer, by those of the newest versions. */
const MAX_LABELLED_BYTES = 16 * 2 ** 20

/** Items with their row numbers, in the order asked for. */
async function readInOrder(db: Kysely<Database>, seqs: readonly number[]): Promise<{ seq: number; item: Item }[]> {
  const read: { seq: number; item: Item }[] = []
  for (const part of batches(seqs)) {
    const rows = (await selectItems(db).where('item.seq', 'in', part).execute()).toSorted((one, other) => one.seq - other.seq)
    for (const [place, item] of (await toItems(db, rows)).entries()) read.push({ seq: rows[place]?.seq ?? 0, item })
  }
  return read
}

/** Items at a label with everything that their version holds, oldest first; those without it are left out. */
export function listAtLabel(db: Kysely<Database>, findVersion: ReturnType<typeof readVersions>['findVersion']) {
  return async (
    actor: Actor,
    kind: ItemKind,
    filter: ItemFilter & { readonly label: string },
    limit: number,
    offset: number,
  ): Promise<LabelledItems> => {
    const rowFilter = await readFilter(db, actor, filter)
    const found: { readonly seq: number; readonly bytes: number }[] = []
    for (const part of batches([...(rowFilter.seqs ?? [])].toSorted((a, b) => a - b))) {
      const all = db.selectFrom('item').select(['item.seq', sql<number>`octet_length(item.content)`.as('bytes')])
      found.push(...(await applyFilter(all, kind, { ...rowFilter, seqs: new Set(part) }, visibleSet(actor, 'list')).execute()))
    }
    const page = found.toSorted((one, other) => one.seq - other.seq).slice(offset, offset + limit)
    if (page.reduce((sum, { bytes }) => sum + Number(bytes), 0) > MAX_LABELLED_BYTES) {
      throw new AppError(
        'too_large',
        `These prompts have more than ${MAX_LABELLED_BYTES / 2 ** 20} MiB. Ask for those of a category, tag or author.`,
      )
    }
    const versionOf = new Map((await selectLabelled(db, actor, filter.label).execute()).map((row) => [row.seq, row.version]))
    const items: LabelledItem[] = []
    for (const { seq, item } of await readInOrder(db, page.map(seqOf))) {
      const version = versionOf.get(seq) ?? item.version
      const text = version === item.version ? null : await findVersion(actor, item.id, version)
      if (version === item.version) items.push({ item, version })
      else if (text) items.push({ item: atVersion(item, text), version })
    }
    return { items, total: found.length }
  }
}
