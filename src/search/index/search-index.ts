import { stemmer } from 'stemmer'
import type { ItemKind } from '../../domain/items/items.ts'
import type { QueryWords } from '../../domain/items/search.ts'
import type { EncodedQuery } from '../../domain/ports/encoder.ts'
import { indexText } from '../analysis/indexed-text.ts'
import { readQueryWords, STOP_WORDS } from '../analysis/words.ts'
import { type IndexScope, planQuery, type QueryPlan } from '../ranking/plan.ts'
import { findMatches, type Reach, rankItems, readMeaning } from '../ranking/rank-items.ts'
import { type NearItem, planDistinctive, rankRelated, rankSimilar, rarityFor, selectSharing } from '../ranking/rank-similar.ts'
import { clearScores, makeScratch, queryVector, scoreWords, type WordScores } from '../ranking/scores.ts'
import { createCentre } from '../vectors/arithmetic.ts'
import { createEmbedder } from '../vectors/embedder.ts'
import { createNeighbours } from '../vectors/neighbours.ts'
import { NO_WORD_VECTORS, type WordVectors } from '../vectors/word-vectors.ts'
import type { PrivatePostings } from './hidden-postings.ts'
import { captureIndex, type IndexCapture, type IndexLoad, KINDS, loadIndex } from './index-parts.ts'
import { STRANGER, type Viewer } from './item-table.ts'
import { createKindIndex, type IndexView, type ItemChange, type KindIndex, type VectorChange } from './kind-index.ts'
import { CODE_BITS, rangeOf } from './postings.ts'
import {
  countAmong,
  countByCategory,
  countByTag,
  countFacets,
  type IndexAnswer,
  type IndexFilter,
  type IndexRequest,
  listItems,
  makeFilter,
} from './select-items.ts'
import { createVocabulary, type Vocabulary } from './vocabulary.ts'

/** Words that nearly every text of a language holds, and hardly any of the others, by ISO 639-1 code. */
const MARKERS: Readonly<Record<string, string>> = {
  en: 'the and with',
  ar: 'من على في',
  de: 'und nicht eine',
  es: 'los una del',
  fr: 'les vous dans',
  hi: 'के है में',
  id: 'yang dengan untuk',
  it: 'della che gli',
  ja: 'の を は',
  ko: '니다 하는 으로',
  nl: 'een het voor',
  pl: 'nie jest się',
  pt: 'não uma você',
  ru: 'не что для',
  sv: 'och att för',
  tr: 've bir için',
  uk: 'що та або',
  vi: 'của và cho',
  zh: '的 们 这',
}
const WORDS = Object.entries(MARKERS).map(([code, words]) => ({ code, words: readQueryWords(words, 9).words }))
/** Least share of all texts that makes a language one of the library's, and the least number of texts. */
const MIN_SHARE = 0.02
const MIN_TEXTS = 3
const MAX_LANGUAGES = 5

/** A language of a library's texts. */
interface LanguageShare {
  /** ISO 639-1. */
  readonly code: string
  /** About the share of texts, 0 to 1. A text may hold several languages. */
  readonly share: number
}

/**
 * The languages that texts are in, most texts first, as far as their commonest words tell.
 * @param countOf how many of the texts hold a word
 */
function findLanguages(texts: number, countOf: (word: string) => number): LanguageShare[] {
  return WORDS.map(({ code, words }) => {
    const counts = words.map(countOf).sort((a, b) => a - b)
    return { code, count: counts[counts.length >> 1] ?? 0 }
  })
    .filter(({ count }) => count >= Math.max(MIN_TEXTS, texts * MIN_SHARE))
    .sort((a, b) => b.count - a.count)
    .slice(0, MAX_LANGUAGES)
    .map(({ code, count }) => ({ code, share: Math.min(1, count / texts) }))
}

/** Words of a text that are read to find its distinctive ones, and how many of those are searched. */
const MAX_TEXT_WORDS = 2000
const MAX_DISTINCTIVE_WORDS = 24
/** Words that items must have lost, at least, before it is worth looking for those that none holds; a share of all words in larger libraries. */
const MIN_LOST_WORDS = 50_000
const LOST_SHARE = 0.25

/**
 * The search index of a library, in memory, for both kinds. Synchronous and pure: the store feeds it and queries it. A viewer finds the items
 * of some audiences, and the hidden ones of some owners.
 */
export type SearchIndex = ReturnType<typeof createSearchIndex>

