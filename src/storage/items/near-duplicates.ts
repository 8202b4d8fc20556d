import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Actor } from '../../library/actor.ts'
import type { ItemKind } from '../../library/items.ts'
import { compareWords, MIN_NEARLY_SAME, readWordCounts } from '../../search/ranking/near-duplicates.ts'
import { ownersSeenBy } from '../people/team-roles.ts'
import { prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import type { SearchReader } from '../search/search-reader.ts'
import type { ItemQueries } from './item-queries.ts'

/** Items whose words are compared. */
const CANDIDATES = 5
/** Longest wait for the search index: whoever saves does not wait for it to catch up. */
const MAX_WAIT_MS = 250

const ownWords = prepareQuery((db) =>
  db
    .selectFrom('item')
    .innerJoin('item_words', 'item_words.item_seq', 'item.seq')
    .select(['item.seq', 'item_words.words'])
    .where('item.id', '=', slot('id'))
    .where('item.kind', '=', sql<ItemKind>`${slot('kind')}`)
    .where('item.owner_seq', 'in', ownersSeenBy(slot('readerId'))),
)

/**
 * The row number of the item that the words of one of the actor's items nearly repeat, among those the actor finds; null when there is
 * none, or the index is not ready. The caller applies the visibility rule to it once more, as it is read.
 */
export async function findNearDuplicate(
  db: Kysely<Database>,
  search: SearchReader,
  { findViewer }: Pick<ItemQueries, 'findViewer'>,
  actor: Actor,
  kind: ItemKind,
  id: string,
): Promise<number | null> {
  if (!search.isReady() || actor.kind !== 'user') return null
  const [[own], viewer] = await Promise.all([ownWords(db, { id, kind, readerId: actor.userId }), findViewer(actor)])
  if (!own) return null
  const index = await Promise.race([search.current(), sleep(MAX_WAIT_MS, null, { ref: false })])
  if (!index) return null
  const counts = readWordCounts(own.words)
  const seqs = index.shareWords(kind, own.seq, counts.keys(), viewer, CANDIDATES)
  if (seqs.length === 0) return null
  const rarityOf = index.rarityFor(kind, viewer)
  const rows = await db.selectFrom('item_words').select(['item_seq', 'words']).where('item_seq', 'in', seqs).execute()
  const compared = rows.map(({ item_seq: seq, words }) => ({ seq, similarity: compareWords(counts, readWordCounts(words), rarityOf) }))
  const nearest = compared.sort((a, b) => b.similarity - a.similarity || a.seq - b.seq)[0]
  return nearest && nearest.similarity >= MIN_NEARLY_SAME ? nearest.seq : null
}
