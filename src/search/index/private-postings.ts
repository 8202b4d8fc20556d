import { CODE_BITS } from './postings.ts'

/** The postings of hidden items that one caller finds. */
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

/** The postings of one owner's hidden items. */
export interface OwnerPostings extends PrivatePostings {
  encoded: number
  add(slot: number, eachWord: (take: (word: number, code: number) => void) => void): void
  remove(slot: number): void
}

/** An empty inverted index. Most words are in one item of an owner, so a list of one posting is the posting itself. */
export function createOwnerPostings(): OwnerPostings {
  const wordsOf = new Map<number, Uint32Array>()
  const lists = new Map<number, number | number[]>()
  return {
    get items() {
      return wordsOf.size
    },
    encoded: 0,
    add(slot, eachWord) {
      const words: number[] = []
      eachWord((word, code) => {
        const posting = slot * 2 ** CODE_BITS + code
        const list = lists.get(word)
        if (list === undefined) lists.set(word, posting)
        else if (typeof list === 'number') lists.set(word, [list, posting])
        else list.push(posting)
        words.push(word)
      })
      wordsOf.set(slot, Uint32Array.from(words))
    },
    remove(slot) {
      for (const word of wordsOf.get(slot) ?? []) {
        const list = lists.get(word) ?? []
        const left = typeof list === 'number' ? [] : list.filter((posting) => posting >>> CODE_BITS !== slot)
        const [only] = left
        if (only === undefined) lists.delete(word)
        else lists.set(word, left.length === 1 ? only : left)
      }
      wordsOf.delete(slot)
    },
    countOf(word) {
      const list = lists.get(word)
      return list === undefined ? 0 : typeof list === 'number' ? 1 : list.length
    },
    eachPosting(word, take) {
      const list = lists.get(word)
      if (typeof list === 'number') take(list)
      else for (const posting of list ?? []) take(posting)
    },
  }
}

/** The postings of several owners as one; null for none. */
export function joinPostings(owners: readonly OwnerPostings[]): PrivatePostings | null {
  if (owners.length < 2) return owners[0] ?? null
  const sum = (of: (owner: OwnerPostings) => number) => owners.reduce((total, owner) => total + of(owner), 0)
  return {
    items: sum((owner) => owner.items),
    encoded: sum((owner) => owner.encoded),
    countOf(word) {
      let count = 0
      for (const owner of owners) count += owner.countOf(word)
      return count
    },
    eachPosting(word, take) {
      for (const owner of owners) owner.eachPosting(word, take)
    },
  }
}