/** An empty index. @param isCentred whether the encoder's vectors share a part to be subtracted. Default: false */
export function createSearchIndex(vectors: WordVectors = NO_WORD_VECTORS, isCentred = false) {
  const vocabulary = createVocabulary()
  const embedder = createEmbedder(vectors)
  const neighboursOf = createNeighbours(vectors, vocabulary)
  const createIndexes = (): Record<ItemKind, KindIndex> => {
    const centre = isCentred ? createCentre() : null
    return { prompt: createKindIndex(centre), skill: createKindIndex(centre) }
  }
  const indexes = createIndexes()
  let scratch = makeScratch(1024)
  let lostWords = 0

  /** Plans a query, scores its words, and clears the scores when `use` returns. */
  const withWords = <T>(index: IndexView, query: QueryWords, viewer: Viewer, use: (words: WordScores, plan: QueryPlan) => T): T => {
    const own = index.hiddenOf(viewer.seenOwners)
    const scope: IndexScope = {
      vocabulary,
      embedder,
      stem: stemmer,
      neighboursOf,
      countOf: counterFor(index, own, viewer),
    }
    return withPlan(index, planQuery(query, scope), own, use)
  }
  const withPlan = <T>(
    index: IndexView,
    plan: QueryPlan,
    own: PrivatePostings | null,
    use: (words: WordScores, plan: QueryPlan) => T,
  ): T => {
    if (scratch.slots.length < index.table.capacity) scratch = makeScratch(index.table.capacity * 2)
    const words = scoreWords(index, scratch, plan, own)
    try {
      return use(words, plan)
    } finally {
      clearScores(words)
    }
  }
  const viewOf = (kind: ItemKind, { audiences, within } = STRANGER) => indexes[kind].view(audiences, within !== undefined)
  const viewsOf = ({ audiences, within }: Viewer) => Object.values(indexes).map((index) => index.view(audiences, within !== undefined))
  const meaningOf = (index: IndexView, plan: QueryPlan, { sentence = null, viewer }: IndexRequest) =>
    readMeaning(index, { sentence, wordVector: queryVector(plan, embedder) }, viewer)
  return {
    vocabulary,
    embedder,
    apply: (kind: ItemKind, changes: readonly ItemChange[]): void => indexes[kind].apply(changes),
    /** Removes words that no item holds any more from the vocabulary, once items have lost many. */
    releaseWords(): void {
      lostWords += indexes.prompt.takeLostWords() + indexes.skill.takeLostWords()
      if (lostWords < Math.max(MIN_LOST_WORDS, vocabulary.size * LOST_SHARE)) return
      lostWords = 0
      vocabulary.keep((id) => KINDS.some((kind) => indexes[kind].hasWord(id)))
    },
    /** Copies the index as it is now, in parts; see `index-parts.ts`. */
    capture: (): IndexCapture => captureIndex(vocabulary, indexes),
    /** Fills the index from such parts, in their order. Until the last one it must not be asked anything; `clear` empties it after a failure. */
    load: (): IndexLoad => loadIndex(vocabulary, indexes),
    /** Empties the index. */
    clear(): void {
      vocabulary.clear()
      Object.assign(indexes, createIndexes())
    },
    /** The kind of an item that the index holds. */
    kindOf: (seq: number): ItemKind | undefined => KINDS.find((kind) => indexes[kind].slotOf(seq) !== undefined),
    /** Sets or removes the encoder's vectors of items. */
    applyVectors: (kind: ItemKind, changes: readonly VectorChange[]): void => indexes[kind].applyVectors(changes),
    /** All items of a kind, visible or not. */
    countItems: (kind: ItemKind): number => indexes[kind].countItems(),
    search(kind: ItemKind, request: IndexRequest): IndexAnswer {
      const index = viewOf(kind, request.viewer)
      const isCandidate = makeFilter(index, request.filter, request.viewer)
      const withFacets = (answer: IndexAnswer, find: Parameters<typeof countFacets>[2], reach?: Reach): IndexAnswer =>
        request.wantsFacets ? { ...answer, facets: countFacets(index, request, find, reach?.matches, reach?.countExact()) } : answer
      if (!request.query) return withFacets(listItems(index, isCandidate, request), (isFound) => index.byAge().filter(isFound))
      if (request.query.words.length === 0) return withFacets({ seqs: [], scores: [], total: 0, corrections: new Map() }, () => [])
      return withWords(index, request.query, request.viewer, (words, plan) => {
        const meaning = meaningOf(index, plan, request)
        const { answer, reach } = rankItems(index, plan, words, meaning, isCandidate, request)
        return withFacets(answer, (isFound) => findMatches(words, plan, meaning, isFound).matches, reach)
      })
    },
    /** Items the viewer finds, nearest in meaning to the one of this row number; see `rankRelated`. */
    related: (kind: ItemKind, seq: number, viewer: Viewer, limit: number): NearItem[] =>
      rankRelated(viewOf(kind, viewer), seq, viewer, limit),
    /** Row numbers of other items the viewer finds that share most of an item's distinctive words, best first. `words`: its word numbers. */
    shareWords(kind: ItemKind, seq: number, words: Iterable<number>, viewer: Viewer, limit: number): number[] {
      const index = viewOf(kind, viewer)
      const own = index.hiddenOf(viewer.seenOwners)
      const isVisible = makeFilter(index, {}, viewer)
      const slot = index.slotOf(seq)
      const itself = slot !== undefined && isVisible(slot) ? 1 : 0
      const countOf = counterFor(index, own, viewer)
      const plan = planDistinctive(words, (word) => countOf(word) - itself)
      const isOther = (slot: number) => index.table.seq[slot] !== seq && isVisible(slot)
      return withPlan(index, plan, own, (scores) => selectSharing(index, scores, isOther, limit))
    },
    /** Gives the weight of a word for a viewer; see `compareWords`. */
    rarityFor(kind: ItemKind, viewer: Viewer): (word: number) => number {
      const index = viewOf(kind, viewer)
      return rarityFor(index, viewer.within ? null : index.hiddenOf(viewer.seenOwners))
    },
    /** How many items the viewer finds in each category, by its row number. */
    countCategories: (kind: ItemKind, viewer: Viewer): ReadonlyMap<number, number> => countByCategory(viewOf(kind, viewer), viewer),
    /** How many of the items of some row numbers the viewer finds. */
    countAmong: (kind: ItemKind, viewer: Viewer, seqs: Iterable<number>): number => countAmong(viewOf(kind, viewer), viewer, seqs),
    /** The tags of items the viewer finds, of both kinds: most used first. */
    countTags: (viewer: Viewer): ReturnType<typeof countByTag> => countByTag(viewsOf(viewer), viewer),
    /** Of the texts that others share with the viewer, of both kinds: hidden ones are not looked at. */
    findLanguages(viewer: Viewer): LanguageShare[] {
      const views = viewsOf(viewer)
      const texts = views.reduce((sum, { totals }) => sum + totals.items, 0)
      return findLanguages(texts, (word) => {
        const id = vocabulary.idOf(word)
        return id === undefined ? 0 : views.reduce((sum, { postings }) => sum + postings.countOf(id), 0)
      })
    },
    /**
     * Public items like a text, in meaning and shared words, with a similarity from 0 to 1; none when nothing is near. `sentence` is the text
     * as the encoder reads it.
     */
    similar(
      kind: ItemKind,
      text: string,
      filter: IndexFilter,
      limit: number,
      sentence: EncodedQuery | null = null,
    ): { seq: number; similarity: number }[] {
      const index = viewOf(kind)
      const vector = embedder.embedItem(indexText({ title: '', description: '', tags: '', content: text }))
      const sources = { sentence, wordVector: vector && Float32Array.from(vector) }
      const isCandidate = makeFilter(index, filter, STRANGER)
      const { query, knownShare } = distinctiveWords(text, index, vocabulary)
      return withWords(index, query, STRANGER, (scores) =>
        rankSimilar(index, { scores, count: query.words.length, knownShare }, sources, isCandidate, limit),
      )
    },
  }
}

