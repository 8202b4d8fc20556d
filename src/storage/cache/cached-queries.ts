import type { ChangeCaches } from '../../cache/change-caches.ts'
import type { RevisionCache } from '../../cache/revision-cache.ts'
import { shareRecord } from '../../cache/shared-records.ts'
import type { Actor } from '../../library/actor.ts'
import type { ItemKind, Prompt, Skill, Version } from '../../library/items.ts'
import type { WalkPage, WalkPosition } from '../../library/ports/items.ts'
import type { ItemFilter } from '../../library/ports/search.ts'
import { seesAsStranger, visibleSet } from '../../library/visibility.ts'
import type { RowFilter } from '../items/item-filters.ts'
import type { FoundRows, ItemQueries, RelatedRow, SkillPage } from '../items/item-queries.ts'
import { altersList, findListed, type ItemChanged, type PublicChange } from './public-changes.ts'

/** Text of cached prompts, in UTF-16 units; the bytes made of it take two to three times as much on top. */
const MAX_TEXT = 4 * 1024 * 1024
/** What an item takes beside its text, in the same units. */
const ITEM_SIZE = 300
/** Entries of walks, such as prompts/list. */
const MAX_ENTRIES = 5_000
/** Answers of searches, counts and lists of versions, which hold row numbers or little more. */
const MAX_ANSWERS = 2_000
/** Longest cached key, in UTF-16 units: whoever asks chooses how long it is. */
const MAX_KEY = 1_000

/** Caches of public answers. */
type PublicCaches = ChangeCaches<PublicChange>

/** Gives the revision of what the request read, or the given one when that is lower. */
type RevisionOfReads = (revision: number) => number

/** Gives a filter as anonymous readers use it. */
type Resolve = (filter: ItemFilter) => Promise<RowFilter>

/**
 * Queries that answer strangers from caches, as long as no change touched what is cached: it is the same for each of them. Those of other
 * actors, and searches by a provider's vector, are passed on, but for the records of items that others may list.
 * @param resolve a filter as anonymous readers use it
 * @param findSeq the row number of an item of any state
 * @param revisionOfReads the revision of what was just read, where the log was at another one before: it may come from a replica
 */
