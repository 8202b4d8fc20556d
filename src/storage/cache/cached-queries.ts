import { type RevisionCaches, shareRecord } from '../../cache/answer-cache.ts'
import { type FullVersion, type Item, isOfKind } from '../../domain/items/items.ts'
import { seesAsStranger, visibleSet } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import type { PromptBody } from '../../domain/prompts/body.ts'
import type { ItemQueries } from '../items/item-queries.ts'

/** Text of cached items, in UTF-16 units; the bytes made of it take two to three times as much on top. */
const MAX_TEXT = 4 * 1024 * 1024
/** The size of an item beside its text, in the same units. */
const ITEM_SIZE = 300
/** Entries of cached answers; each is a row number or little more, or an entry of a walk. */
const MAX_ENTRIES = 20_000
/** Longest cached key, in UTF-16 units: whoever asks chooses how long it is. */
const MAX_KEY = 1_000

/** The queries of anonymous readers, but for single items. */
type Answered = Exclude<keyof ItemQueries, 'findItem' | 'readItems' | 'findLanguages' | 'countCollected' | 'findViewer'>

/**
 * Queries that answer anonymous readers from caches of one revision: the answer is the same for each of them. Those of other actors, and
 * searches by a provider's vector, are passed on, but for the records of items that everybody may list.
 * @param caches of what everybody sees
 */
export function cacheQueries(queries: ItemQueries, caches: RevisionCaches): ItemQueries {
  const items = caches.create<Item>('items', MAX_TEXT)
  const names = caches.create<number>('names', MAX_ENTRIES)
  const answers = caches.create<object>('answers', MAX_ENTRIES)
  /** Reads that have not ended, for the requests that wait for them. */
  const reading = new Map<string, { readonly revision: number; readonly answer: Promise<object> }>()

  /** Answers a query once for each revision. `toSize` says how much room the answer takes; 0 is not cached. */
  const cached = <Name extends Answered>(
    name: Name,
    toSize: (answer: Awaited<ReturnType<ItemQueries[Name]>>) => number = () => 1,
  ): ItemQueries[Name] => {
    type Answer = Awaited<ReturnType<ItemQueries[Name]>>
    const read = queries[name] as (actor: Actor, ...asked: readonly unknown[]) => Promise<Answer>
    const answerOnce = async (actor: Actor, ...asked: readonly unknown[]): Promise<Answer> => {
      const key = seesAsStranger(actor) ? JSON.stringify([name, ...asked]) : null
      if (key === null || key.length > MAX_KEY) return await read(actor, ...asked)
      const revision = await caches.refresh()
      // Keys begin with the name of the query, so an entry is an answer of it.
      const known = answers.get(key) as { readonly of: Answer } | undefined
      if (known) return known.of
      const begun = reading.get(key)
      // Many may ask for what a change dropped. A read that began at this revision or later is as good as another one.
      if (begun && begun.revision >= revision) return ((await begun.answer) as { readonly of: Answer }).of
      const answer = read(actor, ...asked)
        .then((of) => ({ of: typeof of === 'object' && of !== null ? shareRecord(of) : of }))
        .finally(() => {
          if (reading.get(key)?.answer === answer) reading.delete(key)
        })
      reading.set(key, { revision, answer })
      const { of } = await answer
      const size = toSize(of)
      if (size > 0) answers.put(revision, key, { of }, size)
      return of
    }
    return answerOnce as ItemQueries[Name]
  }
  const unitsOf = (size: number) => Math.ceil(size / ITEM_SIZE)

  return {
    ...queries,
    async findItem(actor, kind, ref) {
      if (!seesAsStranger(actor)) return await queries.findItem(actor, kind, ref)
      const revision = await caches.refresh()
      const name = `${kind} ${ref}`
      const seq = names.get(name)
      const cached = seq === undefined ? undefined : items.get(String(seq))
      if (seq !== undefined && cached && isOfKind(kind)(cached)) return { seq, item: cached }
      const read = await queries.findItem(actor, kind, ref)
      // An unlisted item is found by its id alone, and must not come up in a list.
      if (read?.item.visibility !== 'public') return read
      const item = shareRecord(read.item)
      items.put(revision, String(read.seq), item, sizeOf(item))
      for (const one of new Set([name, `${kind} ${item.id}`])) if (one.length <= MAX_KEY) names.put(revision, one, read.seq)
      return { seq: read.seq, item }
    },
    async readItems(actor, kind, seqs) {
      const { visibilities, within } = visibleSet(actor, 'list')
      if (within !== null || !visibilities.includes('public')) return await queries.readItems(actor, kind, seqs)
      const revision = await caches.refresh()
      const read = new Map(
        seqs.flatMap((seq) => {
          const cached = items.get(String(seq))
          return cached && isOfKind(kind)(cached) ? [[seq, cached] as const] : []
        }),
      )
      if (read.size === seqs.length) return read
      for (const [seq, item] of await queries.readItems(
        actor,
        kind,
        seqs.filter((one) => !read.has(one)),
      )) {
        const isShared = item.visibility === 'public'
        read.set(seq, isShared ? shareRecord(item) : item)
        if (isShared) items.put(revision, String(seq), item, sizeOf(item))
      }
      return read
    },
    findRows: cached('findRows', ({ isProvisional }) => (isProvisional ? 0 : 1)),
    // An unlisted item changes without a new revision of what everybody sees.
    readItemPage: cached('readItemPage', (page) => (page?.item.visibility === 'public' ? 1 + unitsOf(sizeOf(page.item)) : 0)),
    findRelated: cached('findRelated'),
    walkPrompts: cached('walkPrompts', ({ entries }) => entries.length + 1),
    walkSkills: cached('walkSkills', (page) => page.reduce((sum, { files }) => sum + files.length, 1)),
    countPrompts: cached('countPrompts'),
    listVersions: cached('listVersions'),
    findVersion: cached('findVersion', (version) => (version === null ? 0 : 1 + unitsOf(sizeOfVersion(version)))),
    listAtLabel: cached('listAtLabel', ({ items: listed }) => listed.reduce((sum, { item }) => sum + unitsOf(sizeOf(item)), 1)),
    listCategories: cached('listCategories'),
    countTags: cached('countTags'),
  }
}

/** Messages say again what the content does. */
function sizeOfBody({ content, messages, config }: PromptBody): number {
  return content.length * (messages ? 2 : 1) + (config ? JSON.stringify(config).length : 0)
}

function sizeOfVersion({ body, files }: FullVersion): number {
  return (body ? sizeOfBody(body) : 0) + (files ?? []).reduce((sum, { bytes }) => sum + bytes.length, 0)
}

function sizeOf(item: Item): number {
  return ITEM_SIZE + (item.kind === 'prompt' ? sizeOfBody(item) : item.files.reduce((sum, { filename }) => sum + filename.length, 0))
}
