import { setImmediate as nextTurn } from 'node:timers/promises'
import { ANONYMOUS } from '../../library/actor.ts'
import type { Item, ItemKind } from '../../library/items.ts'
import type { NearClusters } from '../../library/ports/items.ts'
import { clusterSentences } from '../../search/ranking/near-clusters.ts'
import { NEARLY_SAME } from '../../search/ranking/rank-related.ts'
import type { SearchReader } from '../search/search-reader.ts'
import type { ItemQueries } from './item-queries.ts'

/** Items that are compared, the newest: their number decides the time, up to 2.5 s of processor time. */
const MAX_COMPARED = 2_000
/** Groups that are given. */
const MAX_CLUSTERS = 50

/** Finds groups of nearly equal public items. Calls while one is running share it. */
export function clusterItems(queries: ItemQueries, search: SearchReader): (kind: ItemKind) => Promise<NearClusters> {
  const running = new Map<ItemKind, Promise<NearClusters>>()
  const find = async (kind: ItemKind): Promise<NearClusters> => {
    const snapshot = (await search.current()).copySentences(kind, MAX_COMPARED)
    const slices = clusterSentences(snapshot, NEARLY_SAME)
    let slice = slices.next()
    for (; !slice.done; slice = slices.next()) await nextTurn()
    const clusters = slice.value.slice(0, MAX_CLUSTERS)
    const seqs = clusters.flat()
    const items: ReadonlyMap<number, Item> =
      kind === 'prompt' ? await queries.readPrompts(ANONYMOUS, seqs) : await queries.readSkills(ANONYMOUS, seqs)
    return {
      // One that was hidden meanwhile is left out.
      clusters: clusters.map((group) => group.flatMap((seq) => items.get(seq) ?? [])).filter(({ length }) => length > 1),
      compared: snapshot.seqs.length,
      total: snapshot.total,
    }
  }
  return (kind) => {
    const shared = running.get(kind) ?? find(kind).finally(() => running.delete(kind))
    running.set(kind, shared)
    return shared
  }
}
