import { damerauLevenshtein } from '../analysis/query.ts'
import { countBits } from '../vectors/arithmetic.ts'

/**
 * The words that items of the index hold, by number, and some that none holds any more. Includes words of hidden items: callers must check with
 * document frequencies what may be shown.
 */
export type Vocabulary = ReturnType<typeof createVocabulary>

/** Lengths from here on are taken for one. */
const MAX_LENGTH = 255
const NO_WORDS = { ids: [], letters: [] }

/** An empty vocabulary. */
export function createVocabulary() {
  const words: string[] = []
  const stems: string[] = []
  const ids = new Map<string, number>()
  /** Words by their stem. A word that is its own stem, and the only one, is found in `ids` instead. */
  const byStem = new Map<string, number[]>()
  /** By length, at most `MAX_LENGTH`: the words, and the letters of each. */
  let byLength: { readonly ids: number[]; readonly letters: number[] }[] = []
  let sorted: number[] = []
  /** Words added since `sorted` was built. */
  let unsorted: number[] = []
  let generation = 0
  const sort = (): void => {
    if (unsorted.length === 0) return
    const compare = (a: number, b: number) => ((words[a] ?? '') < (words[b] ?? '') ? -1 : 1)
    const added = unsorted.sort(compare)
    unsorted = []
    if (sorted.length === 0) {
      sorted = added
      return
    }
    const merged: number[] = []
    let at = 0
    for (const id of sorted) {
      for (let next = added[at]; next !== undefined && compare(next, id) < 0; next = added[++at]) merged.push(next)
      merged.push(id)
    }
    for (; at < added.length; at++) merged.push(added[at] ?? 0)
    sorted = merged
  }
  const clear = (): void => {
    words.length = 0
    stems.length = 0
    ids.clear()
    byStem.clear()
    byLength = []
    sorted = []
    unsorted = []
    generation++
  }
  const withStem = (stem: string): readonly number[] => {
    const family = byStem.get(stem)
    if (family) return family
    const id = ids.get(stem)
    return id !== undefined && stems[id] === stem ? [id] : []
  }
  const add = (id: number, word: string, stem: string): void => {
    if (words[id] !== undefined && words[id] !== '') return
    if (id < words.length) generation++
    while (words.length < id) words.push('')
    words[id] = word
    // One string instead of two equal ones.
    stems[id] = stem === word ? word : stem
    const family = byStem.get(stem)
    const known = withStem(stem)
    if (family) family.push(id)
    else if (stem !== word || known.length > 0) byStem.set(stem, [...known, id])
    ids.set(word, id)
    const length = Math.min(MAX_LENGTH, word.length)
    const alike = byLength[length] ?? { ids: [], letters: [] }
    byLength[length] = alike
    alike.ids.push(id)
    alike.letters.push(letterMask(word))
    unsorted.push(id)
  }
  return {
    /** Largest number, plus one. */
    get capacity() {
      return words.length
    },
    /** How many words there are. */
    get size() {
      return ids.size
    },
    /** Another number once a word is gone, or one below `capacity` was added. */
    get generation() {
      return generation
    },
    /** Adds a word under its number in the store. */
    add,
    idOf: (word: string): number | undefined => ids.get(word),
    wordOf: (id: number): string => words[id] ?? '',
    /** Words with this stem. */
    withStem,
    stemOf: (id: number): string => stems[id] ?? '',
    /** Longer words that begin with `prefix` and pass `allow`; unordered. */
    withPrefix(prefix: string, allow: (id: number) => boolean): number[] {
      sort()
      let low = 0
      let high = sorted.length
      while (low < high) {
        const middle = (low + high) >> 1
        if ((words[sorted[middle] ?? 0] ?? '') <= prefix) low = middle + 1
        else high = middle
      }
      const found: number[] = []
      for (; low < sorted.length; low++) {
        const id = sorted[low] ?? 0
        if (!words[id]?.startsWith(prefix)) break
        if (allow(id)) found.push(id)
      }
      return found
    },
    /** Every word's number, in the order of the words. Not changed later: words added since are missing. */
    inOrder(): readonly number[] {
      sort()
      return sorted
    },
    /** Removes the words for which `isKept` is false. */
    keep(isKept: (id: number) => boolean): void {
      const kept = Array.from(ids, ([word, id]) => ({ id, word, stem: stems[id] ?? '' })).filter(({ id }) => isKept(id))
      if (kept.length === ids.size) return
      clear()
      for (const { id, word, stem } of kept.sort((a, b) => a.id - b.id)) add(id, word, stem)
    },
    /** Removes every word. */
    clear,
    /** Words within `maxDistance` edits of `word` that pass `allow`, unordered; see `damerauLevenshtein`. */
    similarTo(word: string, maxDistance: number, allow: (id: number) => boolean): { id: number; distance: number }[] {
      const mask = letterMask(word)
      const shortest = Math.max(1, Math.min(MAX_LENGTH, word.length - maxDistance))
      const longest = Math.min(MAX_LENGTH, word.length + maxDistance)
      const found: { id: number; distance: number }[] = []
      for (let length = shortest; length <= longest; length++) {
        const { ids, letters } = byLength[length] ?? NO_WORDS
        for (let i = 0; i < ids.length; i++) {
          // One edit changes at most two letters, which rules out most words.
          if (countBits((letters[i] ?? 0) ^ mask) > 2 * maxDistance) continue
          const id = ids[i] ?? 0
          const candidate = words[id] ?? ''
          if (candidate === word) continue
          const distance = damerauLevenshtein(word, candidate, maxDistance)
          if (distance <= maxDistance && allow(id)) found.push({ id, distance })
        }
      }
      return found
    },
  }
}

/** Bit set of a word's letters. */
function letterMask(word: string): number {
  let mask = 0
  for (let i = 0; i < word.length; i++) mask |= 1 << (word.charCodeAt(i) & 31)
  return mask
}