/** The rarest words of a text that public items hold, as a query, and the share of its words that they hold. */
function distinctiveWords(text: string, { postings }: IndexView, vocabulary: Vocabulary): { query: QueryWords; knownShare: number } {
  const frequencies = new Map<string, number>()
  const words = new Set(readQueryWords(text, MAX_TEXT_WORDS).words.filter((word) => !STOP_WORDS.has(word) && !/^\d+$/.test(word)))
  for (const word of words) {
    const id = vocabulary.idOf(word)
    const frequency = id === undefined ? 0 : postings.countOf(id)
    if (frequency > 0) frequencies.set(word, frequency)
  }
  const rarest = [...frequencies].sort((a, b) => a[1] - b[1]).slice(0, MAX_DISTINCTIVE_WORDS)
  const query = { words: rarest.map(([word]) => word), isLastGrowing: false }
  return { query, knownShare: words.size === 0 ? 0 : frequencies.size / words.size }
}

/**
 * How many items that the viewer finds hold a word. For a narrowed viewer they are counted one by one, each word once: planning a query asks
 * for the same words again and again.
 */
function counterFor(index: IndexView, own: PrivatePostings | null, viewer: Viewer): (word: number) => number {
  if (!viewer.within) return (word) => index.postings.countOf(word) + (own?.countOf(word) ?? 0)
  const counts = new Map<number, number>()
  const { segments } = index.postings
  let found: FoundSlots | null = null
  const count = (word: number): number => {
    found ??= findSlots(index, viewer)
    const { isFound, count: most } = found
    let counted = 0
    if (most === 0) return 0
    for (const segment of segments) {
      const [from, to] = rangeOf(segment, word)
      for (let at = from; at < to; at++) counted += isFound[(segment.postings[at] ?? 0) >>> CODE_BITS] ?? 0
    }
    own?.eachPosting(word, (posting) => {
      counted += isFound[posting >>> CODE_BITS] ?? 0
    })
    return counted
  }
  return (word) => {
    const known = counts.get(word)
    if (known !== undefined) return known
    const counted = count(word)
    counts.set(word, counted)
    return counted
  }
}

/** The slots that a viewer finds: 1 for each, and how many these are. */
interface FoundSlots {
  readonly isFound: Uint8Array
  readonly count: number
}

/** Tests every slot once, so that whoever reads postings looks one number up for each. */
function findSlots(index: IndexView, viewer: Viewer): FoundSlots {
  const isVisible = makeFilter(index, {}, viewer)
  const isFound = new Uint8Array(index.table.capacity)
  let count = 0
  for (const slot of index.byAge()) {
    if (!isVisible(slot)) continue
    isFound[slot] = 1
    count++
  }
  return { isFound, count }
}
