import { type Kysely, type Selectable, sql } from 'kysely'
import type { Change, ChangeLog } from '../../cache/change-caches.ts'
import type { ItemKind, Tag } from '../../library/items.ts'
import { othersMaySee } from '../../library/visibility.ts'
import { decodePostings } from '../../search/analysis/indexed-text.ts'
import type { RowFilter } from '../items/item-filters.ts'
import { readTags } from '../items/item-rows.ts'
import { prepareListQuery, prepareQuery, slot } from '../prepared.ts'
import { readRevision } from '../revisions.ts'
import type { Database } from '../schema.ts'

/** Entries read at once. After more, everything counts as changed. */
const MAX_ENTRIES = 500

/** Bytes of an item's words that are read. One with more counts as one that has every word. */
const MAX_WORDS = 8 * 1024

type Entry = Selectable<Database['public_change']>

/** A state that an item has, or had. */
export interface ItemState {
  /** 1: it is new; -1: it is an earlier one; 0: a part of the item changed. */
  readonly effect: number
  readonly isListed: boolean
  readonly category: number | null
  readonly type: string | null
  readonly owner: number | null
  readonly author: number | null
  readonly createdAt: string
}

/** What changed in one item that others than its owner may see, or may have seen. */
export interface ItemChanged extends Change {
  readonly what: 'item'
  readonly seq: number
  readonly kind: ItemKind | null
  /** Whether only its words or vectors changed. */
  readonly isSearchAlone: boolean
  /** Whether the search index has it for the first time, from which lists are read. */
  readonly isIndexed: boolean
  readonly states: readonly ItemState[]
  /** Slugs of the tags it has or had; null when they are not known. */
  readonly tags: ReadonlySet<string> | null
  /** Numbers of the words it has, where anonymous readers find it; null when they are not known. */
  readonly words: Uint32Array | null
}

/** A change of public answers. */
export type PublicChange = ItemChanged | (Change & { readonly what: 'collection' })

const entriesAfter = prepareQuery<Entry>((db) =>
  db
    .selectFrom('public_change')
    .selectAll()
    .where('revision', '>', sql<number>`${slot('after')}`)
    .orderBy('revision')
    .limit(MAX_ENTRIES + 1),
)

/** The log of changes of public answers. */
export function readPublicChanges(db: Kysely<Database>): ChangeLog<PublicChange> {
  return {
    readRevision: () => readRevision(db, 'public'),
    async readChanges(after) {
      const entries = await entriesAfter(db, { after })
      const last = entries.at(-1)?.revision
      // A gap: older entries were trimmed, or the library is another one.
      if (
        last === undefined ||
        last - after !== entries.length ||
        entries.length > MAX_ENTRIES ||
        entries.some(({ what }) => what === 'all')
      ) {
        return { changes: null, revision: await readRevision(db, 'public') }
      }
      const tags = await readTags(db, [...new Set(entries.filter(isNew).map(({ seq }) => seq))])
      const words = await readWords(db, [...new Set(entries.filter(isListed).map(({ seq }) => seq))])
      const changes = groupByItem(entries).map((group) => toChange(group, tags, words))
      return { changes, revision: last }
    },
  }
}

const wordsOf = prepareListQuery((db, seqs) =>
  db
    .selectFrom('item_words')
    .select(['item_seq', 'words'])
    .where('item_seq', 'in', seqs)
    .where((eb) => eb(eb.fn<number>('length', ['words']), '<=', MAX_WORDS)),
)

async function readWords(db: Kysely<Database>, seqs: readonly number[]): Promise<ReadonlyMap<number, Uint32Array>> {
  if (seqs.length === 0) return new Map()
  return new Map(
    (await wordsOf(db, seqs)).map(({ item_seq: seq, words }) => {
      const numbers: number[] = []
      decodePostings(words, (word) => numbers.push(word))
      return [seq, Uint32Array.from(numbers)]
    }),
  )
}

const isListed = ({ visibility }: Entry) => visibility !== null && othersMaySee('stranger', 'list').includes(visibility)
const isNew = ({ what, effect }: Entry) => what === 'item' && effect >= 0

/** Entries of one item that follow one another. */
function groupByItem(entries: readonly Entry[]): (readonly Entry[])[] {
  const groups: Entry[][] = []
  for (const entry of entries) {
    const group = groups.at(-1)
    const [first] = group ?? []
    if (group && first && first.seq === entry.seq && (first.what === 'collection') === (entry.what === 'collection')) group.push(entry)
    else groups.push([entry])
  }
  return groups
}

function toChange(
  group: readonly Entry[],
  tags: ReadonlyMap<number, readonly Tag[]>,
  words: ReadonlyMap<number, Uint32Array>,
): PublicChange {
  const revision = group.at(-1)?.revision ?? 0
  const [first] = group
  if (!first || first.what === 'collection') return { what: 'collection', revision }
  // The tags that an earlier state had may be gone.
  const hasEarlierTags = group.some(({ what, effect }) => what === 'tags' || effect < 0)
  return {
    what: 'item',
    revision,
    seq: first.seq,
    kind: first.kind,
    isSearchAlone: group.every(({ what }) => what === 'search'),
    isIndexed: group.some(({ what }) => what === 'indexed'),
    tags: hasEarlierTags ? null : new Set(tags.get(first.seq)?.map(({ slug }) => slug)),
    words: words.get(first.seq) ?? null,
    states: group.map((entry) => ({
      effect: entry.effect,
      isListed: isListed(entry),
      category: entry.category_seq,
      type: entry.type,
      owner: entry.owner_seq,
      author: entry.author_seq,
      createdAt: entry.created_at ?? '',
    })),
  }
}

/** The states of an item in which strangers find it in a list that is filtered. A state is given too when its tags are unknown. */
export function findListed({ states, tags }: ItemChanged, filter: RowFilter): ItemState[] {
  const { types, categories, owners, withoutOwners, authors, anyTags, allTags } = filter
  if (tags && anyTags && !anyTags.some((tag) => tags.has(tag))) return []
  if (tags && allTags && !allTags.every((tag) => tags.has(tag))) return []
  return states.filter(
    ({ isListed, type, category, owner, author }) =>
      isListed &&
      (!types || (type !== null && types.includes(type))) &&
      (!categories || (category !== null && categories.has(category))) &&
      (!owners || (owner !== null && owners.has(owner))) &&
      (!withoutOwners || owner === null || !withoutOwners.has(owner)) &&
      (!authors || (author !== null && authors.has(author)) || (owner !== null && authors.has(owner))),
  )
}

/** Whether a list of all items that pass a filter, by their time, has other items than before, or others in another order. */
export function altersList(change: ItemChanged, filter: RowFilter): boolean {
  const listed = findListed(change, filter)
  if (listed.length === 0 || change.isSearchAlone) return false
  const isTagged = filter.anyTags !== undefined || filter.allTags !== undefined
  const more = listed.reduce((sum, { effect }) => sum + effect, 0)
  return more !== 0 || change.isIndexed || isTagged || new Set(listed.map(({ createdAt }) => createdAt)).size > 1
}
