import { stemmer } from 'stemmer'
import type { ItemKind } from '../../library/items.ts'
import type { QueryWords } from '../../library/ports/search.ts'
import { indexText } from '../analysis/indexed-text.ts'
import { readQueryWords, STOP_WORDS } from '../analysis/words.ts'
import { type IndexScope, planQuery, type QueryPlan } from '../ranking/plan.ts'
import { type MeaningScores, preferCosines, queryVector, scoreMeaning } from '../ranking/score-meaning.ts'
import { clearScores, makeScratch, scoreWords, type WordScores } from '../ranking/score-words.ts'
import { MIN_ITEMS } from '../vectors/centroid.ts'
import { createEmbedder, type Embedder } from '../vectors/embedder.ts'
import { createNeighbours } from '../vectors/neighbours.ts'
import { createVectorCodes, type VectorCodes } from '../vectors/vector-codes.ts'
import { NO_WORD_VECTORS, type WordVectors } from '../vectors/word-vectors.ts'
import { HIDDEN, PUBLIC } from './item-table.ts'
import { createKindIndex, type ItemChange, type KindIndex } from './kind-index.ts'
import { createVocabulary, type Vocabulary } from './vocabulary.ts'

/** When fewer items than this hold every word, those holding some of them, or near in meaning, are listed after. */
const WIDEN_BELOW = 10
/** How much meaning counts beside words; the choice and its numbers are in docs/decisions/0016. */
const MEANING_WEIGHT = 0.3
/** The share of the best possible score that counts as one. */
const WORDS_SCALE = 0.6
/** Best items by words whose meaning is compared too. */
const POOL = 300
/** Items near in meaning that hold none of the words, and how near they must be. */
const MAX_NEAR_ITEMS = 50
const MIN_COSINE = 0.35
/** Items whose vectors of a provider are compared exactly: those whose codes are nearest to the query's, and the best by words, of which many may be equal. */
const NEAREST_CODES = 200
const MAX_COMPARED = 600
/** How much of likeness is meaning; the rest is shared words, the rare ones counting most. */
const MEANING_SHARE = 0.5
/** Words of a text that are looked at for likeness, and of which so many are looked for. */
const MAX_TEXT_WORDS = 2000
const MAX_DISTINCTIVE_WORDS = 24

/** What a search narrows to; values of one field are alternatives, `allTags` must all be there. */
export interface IndexFilter {
  readonly types?: readonly string[] | undefined
  readonly categories?: ReadonlySet<number> | undefined
  readonly anyTags?: readonly string[] | undefined
  readonly allTags?: readonly string[] | undefined
  readonly authors?: ReadonlySet<number> | undefined
  readonly seqs?: ReadonlySet<number> | undefined
}

export interface IndexRequest {
  /** null: everything, by `sort`. */
  readonly query: QueryWords | null
  readonly sort: 'relevance' | 'newest' | 'oldest' | 'votes'
  readonly limit: number
  readonly offset: number
  readonly filter: IndexFilter
  /** The row number of the viewer, whose own hidden items are found too; null for everybody else. */
  readonly viewer: number | null
}

/** What a provider's vectors say: cosines with the query by row number, as `Centroid` compares. Items that are not in it have none. */
type Cosines = ReadonlyMap<number, number>

interface IndexAnswer {
  /** Row numbers of one page, best first. */
  readonly seqs: readonly number[]
  /** Exact number of matches over all pages. */
  readonly total: number
  /** Corrections to show, by the word as it was read. */
  readonly corrections: ReadonlyMap<string, string>
}

