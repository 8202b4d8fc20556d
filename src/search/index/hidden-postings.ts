import { CODE_BITS } from './postings.ts'

/** The postings of the hidden items that one caller finds: those of some owners. */
export interface PrivatePostings {
  /** Number of the items. */
  readonly items: number
  /** How many of the items have an encoder's vector. */
  readonly encoded: number
  /** Document frequency of a word. */
  countOf(word: number): number
  /** Calls with each posting of a word: the slot above `CODE_BITS`, and the field code below. */
  eachPosting(word: number, take: (posting: number) => void): void
}

/** The words of a hidden item, with their field codes. */
export interface HiddenItem {
  readonly owner: number
  readonly slot: number
  readonly words: Uint32Array
  readonly codes: Uint8Array
}

/** Most words are in one item of an owner, so a list of one posting is the posting itself. */
type List = number | number[]

interface Owner {
  readonly items: Map<number, HiddenItem>
  encoded: number
}

/** An inverted index of hidden items, in which each owner's are apart. */
export function createHiddenPostings() {
  const owners = new Map<number, Owner>()
  const ownerOf: number[] = []
  /**
   * By word, then by owner: few owners hold a rare word, so that somebody who sees many of them asks few. Most words are in one item, and have
   * its posting alone.
   */
  const words = new Map<number, number | Map<number, List>>()
  const ownerOfPosting = (posting: number): number => ownerOf[posting >>> CODE_BITS] ?? 0

  const addPosting = (owner: number, word: number, posting: number): void => {
    const known = words.get(word)
    if (known === undefined) {
      words.set(word, posting)
      return
    }
    const lists = typeof known === 'number' ? new Map<number, List>([[ownerOfPosting(known), known]]) : known
    words.set(word, lists)
    const list = lists.get(owner)
    if (list === undefined) lists.set(owner, posting)
    else if (typeof list === 'number') lists.set(owner, [list, posting])
    else list.push(posting)
  }
  const removePosting = (owner: number, word: number, slot: number): void => {
    const lists = words.get(word)
    if (typeof lists === 'number') {
      words.delete(word)
      return
    }
    const list = lists?.get(owner)
    if (typeof list === 'object') {
      const at = list.findIndex((posting) => posting >>> CODE_BITS === slot)
      if (at >= 0) list.splice(at, 1)
      if (list.length > 0) return
    }
    lists?.delete(owner)
    if (lists?.size === 0) words.delete(word)
  }
  /** Calls with the list of each of some owners that hold a word. */
  const eachList = (word: number, seen: ReadonlySet<number>, take: (list: List) => void): void => {
    const lists = words.get(word)
    if (lists === undefined) return
    if (typeof lists === 'number') {
      if (seen.has(ownerOfPosting(lists))) take(lists)
      return
    }
    if (lists.size < seen.size) {
      for (const [owner, list] of lists) if (seen.has(owner)) take(list)
      return
    }
    for (const owner of seen) {
      const list = lists.get(owner)
      if (list !== undefined) take(list)
    }
  }
  return {
    add(owner: number, slot: number, eachWord: (take: (word: number, code: number) => void) => void): void {
      const entry = owners.get(owner) ?? { items: new Map<number, HiddenItem>(), encoded: 0 }
      owners.set(owner, entry)
      ownerOf[slot] = owner
      const words: number[] = []
      const codes: number[] = []
      eachWord((word, code) => {
        addPosting(owner, word, slot * 2 ** CODE_BITS + code)
        words.push(word)
        codes.push(code)
      })
      entry.items.set(slot, { owner, slot, words: Uint32Array.from(words), codes: Uint8Array.from(codes) })
    },
    remove(owner: number, slot: number): void {
      const entry = owners.get(owner)
      for (const word of entry?.items.get(slot)?.words ?? []) removePosting(owner, word, slot)
      entry?.items.delete(slot)
      if (entry?.items.size === 0) owners.delete(owner)
    },
    /** Notes that so many more items of an owner have an encoder's vector. */
    addEncoded(owner: number, count: number): void {
      const entry = owners.get(owner)
      if (entry) entry.encoded += count
    },
    /** Whether an item holds a word. */
    has: (word: number): boolean => words.has(word),
    /** Every item, as it is now. */
    list: (): HiddenItem[] => [...owners.values()].flatMap(({ items }) => [...items.values()]),
    /** The items of some owners, as they are at each call; null when there are none. */
    of(asked: ReadonlySet<number>): PrivatePostings | null {
      const seen = new Set([...asked].filter((owner) => owners.has(owner)))
      if (seen.size === 0) return null
      const sum = (of: (owner: Owner) => number) => [...seen].reduce((total, one) => total + of(owners.get(one) ?? NOTHING), 0)
      return {
        get items() {
          return sum(({ items }) => items.size)
        },
        get encoded() {
          return sum(({ encoded }) => encoded)
        },
        countOf(word) {
          let count = 0
          eachList(word, seen, (list) => {
            count += typeof list === 'number' ? 1 : list.length
          })
          return count
        },
        eachPosting(word, take) {
          eachList(word, seen, (list) => {
            if (typeof list === 'number') take(list)
            else for (const posting of list) take(posting)
          })
        },
      }
    },
  }
}

const NOTHING: Owner = { items: new Map(), encoded: 0 }