export function cacheQueries(
  queries: ItemQueries,
  caches: PublicCaches,
  resolve: Resolve,
  findSeq: (id: string) => Promise<number | null>,
  revisionOfReads: RevisionOfReads = (revision) => revision,
): ItemQueries {
  const isOfItem = (_: object, change: PublicChange, key: string) => isItem(change) && !change.isSearchAlone && String(change.seq) === key
  const records = <T extends object>(name: string, maxSize: number): RecordCaches<T> => ({
    public: caches.create<T>(name, maxSize, isOfItem),
    members: caches.create<T>(name, maxSize, isOfItem),
  })
  const prompts = records<Prompt>('prompts', MAX_TEXT)
  const skills = records<Skill>('skills', MAX_TEXT / 4)
  const promptSeqs = caches.create<number>(
    'names',
    MAX_ANSWERS,
    (seq, change) => isItem(change) && !change.isSearchAlone && change.seq === seq,
  )
  const answers = cacheAnswers(caches, revisionOfReads)
  const foundRows = answers<Found>('searches', MAX_ANSWERS, ({ kind, listed, filter }, change) => {
    if (!isItem(change)) return filter.collections !== undefined
    if (change.kind !== kind) return false
    if (listed === null) return findListed(change, {}).length > 0
    return listed.isExact ? findListed(change, listed.wantsFacets ? {} : filter).length > 0 : altersList(change, filter)
  })
  const related = answers<{ readonly kind: ItemKind; readonly seq: number; readonly rows: RelatedRow[] }>(
    'related',
    MAX_ANSWERS,
    ({ kind, seq }, change) => isItem(change) && change.kind === kind && (change.seq === seq || findListed(change, {}).length > 0),
  )
  const counts = answers<{ readonly filter: RowFilter; readonly count: number }>('counts', MAX_ANSWERS, ({ filter }, change) =>
    isItem(change) ? change.kind === 'prompt' && altersList(change, filter) : filter.collections !== undefined,
  )
  const walks = answers<{ readonly filter: RowFilter; readonly after: WalkPosition | null; readonly page: WalkPage }>(
    'walks',
    MAX_ENTRIES,
    ({ filter, after, page }, change) =>
      isItem(change) ? change.kind === 'prompt' && isOnPage(change, filter, after, page) : filter.collections !== undefined,
  )
  // The path of a skill depends on the others of its owner.
  const skillWalks = answers<{ readonly page: SkillPage }>(
    'walks',
    MAX_ENTRIES,
    (_, change) => !isItem(change) || (change.kind === 'skill' && !change.isSearchAlone),
  )
  const versions = answers<{ readonly seq: number; readonly list: Version[] }>(
    'versions',
    MAX_ANSWERS,
    ({ seq }, change) => isItem(change) && change.seq === seq && !change.isSearchAlone,
  )
  const categories = answers<{ readonly list: Awaited<ReturnType<ItemQueries['listCategories']>> }>(
    'categories',
    1,
    (_, change) => isItem(change) && movesCategory(change),
  )
  const tags = answers<{ readonly list: Awaited<ReturnType<ItemQueries['countTags']>> }>(
    'tags',
    1,
    (_, change) => isItem(change) && !change.isSearchAlone && change.tags?.size !== 0 && findListed(change, {}).length > 0,
  )
  return {
    async findPrompt(actor, ref) {
      if (!seesAsStranger(actor)) return await queries.findPrompt(actor, ref)
      const revision = await caches.refresh()
      const seq = promptSeqs.get(ref)
      const cached = seq === undefined ? undefined : prompts.public.get(String(seq))
      if (seq !== undefined && cached) return { seq, prompt: cached }
      const found = await queries.findPrompt(actor, ref)
      // An unlisted prompt is found by its id alone, and must not come up in a list.
      if (found?.prompt.visibility !== 'public') return found
      const prompt = shareRecord(found.prompt)
      const read = revisionOfReads(revision)
      prompts.public.put(read, String(found.seq), prompt, sizeOfPrompt(prompt))
      for (const name of new Set([ref, prompt.id])) promptSeqs.put(read, name, found.seq)
      return { seq: found.seq, prompt }
    },
    readPrompts: (actor, seqs) =>
      readItems(caches, revisionOfReads, prompts, actor, seqs, (missing) => queries.readPrompts(actor, missing), sizeOfPrompt),
    readSkills: (actor, seqs) =>
      readItems(caches, revisionOfReads, skills, actor, seqs, (missing) => queries.readSkills(actor, missing), sizeOfSkill),
    async findRows(actor, kind, request) {
      if (request.vector) return await queries.findRows(actor, kind, request)
      const { query, text, sort, limit, offset, filter, wantsFacets = false } = request
      // The encoder reads the text, beyond the words that are searched.
      const asked = [kind, query, text, sort, limit, offset, filter, wantsFacets]
      const answer = await foundRows(
        actor,
        asked,
        async () => ({
          kind,
          listed: query === null ? { isExact: sort === 'votes' || wantsFacets, wantsFacets } : null,
          filter: await resolve(filter),
          found: await queries.findRows(actor, kind, request),
          changes: 0,
        }),
        { isWorthCaching: ({ found }) => !found.isProvisional, survive },
      )
      return answer === null ? await queries.findRows(actor, kind, request) : answer.found
    },
    async findRelated(actor, kind, id, limit) {
      const read = () => queries.findRelated(actor, kind, id, limit)
      const answer = await related(actor, [kind, id, limit], async () => ({ kind, seq: (await findSeq(id)) ?? 0, rows: await read() }), {
        isWorthCaching: ({ seq }) => seq > 0,
      })
      return answer === null ? await read() : answer.rows
    },
    async walkPrompts(actor, filter, after, limit) {
      const read = () => queries.walkPrompts(actor, filter, after, limit)
      const answer = await walks(
        actor,
        [filter, after, limit],
        async () => ({ filter: await resolve(filter), after, page: shareRecord(await read()) }),
        { sizeOf: ({ page }) => page.entries.length + 1 },
      )
      return answer === null ? await read() : answer.page
    },
    async walkSkills(actor, ...asked) {
      const read = () => queries.walkSkills(actor, ...asked)
      const answer = await skillWalks(actor, asked, async () => ({ page: await read() }), {
        sizeOf: ({ page }) => page.reduce((sum, { files }) => sum + files.length, 1),
      })
      return answer === null ? await read() : answer.page
    },
    async countPrompts(actor, filter) {
      const read = () => queries.countPrompts(actor, filter)
      const answer = await counts(actor, [filter], async () => ({ filter: await resolve(filter), count: await read() }))
      return answer === null ? await read() : answer.count
    },
    async listVersions(actor, itemId, page) {
      const read = () => queries.listVersions(actor, itemId, page)
      const answer = await versions(
        actor,
        [itemId, page],
        async () => ({ seq: (await findSeq(itemId)) ?? 0, list: shareRecord(await read()) }),
        {
          isWorthCaching: ({ seq }) => seq > 0,
        },
      )
      return answer === null ? await read() : answer.list
    },
    async listCategories(actor) {
      const answer = await categories(actor, [], async () => ({ list: await queries.listCategories(actor) }))
      return answer === null ? await queries.listCategories(actor) : answer.list
    },
    async countTags(actor) {
      const answer = await tags(actor, [], async () => ({ list: await queries.countTags(actor) }))
      return answer === null ? await queries.countTags(actor) : answer.list
    },
    findLanguages: queries.findLanguages,
    countCollected: queries.countCollected,
    findViewer: queries.findViewer,
  }
}