/** Search over the library in memory, for both kinds. Synchronous and pure: the store feeds it and asks it. */
export interface SearchIndex {
  readonly vocabulary: Vocabulary
  readonly embedder: Embedder
  /** Vectors of a provider, of public items of both kinds. */
  readonly codes: VectorCodes
  apply(kind: ItemKind, changes: readonly ItemChange[]): void
  /** Items of a kind, whoever may see them. */
  countItems(kind: ItemKind): number
  /** @param cosines of the items {@link SearchIndex.chooseCandidates} named, where a provider was asked */
  search(kind: ItemKind, request: IndexRequest, cosines?: Cosines | null): IndexAnswer
  /** Which items' vectors a search must compare exactly: the best by words, and those nearest by their codes. */
  chooseCandidates(kind: ItemKind, request: IndexRequest, vector: Float32Array): number[]
  /** How many items the viewer finds in each category, by its row number. */
  countCategories(kind: ItemKind, viewer: number | null): ReadonlyMap<number, number>
  /** The tags of items the viewer finds, of both kinds, with how many have them: most used first, each under the first of its spellings in the alphabet. */
  countTags(viewer: number | null): { slug: string; name: string; count: number }[]
  /** Public items most like a text, in meaning and in the words they share: most like first, with how much, 0 to 1. `cosines` as for `search`. */
  similar(kind: ItemKind, text: string, filter: IndexFilter, limit: number, cosines?: Cosines | null): { seq: number; similarity: number }[]
  /** Which items' vectors `similar` must compare exactly. */
  chooseSimilarCandidates(kind: ItemKind, filter: IndexFilter, vector: Float32Array): number[]
}

