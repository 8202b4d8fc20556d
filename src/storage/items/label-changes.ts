import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { ItemKind } from '../../domain/items/items.ts'
import type { ItemFilter } from '../../domain/items/search.ts'
import { type SharedChange, type SharedVersion, sharedPath } from '../../domain/items/shared-changes.ts'
import { visibleSet } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { makeBody } from '../../domain/prompts/body.ts'
import { countFiles } from '../change-log.ts'
import type { Database } from '../schema.ts'
import { applyFilter, readFilter } from './item-filters.ts'
import { isVersionVisible, selectLabelled } from './item-labels.ts'
import { readTags, seqOf } from './item-rows.ts'
import type { readVersions } from './read-versions.ts'

const targetsJson = z.array(z.object({ version: z.number() })).min(1)

/** The version of the largest share; null where the label was removed. */
function topOf(json: string | null): number | null {
  return json === null ? null : (targetsJson.parse(JSON.parse(json))[0]?.version ?? null)
}

/** The moves of a label as a history: what everybody who follows it had, one after the other. */
export function readLabelChanges(db: Kysely<Database>, { findVersion }: Pick<ReturnType<typeof readVersions>, 'findVersion'>) {
  return {
    /** How many items of a kind within a scope the actor sees at each label, those with most items first. */
    async countLabels(actor: Actor, reach: 'list' | 'id', kind: ItemKind, filter: ItemFilter, limit: number) {
      const query = db
        .selectFrom('item')
        .innerJoin('label', 'label.item_seq', 'item.seq')
        .innerJoin('version', (join) => join.onRef('version.item_seq', '=', 'item.seq').onRef('version.number', '=', 'label.version'))
        .select(({ fn }) => ['label.name', fn.count<number>('item.seq').distinct().as('items')])
        .where(isVersionVisible(actor))
        .groupBy('label.name')
      const rows = await applyFilter(query, kind, await readFilter(db, actor, filter), visibleSet(actor, reach))
        .orderBy('items', 'desc')
        .orderBy('name')
        .limit(limit)
        .execute()
      return rows.map(({ name, items }) => ({ name, items: Number(items) }))
    },
    /** Moves of a label of items that the actor may see within a scope, by items after a position; of one that came back, those since. */
    async walkLabelChanges(
      actor: Actor,
      reach: 'list' | 'id',
      kind: ItemKind,
      filter: ItemFilter & { readonly label: string },
      after: number,
      limit: number,
    ): Promise<{ readonly changes: readonly SharedChange[]; readonly next: number | null }> {
      const { label, ...scope } = filter
      // The label is joined: as a filter, all its items would be read for each page.
      const labelled = applyFilter(selectLabelled(db, actor, label), kind, await readFilter(db, actor, scope), visibleSet(actor, reach))
      const items = await labelled
        .leftJoin('category', 'category.seq', 'item.category_seq')
        .select(['item.id', 'item.kind', 'item.slug', 'item.channel_name', 'item.skill_name', 'category.slug as category'])
        .where('item.seq', '>', after)
        .orderBy('item.seq')
        .limit(limit)
        .execute()
      const next = items.length < limit ? null : (items.at(-1)?.seq ?? null)
      if (items.length === 0) return { changes: [], next }
      const moves = await db
        .selectFrom('label_move')
        .select(['seq', 'item_seq', 'moved_to', 'moved_at'])
        .where('name', '=', label)
        .where('item_seq', 'in', items.map(seqOf))
        .orderBy('seq')
        .execute()
      const movesOf = Map.groupBy(moves, (row) => row.item_seq)
      const filesOf = await countFiles(db, items.map(seqOf), isVersionVisible(actor))
      const changes: SharedChange[] = []
      for (const item of items) {
        const all = movesOf.get(item.seq) ?? []
        const path = sharedPath({ ...item, name: item.channel_name ?? item.skill_name })
        for (const move of all.slice(all.findLastIndex((row) => row.moved_to === null) + 1)) {
          const version = topOf(move.moved_to) ?? item.version
          const files = filesOf.get(`${item.seq} ${version}`)
          if (files === undefined) continue
          const isKept = path === `plugins/${item.channel_name}`
          changes.push({ seq: move.seq, itemId: item.id, kind, revision: move.seq, version, path, at: move.moved_at, files, isKept })
        }
      }
      return { changes, next }
    },
    /** The versions of such moves by their numbers; those the actor may not see are left out. */
    async readLabelVersions(actor: Actor, moveSeqs: readonly number[]): Promise<readonly SharedVersion[]> {
      if (moveSeqs.length === 0) return []
      const rows = await db
        .selectFrom('label_move')
        .innerJoin('item', 'item.seq', 'label_move.item_seq')
        .innerJoin('user as author', 'author.seq', 'item.author_seq')
        .leftJoin('category', 'category.seq', 'item.category_seq')
        .leftJoin('user as mover', 'mover.seq', 'label_move.user_seq')
        .select(['label_move.seq', 'label_move.moved_to', 'label_move.reason', 'item.seq as item_seq', 'item.id', 'item.version'])
        .select(['author.username as author', 'mover.username as mover', 'category.slug as category'])
        .where('label_move.seq', 'in', moveSeqs)
        .execute()
      const tags = await readTags(db, [...new Set(rows.map((row) => row.item_seq))])
      const versions: SharedVersion[] = []
      for (const row of rows) {
        const found = await findVersion(actor, row.id, topOf(row.moved_to) ?? row.version)
        if (!found) continue
        versions.push({
          seq: row.seq,
          title: found.title,
          description: found.description,
          type: found.type ?? '',
          ...(found.body ?? makeBody({ content: '' })),
          category: row.category,
          tags: (tags.get(row.item_seq) ?? []).map(({ name }) => name),
          // Reasons are for those who own the item.
          note: null,
          author: row.author,
          writer: found.author,
          isByPerson: row.mover !== null,
          files: found.files ?? [],
        })
      }
      return versions
    },
  }
}
