import type { Kysely } from 'kysely'
import { atVersion } from '../../domain/items/at-version.ts'
import type { Item, ItemKind } from '../../domain/items/items.ts'
import type { ItemFilter } from '../../domain/items/search.ts'
import { visibleSet } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { batches } from '../batches.ts'
import type { Database } from '../schema.ts'
import { applyFilter, readFilter } from './item-filters.ts'
import { selectLabelled } from './item-labels.ts'
import { selectItems, toItems } from './item-rows.ts'
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
    const seqs = [...(rowFilter.seqs ?? [])].toSorted((a, b) => a - b)
    const found = new Map<number, Item>()
    for (const part of batches(seqs)) {
      const rows = await applyFilter(selectItems(db), kind, { ...rowFilter, seqs: new Set(part) }, visibleSet(actor, 'list')).execute()
      for (const [place, item] of (await toItems(db, rows)).entries()) found.set(rows[place]?.seq ?? 0, item)
    }
    const versionOf = new Map((await selectLabelled(db, actor, filter.label).execute()).map((row) => [row.seq, row.version]))
    const shown = [...found].toSorted(([one], [other]) => one - other).slice(offset, offset + limit)
    const items: LabelledItem[] = []
    for (const [seq, item] of shown) {
      const version = versionOf.get(seq) ?? item.version
      const text = version === item.version ? null : await findVersion(actor, item.id, version)
      if (version === item.version) items.push({ item, version })
      else if (text) items.push({ item: atVersion(item, text), version })
    }
    return { items, total: found.size }
  }
}