/** An index of nothing. */
export function createSearchIndex(vectors: WordVectors = NO_WORD_VECTORS): SearchIndex {
  const vocabulary = createVocabulary()
  const embedder = createEmbedder(vectors)
  const neighboursOf = createNeighbours(vectors, vocabulary)
  const indexes: Record<ItemKind, KindIndex> = { prompt: createKindIndex(), skill: createKindIndex() }
  const codes = createVectorCodes()
  let scratch = makeScratch(1024)

  const scopeOf = (index: KindIndex, viewer: number | null): IndexScope => {
    const ownPostings = viewer === null ? undefined : index.privatePostings.get(viewer)
    return {
      vocabulary,
      embedder,
      stem: stemmer,
      neighboursOf,
      countOf: (word) => index.postings.countOf(word) + (ownPostings?.counts.get(word) ?? 0),
    }
  }
  /** Hands the plan of a query and its scores by words to `use`, which must be done with them when it returns. */
  const withWords = <T>(index: KindIndex, query: QueryWords, viewer: number | null, use: (words: WordScores, plan: QueryPlan) => T): T => {
    const plan = planQuery(query, scopeOf(index, viewer))
    if (scratch.slots.length < index.table.capacity) scratch = makeScratch(index.table.capacity * 2)
    const ownPostings = viewer === null ? null : (index.privatePostings.get(viewer) ?? null)
    const words = scoreWords(index, scratch, plan, ownPostings)
    try {
      return use(words, plan)
    } finally {
      clearScores(words)
    }
  }
  const nearestCodes = ({ table, slotOf }: KindIndex, vector: Float32Array, allows: (slot: number) => boolean): number[] => {
    const isFound = (seq: number) => {
      const slot = slotOf(seq)
      return slot !== undefined && table.state[slot] === PUBLIC && allows(slot)
    }
    return codes.nearest(vector, isFound, NEAREST_CODES)
  }
  return {
    vocabulary,
    embedder,
    codes,
    apply: (kind, changes) => indexes[kind].apply(changes),
    countItems: (kind) => indexes[kind].countItems(),
    search(kind, request, cosines = null) {
      const index = indexes[kind]
      const allows = makeFilter(index, request.filter, request.viewer)
      if (!request.query) return list(index, allows, request)
      if (request.query.words.length === 0) return NOTHING
      return withWords(index, request.query, request.viewer, (words, plan) =>
        rank(index, plan, words, readMeaning(index, queryVector(plan, embedder), codes, cosines), allows, request),
      )
    },
    chooseCandidates(kind, request, vector) {
      const index = indexes[kind]
      const { query, viewer } = request
      if (!query || query.words.length === 0) return []
      const allows = makeFilter(index, request.filter, viewer)
      const best = withWords(index, query, viewer, (words, { groups }) => {
        const matches = findMatches(words, 2 ** groups.length - 1, null, allows)
        // A slot may be given to another item before the vectors are read; a row number never is.
        return selectBest(matches, words.scoreOf, POOL)
          .slice(0, MAX_COMPARED)
          .flatMap((slot) => (index.table.state[slot] === PUBLIC ? [index.table.seq[slot] ?? 0] : []))
      })
      return [...new Set([...best, ...nearestCodes(index, vector, allows)])].filter(codes.has)
    },
    chooseSimilarCandidates: (kind, filter, vector) => nearestCodes(indexes[kind], vector, makeFilter(indexes[kind], filter, null)),
    countCategories(kind, viewer) {
      const { table, byAge } = indexes[kind]
      const allows = makeFilter(indexes[kind], {}, viewer)
      const counts = new Map<number, number>()
      for (const slot of byAge()) {
        const category = table.categorySeq[slot] ?? 0
        if (category !== 0 && allows(slot)) counts.set(category, (counts.get(category) ?? 0) + 1)
      }
      return counts
    },
    countTags(viewer) {
      const tags = new Map<string, { slug: string; name: string; count: number }>()
      for (const index of Object.values(indexes)) {
        const allows = makeFilter(index, {}, viewer)
        for (const slot of index.byAge()) {
          const own = index.table.tagsOf(slot)
          if (own.length === 0 || !allows(slot)) continue
          for (const { slug, name } of own) {
            const tag = tags.get(slug)
            if (!tag) tags.set(slug, { slug, name, count: 1 })
            else {
              tag.count++
              if (name < tag.name) tag.name = name
            }
          }
        }
      }
      return [...tags.values()].sort((a, b) => b.count - a.count || (a.slug < b.slug ? -1 : 1))
    },
    similar(kind, text, filter, limit, cosines = null) {
      const index = indexes[kind]
      const vector = embedder.embedItem(indexText({ title: '', description: '', tags: '', content: text }))
      const { scores: meaning } = readMeaning(index, vector && Float32Array.from(vector), codes, cosines)
      const allows = makeFilter(index, filter, null)
      return withWords(index, distinctiveWords(text, index, vocabulary), null, (words) => {
        const candidates = new Set(meaning?.nearest(allows, POOL).map(({ slot }) => slot))
        const found = [...words.slots.subarray(0, words.count)].filter(allows)
        for (const slot of selectBest(found, words.scoreOf, POOL)) candidates.add(slot)
        // A text without a vector is compared by words alone.
        const meaningShare = meaning ? MEANING_SHARE : 0
        const likeness = (slot: number) =>
          meaningShare * (meaning?.cosineOf(slot) ?? 0) + (1 - meaningShare) * Math.min(1, words.scoreOf(slot) / (words.best || 1))
        const scored = Array.from(candidates, (slot) => ({ slot, score: likeness(slot) }))
        return sortByScore(index, scored)
          .slice(0, limit)
          .map(({ slot, score }) => ({ seq: index.table.seq[slot] ?? 0, similarity: score }))
      })
    },
  }
}

/** The words of a text that tell most of what it is about: of those that public items hold, the rarest. */
function distinctiveWords(text: string, { postings }: KindIndex, vocabulary: Vocabulary): QueryWords {
  const counted = new Map<string, number>()
  for (const word of readQueryWords(text, MAX_TEXT_WORDS).words) {
    const id = vocabulary.idOf(word)
    const count = id === undefined ? 0 : postings.countOf(id)
    if (count > 0 && !STOP_WORDS.has(word) && !/^\d+$/.test(word)) counted.set(word, count)
  }
  const rarest = [...counted].sort((a, b) => a[1] - b[1]).slice(0, MAX_DISTINCTIVE_WORDS)
  return { words: rarest.map(([word]) => word), isLastGrowing: false }
}

const NOTHING: IndexAnswer = { seqs: [], total: 0, corrections: new Map() }