/** Rows that were found. */
interface Found {
  readonly kind: ItemKind
  readonly listed: Listed | null
  readonly filter: RowFilter
  readonly found: FoundRows
  /** How many items changed since. */
  readonly changes: number
}

/** The answer to a search after changes that it may show; null when it is another one now. */
async function survive(answer: Found, touching: readonly PublicChange[]): Promise<Found | null> {
  const changed = touching.filter(isItem)
  const changes = answer.changes + changed.length
  if (!answer.found.isStill || changed.length < touching.length) return null
  return (await answer.found.isStill(changed, changes)) ? { ...answer, changes } : null
}

/** A list without a query. `isExact`: it shows more of an item than that it is there, and when it was made. */
interface Listed {
  readonly isExact: boolean
  readonly wantsFacets: boolean
}

function isItem(change: PublicChange): change is ItemChanged {
  return change.what === 'item'
}

/** Whether an item is on a page of a walk, newest first, or comes onto it. */
function isOnPage(change: ItemChanged, filter: RowFilter, after: WalkPosition | null, { entries, limit }: WalkPage): boolean {
  if (change.isSearchAlone) return false
  if (entries.some(({ position }) => position.order === change.seq)) return true
  const isBefore = (createdAt: string, { createdAt: than, order }: WalkPosition) =>
    createdAt === than ? change.seq > order : createdAt > than
  const last = entries.length < limit ? undefined : entries.at(-1)
  return findListed(change, filter).some(
    ({ createdAt }) => !(after && isBefore(createdAt, after)) && (!last || isBefore(createdAt, last.position)),
  )
}

/** Whether more or fewer items of a category are listed. */
function movesCategory(change: ItemChanged): boolean {
  if (change.isIndexed) return true
  const counts = new Map<number, number>()
  for (const { category, effect } of findListed(change, {})) {
    if (category !== null) counts.set(category, (counts.get(category) ?? 0) + effect)
  }
  return [...counts.values()].some((count) => count !== 0)
}

/** How an answer is cached. */
interface Caching<T> {
  readonly sizeOf?: (answer: T) => number
  readonly isWorthCaching?: (answer: T) => boolean
  /** The answer after changes that touch it; null when it must be read again. Default: null */
  readonly survive?: (answer: T, touching: readonly PublicChange[]) => Promise<T | null>
}

