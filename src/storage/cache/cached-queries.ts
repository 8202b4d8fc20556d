import type { RevisionCache, RevisionCaches } from '../../cache/revision-cache.ts'
import { shareRecord } from '../../cache/shared-records.ts'
import type { Actor } from '../../library/actor.ts'
import type { Category, Prompt, Skill, Version } from '../../library/items.ts'
import type { WalkPage } from '../../library/ports/items.ts'
import { seesAsStranger, visibleSet } from '../../library/visibility.ts'
import type { SearchIndex } from '../../search/index/search-index.ts'
import type { FoundRows, ItemQueries, RelatedRow, SkillPage } from '../items/item-queries.ts'

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

/**
 * Queries that answer strangers from a cache of the library's current revision: what is cached is the same for each of them. Those of other
 * actors, and searches by a provider's vector, are passed on, but for the records of items that others may list.
 */
export function cacheQueries(queries: ItemQueries, caches: RevisionCaches): ItemQueries {
  const prompts = { public: caches.create<Prompt>(MAX_TEXT), members: caches.create<Prompt>(MAX_TEXT) }
  const skills = { public: caches.create<Skill>(MAX_TEXT / 4), members: caches.create<Skill>(MAX_TEXT / 4) }
  const promptSeqs = caches.create<number>(MAX_ANSWERS)
  const foundRows = cacheAnswers<FoundRows>(
    caches,
    MAX_ANSWERS,
    () => 1,
    ({ isProvisional }) => !isProvisional,
  )
  const related = cacheAnswers<RelatedRow[]>(caches, MAX_ANSWERS)
  const counts = cacheAnswers<number>(caches, MAX_ANSWERS)
  const walks = cacheAnswers<WalkPage>(caches, MAX_ENTRIES, ({ entries }) => entries.length + 1)
  const skillWalks = cacheAnswers<SkillPage>(caches, MAX_ENTRIES, (page) => page.reduce((sum, { files }) => sum + files.length, 1))
  const versions = cacheAnswers<Version[]>(caches, MAX_ANSWERS)
  const categories = cacheAnswers<(Category & { prompts: number; skills: number })[]>(caches, 1)
  const tags = cacheAnswers<ReturnType<SearchIndex['countTags']>>(caches, 1)
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
      const prompt = prompts.public.get(String(found.seq)) ?? shareRecord(found.prompt)
      prompts.public.put(revision, String(found.seq), prompt, sizeOfPrompt(prompt))
      for (const name of new Set([ref, prompt.id])) promptSeqs.put(revision, name, found.seq)
      return { seq: found.seq, prompt }
    },
    readPrompts: (actor, seqs) => readItems(caches, prompts, actor, seqs, (missing) => queries.readPrompts(actor, missing), sizeOfPrompt),
    readSkills: (actor, seqs) => readItems(caches, skills, actor, seqs, (missing) => queries.readSkills(actor, missing), sizeOfSkill),
    findRows(actor, kind, request) {
      if (request.vector) return queries.findRows(actor, kind, request)
      const { query, text, sort, limit, offset, filter, wantsFacets = false } = request
      // The encoder reads the text, beyond the words that are searched.
      return foundRows(actor, [kind, query, text, sort, limit, offset, filter, wantsFacets], () => queries.findRows(actor, kind, request))
    },
    findRelated: (actor, ...asked) => related(actor, asked, () => queries.findRelated(actor, ...asked)),
    walkPrompts: (actor, ...asked) => walks(actor, asked, async () => shareRecord(await queries.walkPrompts(actor, ...asked))),
    walkSkills: (actor, ...asked) => skillWalks(actor, asked, () => queries.walkSkills(actor, ...asked)),
    countPrompts: (actor, filter) => counts(actor, [filter], () => queries.countPrompts(actor, filter)),
    listVersions: (actor, ...asked) => versions(actor, asked, async () => shareRecord(await queries.listVersions(actor, ...asked))),
    listCategories: (actor) => categories(actor, [], () => queries.listCategories(actor)),
    countTags: (actor) => tags(actor, [], () => queries.countTags(actor)),
    countCollected: queries.countCollected,
    findViewer: queries.findViewer,
  }
}

/** A cache of answers of one query, by what is asked. Actors other than strangers get theirs from `read`. */
function cacheAnswers<T extends object | number>(
  caches: RevisionCaches,
  maxSize: number,
  sizeOf: (value: T) => number = () => 1,
  isWorthCaching: (value: T) => boolean = () => true,
) {
  const cache = caches.create<T>(maxSize)
  return async (actor: Actor, asked: readonly unknown[], read: () => Promise<T>): Promise<T> => {
    const key = seesAsStranger(actor) ? JSON.stringify(asked) : null
    if (key === null || key.length > MAX_KEY) return await read()
    const revision = await caches.refresh()
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const value = await read()
    if (isWorthCaching(value)) cache.put(revision, key, value, sizeOf(value))
    return value
  }
}

/** Records of listed items, apart by who may list them. */
type RecordCaches<T extends object> = Readonly<Record<'public' | 'members', RevisionCache<T>>>

/** Items by row number: those that others may list from the caches that the actor may read, and the rest as `read` gives them. */
async function readItems<T extends Prompt | Skill>(
  caches: RevisionCaches,
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
  for (const [seq, item] of await read(seqs.filter((one) => !items.has(one)))) {
    const visibility = listed.find((one) => one === item.visibility)
    items.set(seq, visibility ? shareRecord(item) : item)
    if (visibility) records[visibility].put(revision, String(seq), item, sizeOf(item))
  }
  return items
}

function sizeOfPrompt(prompt: Prompt): number {
  return ITEM_SIZE + prompt.content.length
}

function sizeOfSkill(skill: Skill): number {
  return ITEM_SIZE + skill.files.reduce((sum, { filename }) => sum + filename.length, 0)
}