/** Whether a slot's item is one the viewer may find and the filter asks for. */
function makeFilter({ table }: KindIndex, filter: IndexFilter, viewer: number | null): (slot: number) => boolean {
  const { types, categories, anyTags, allTags, authors, seqs } = filter
  const tests: ((slot: number) => boolean)[] = []
  if (types) tests.push((slot) => types.includes(table.typeOf(slot) ?? ''))
  if (categories) tests.push((slot) => categories.has(table.categorySeq[slot] ?? 0))
  if (authors) tests.push((slot) => authors.has(table.authorSeq[slot] ?? 0))
  if (seqs) tests.push((slot) => seqs.has(table.seq[slot] ?? 0))
  if (anyTags) tests.push((slot) => table.tagsOf(slot).some((tag) => anyTags.includes(tag.slug)))
  if (allTags && allTags.length > 0) tests.push((slot) => allTags.every((slug) => table.tagsOf(slot).some((tag) => tag.slug === slug)))
  const { state, ownerSeq } = table
  const isFound = (slot: number) => state[slot] === PUBLIC || (state[slot] === HIDDEN && ownerSeq[slot] === viewer)
  return tests.length === 0 ? isFound : (slot) => isFound(slot) && tests.every((test) => test(slot))
}

/** A page of everything that passes, with no query. */
function list(index: KindIndex, allows: (slot: number) => boolean, request: IndexRequest): IndexAnswer {
  const slots = index.byAge().filter(allows)
  return {
    seqs: page(index, order(index, slots, request.sort === 'relevance' ? 'newest' : request.sort), request),
    total: slots.length,
    corrections: new Map(),
  }
}

/** Slots that are in order of age, oldest first, in the order asked for. */
function order({ table }: KindIndex, byAge: readonly number[], sort: 'newest' | 'oldest' | 'votes'): readonly number[] {
  if (sort === 'oldest') return byAge
  if (sort === 'newest') return byAge.toReversed()
  return byAge.toSorted((a, b) => (table.votes[b] ?? 0) - (table.votes[a] ?? 0) || (table.seq[b] ?? 0) - (table.seq[a] ?? 0))
}

function page({ table }: KindIndex, slots: readonly number[], { offset, limit }: IndexRequest): number[] {
  return slots.slice(offset, offset + limit).map((slot) => table.seq[slot] ?? 0)
}

/** How near items are in meaning: to rank what was found (`scores`), and to find more (`finder`). Null when nothing tells. */
interface Meaning {
  readonly scores: MeaningScores | null
  readonly finder: MeaningScores | null
}

/** By a provider's cosines where items have them, by the built-in vectors where they have none. */
function readMeaning(index: KindIndex, vector: Float32Array | null, codes: VectorCodes, cosines: Cosines | null): Meaning {
  const builtIn = vector ? scoreMeaning(index, vector) : null
  // In a library too small to tell what its items have in common they all seem near each other.
  const builtInFinder = index.totals.items < MIN_ITEMS ? null : builtIn
  if (!cosines) return { scores: builtIn, finder: builtInFinder }
  return { scores: preferCosines(index, cosines, codes.has, builtIn), finder: preferCosines(index, cosines, codes.has, builtInFinder) }
}

/** Items that match, best first: words and meaning together. */
function rank(
  index: KindIndex,
  plan: QueryPlan,
  words: WordScores,
  { scores: meaning, finder }: Meaning,
  allows: (slot: number) => boolean,
  request: IndexRequest,
): IndexAnswer {
  const all = 2 ** plan.groups.length - 1
  const matches = findMatches(words, all, finder, allows)
  const { corrections } = plan
  const total = matches.length
  if (request.sort !== 'relevance') {
    const found = new Set(matches)
    const byAge = index.byAge().filter((slot) => found.has(slot))
    return { seqs: page(index, order(index, byAge, request.sort), request), total, corrections }
  }
  const ranked = rankByBoth(index, selectBest(matches, words.scoreOf, POOL), words, meaning)
  const end = request.offset + request.limit
  const rest = end > ranked.length && total > ranked.length ? restByWords(index, matches, ranked, words) : []
  return { seqs: page(index, [...ranked, ...rest], request), total, corrections }
}