/**
 * Makes caches of answers of one query, by what is asked. They answer null to actors other than strangers, and to what is too long to be a
 * key.
 */
function cacheAnswers(caches: PublicCaches, revisionOfReads: RevisionOfReads) {
  return <T extends object>(name: string, maxSize: number, isTouched: (answer: T, change: PublicChange) => boolean) => {
    const cache = caches.create<T>(name, maxSize, isTouched)
    /** Reads that have not ended, of the requests that wait for them. */
    const reading = new Map<string, { readonly revision: number; readonly value: Promise<Answer<T>> }>()
    return async (
      actor: Actor,
      asked: readonly unknown[],
      read: () => Promise<T>,
      { sizeOf = () => 1, isWorthCaching = () => true, survive = async () => null }: Caching<T> = {},
    ): Promise<T | null> => {
      const key = seesAsStranger(actor) ? JSON.stringify(asked) : null
      if (key === null || key.length > MAX_KEY) return null
      const revision = await caches.refresh()
      const known = cache.find(key)
      const cached = known && (known.touching.length === 0 ? known.value : await survive(known.value, known.touching))
      cache.count(!!cached)
      if (cached) {
        if (cached !== known.value) cache.put(revision, key, cached, sizeOf(cached))
        return cached
      }
      const begun = reading.get(key)
      // Many may ask for what a change dropped. A read that began at this revision or later is as good as another one.
      if (begun && begun.revision >= revision) {
        const { answer, revision: readAt } = await begun.value
        // What that request may read from a replica, this one perhaps may not.
        if (readAt >= revision) return answer
      }
      const readOnce = async () => {
        const answer = await read()
        return { answer, revision: revisionOfReads(revision) }
      }
      const value = readOnce().finally(() => {
        if (reading.get(key)?.value === value) reading.delete(key)
      })
      reading.set(key, { revision, value })
      const { answer, revision: readAt } = await value
      if (isWorthCaching(answer)) cache.put(readAt, key, answer, sizeOf(answer))
      return answer
    }
  }
}

/** An answer with the revision of the connection it was read from. */
interface Answer<T> {
  readonly answer: T
  readonly revision: number
}

/** Records of listed items, apart by who may list them. */
type RecordCaches<T extends object> = Readonly<Record<'public' | 'members', RevisionCache<T>>>

/** Items by row number: those that others may list from the caches that the actor may read, and the rest as `read` gives them. */
async function readItems<T extends Prompt | Skill>(
  caches: PublicCaches,
  revisionOfReads: RevisionOfReads,
  records: RecordCaches<T>,
  actor: Actor,
  seqs: readonly number[],
  read: (missing: readonly number[]) => Promise<ReadonlyMap<number, T>>,
  sizeOf: (item: T) => number,
): Promise<ReadonlyMap<number, T>> {
  const { visibilities, within } = visibleSet(actor, 'list')
  const listed = (['public', 'members'] as const).filter((visibility) => visibilities.includes(visibility))
  if (listed.length === 0 || within !== null) return await read(seqs)
  const revision = await caches.refresh()
  const items = new Map<number, T>()
  for (const seq of seqs) {
    for (const visibility of listed) {
      const cached = records[visibility].get(String(seq))
      if (cached) items.set(seq, cached)
    }
  }
  if (items.size === seqs.length) return items
  const missing = await read(seqs.filter((one) => !items.has(one)))
  const readAt = revisionOfReads(revision)
  for (const [seq, item] of missing) {
    const visibility = listed.find((one) => one === item.visibility)
    items.set(seq, visibility ? shareRecord(item) : item)
    if (visibility) records[visibility].put(readAt, String(seq), item, sizeOf(item))
  }
  return items
}

function sizeOfPrompt(prompt: Prompt): number {
  return ITEM_SIZE + prompt.content.length
}

function sizeOfSkill(skill: Skill): number {
  return ITEM_SIZE + skill.files.reduce((sum, { filename }) => sum + filename.length, 0)
}