/** Slots of items that hold the whole query; when there are few, of those that hold part of it, or come near it in meaning. */
function findMatches(words: WordScores, all: number, meaning: MeaningScores | null, allows: (slot: number) => boolean): readonly number[] {
  const { slots, count, heldBy, scoreOf } = words
  const whole: number[] = []
  for (let i = 0; i < count; i++) {
    const slot = slots[i] ?? 0
    if (heldBy(slot) === all && allows(slot)) whole.push(slot)
  }
  if (whole.length >= WIDEN_BELOW) return whole
  const part: number[] = []
  const none: number[] = []
  for (let i = 0; i < count; i++) {
    const slot = slots[i] ?? 0
    if (allows(slot)) (heldBy(slot) === 0 ? none : part).push(slot)
  }
  const near = new Set(selectBest(none, scoreOf, MAX_NEAR_ITEMS))
  for (const { slot, cosine } of meaning?.nearest(allows, MAX_NEAR_ITEMS) ?? []) {
    if (cosine >= MIN_COSINE && heldBy(slot) === 0) near.add(slot)
  }
  return [...part, ...near]
}

/** Steps the scores are sorted into to find the best without sorting them all. */
const STEPS = 1024

/** At least the best `count` of some slots (more when many are about equal), in no order. */
function selectBest(slots: readonly number[], scoreOf: (slot: number) => number, count: number): readonly number[] {
  if (slots.length <= count) return slots
  let most = 0
  for (const slot of slots) most = Math.max(most, scoreOf(slot))
  const scale = (STEPS - 1) / (most || 1)
  const histogram = new Uint32Array(STEPS)
  for (const slot of slots) {
    const step = Math.floor(scoreOf(slot) * scale)
    histogram[step] = (histogram[step] ?? 0) + 1
  }
  let border = STEPS - 1
  for (let sum = histogram[border] ?? 0; sum < count && border > 0; ) sum += histogram[--border] ?? 0
  return slots.filter((slot) => Math.floor(scoreOf(slot) * scale) >= border)
}

function rankByBoth(index: KindIndex, slots: readonly number[], words: WordScores, meaning: MeaningScores | null): number[] {
  const scale = (words.best || 1) * WORDS_SCALE
  return sortByScore(
    index,
    slots.map((slot) => ({ slot, score: words.scoreOf(slot) / scale + (meaning ? MEANING_WEIGHT * meaning.cosineOf(slot) : 0) })),
  ).map(({ slot }) => slot)
}

/** What comes after the best: by words alone. */
function restByWords(index: KindIndex, matches: readonly number[], ranked: readonly number[], words: WordScores): number[] {
  const known = new Set(ranked)
  return sortByScore(
    index,
    matches.filter((slot) => !known.has(slot)).map((slot) => ({ slot, score: words.scoreOf(slot) })),
  ).map(({ slot }) => slot)
}

/** Scores that differ by less are equal: sums come out a little differently in another order. */
const SCORE_STEP = 1e-6

/** A slot and how well it does. */
interface Scored {
  readonly slot: number
  readonly score: number
}

/** Best first; of equal ones the most voted, then the newest. Scores are given back in whole steps: what is shown goes down as the order does. */
function sortByScore({ table }: KindIndex, scored: readonly Scored[]): Scored[] {
  return scored
    .map(({ slot, score }) => ({ slot, score: Math.round(score / SCORE_STEP) }))
    .sort(
      (a, b) =>
        b.score - a.score || (table.votes[b.slot] ?? 0) - (table.votes[a.slot] ?? 0) || (table.seq[b.slot] ?? 0) - (table.seq[a.slot] ?? 0),
    )
    .map(({ slot, score }) => ({ slot, score: score * SCORE_STEP }))
}
