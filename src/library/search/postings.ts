/** How many bits of a posting hold where the word stands; the slot of the item is above them. */
export const CODE_BITS = 8
/** Below so many postings, words of items that went are taken out at once; above, when they are more than a hundredth. */
const EXACT_BELOW = 3_000_000
/** Segments kept side by side; one more, and the smaller ones become one. */
const MAX_SEGMENTS = 8

/** Postings of some items, by word: `postings[starts[i]]` up to `starts[i + 1]` are those of `words[i]`, which ascend. */
export interface Segment {
  readonly words: Uint32Array
  readonly starts: Uint32Array
  readonly postings: Uint32Array
}

/**
 * An inverted index: for each word the slots of the items it stands in, with a code that says where. Each batch of items added is a segment of its
 * own; segments grow together as they become many, so that adding little costs little.
 */
export interface Postings {
  readonly segments: readonly Segment[]
  /** Adds a batch of items. */
  add(items: readonly { readonly slot: number; eachWord(take: (word: number, code: number) => void): void }[]): void
  /** The items of these slots are gone: forgotten now or, in a large index, soon. Until then whoever reads has to skip them. */
  remove(slots: ReadonlySet<number>): void
  /** Whether every removal has been carried out, so that slots may be used again. */
  readonly isSwept: boolean
  /** How many items hold the word; in a large index up to a hundredth more than there are. */
  countOf(word: number): number
}

/** Where the postings of a word begin and end in a segment; the same number twice when it has none. */
export function rangeOf({ words, starts }: Segment, word: number): readonly [number, number] {
  let low = 0
  let high = words.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const found = words[middle] ?? 0
    if (found === word) return [starts[middle] ?? 0, starts[middle + 1] ?? 0]
    if (found < word) low = middle + 1
    else high = middle - 1
  }
  return [0, 0]
}

/** An index with nothing in it. */
export function createPostings(): Postings {
  let segments: Segment[] = []
  let counts = new Uint32Array(1024)
  let batchWords = new Uint32Array(4096)
  let batchPostings = new Uint32Array(4096)
  const gone = new Set<number>()
  /** Items there are. */
  let added = 0
  const size = () => segments.reduce((sum, segment) => sum + segment.postings.length, 0)

  const sweep = (): void => {
    counts.fill(0)
    segments = segments.map((segment) => mergeSegments([segment], gone)).filter((segment) => segment.words.length > 0)
    for (const { words, starts } of segments) {
      for (let i = 0; i < words.length; i++) {
        const word = words[i] ?? 0
        counts[word] = (counts[word] ?? 0) + (starts[i + 1] ?? 0) - (starts[i] ?? 0)
      }
    }
    gone.clear()
  }
  return {
    get segments() {
      return segments
    },
    add(items) {
      if (items.length === 0) return
      added += items.length
      let length = 0
      let largest = 0
      for (const { slot, eachWord } of items) {
        eachWord((word, code) => {
          if (length >= batchWords.length) {
            batchWords = growTo(batchWords, length * 2)
            batchPostings = growTo(batchPostings, length * 2)
          }
          if (word > largest) largest = word
          batchWords[length] = word
          batchPostings[length++] = ((slot << CODE_BITS) | code) >>> 0
        })
      }
      if (largest >= counts.length) counts = growTo(counts, Math.max(largest + 1, counts.length * 2))
      const segment = sortSegment(batchWords.subarray(0, length), batchPostings.subarray(0, length), largest)
      for (let i = 0; i < segment.words.length; i++) {
        const word = segment.words[i] ?? 0
        counts[word] = (counts[word] ?? 0) + (segment.starts[i + 1] ?? 0) - (segment.starts[i] ?? 0)
      }
      segments.push(segment)
      if (segments.length > MAX_SEGMENTS) {
        // Those of about one size become one: each posting is moved a few times only, however large the index grows.
        segments.sort((a, b) => b.postings.length - a.postings.length)
        let from = segments.length - 2
        let together = segments.at(-1)?.postings.length ?? 0
        while (from > 0 && (segments[from - 1]?.postings.length ?? 0) < together * 4) together += segments[from--]?.postings.length ?? 0
        segments = [...segments.slice(0, from), mergeSegments(segments.slice(from), gone)]
      }
    },
    remove(slots) {
      for (const slot of slots) gone.add(slot)
      added -= slots.size
      const total = size()
      if (gone.size > 0 && (total < EXACT_BELOW || gone.size > added / 100)) sweep()
    },
    get isSwept() {
      return gone.size === 0
    },
    countOf: (word) => counts[word] ?? 0,
  }
}

function growTo(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(length)
  larger.set(array)
  return larger
}

/** Pairs of word and posting as a segment: sorted by counting, which keeps the order of items. */
function sortSegment(words: Uint32Array, postings: Uint32Array, largest: number): Segment {
  const ends = new Uint32Array(largest + 2)
  let present = 0
  for (const word of words) {
    if (ends[word + 1] === 0) present++
    ends[word + 1] = (ends[word + 1] ?? 0) + 1
  }
  const distinct = new Uint32Array(present)
  const starts = new Uint32Array(present + 1)
  let row = 0
  for (let word = 0; word <= largest; word++) {
    const start = ends[word] ?? 0
    const length = ends[word + 1] ?? 0
    if (length > 0) {
      distinct[row] = word
      starts[row++] = start
    }
    ends[word + 1] = start + length
  }
  starts[row] = words.length
  const sorted = new Uint32Array(postings.length)
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? 0
    const at = ends[word] ?? 0
    sorted[at] = postings[i] ?? 0
    ends[word] = at + 1
  }
  return { words: distinct, starts, postings: sorted }
}

/** Several segments as one, without what is gone. */
function mergeSegments(parts: readonly Segment[], gone: ReadonlySet<number>): Segment {
  const largest = parts.reduce((most, part) => Math.max(most, part.words.at(-1) ?? 0), 0)
  const counts = new Uint32Array(largest + 1)
  for (const { words, starts } of parts) {
    for (let i = 0; i < words.length; i++) {
      const word = words[i] ?? 0
      counts[word] = (counts[word] ?? 0) + (starts[i + 1] ?? 0) - (starts[i] ?? 0)
    }
  }
  const total = parts.reduce((sum, part) => sum + part.postings.length, 0)
  const present = counts.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0)
  const words = new Uint32Array(present)
  const starts = new Uint32Array(present + 1)
  const postings = new Uint32Array(total)
  const cursors = parts.map(() => 0)
  let end = 0
  let row = 0
  for (let word = 0; word <= largest; word++) {
    if ((counts[word] ?? 0) === 0) continue
    const start = end
    for (const [k, part] of parts.entries()) {
      const cursor = cursors[k] ?? 0
      if (part.words[cursor] !== word) continue
      cursors[k] = cursor + 1
      const to = part.starts[cursor + 1] ?? 0
      for (let at = part.starts[cursor] ?? 0; at < to; at++) {
        const posting = part.postings[at] ?? 0
        if (gone.size === 0 || !gone.has(posting >>> CODE_BITS)) postings[end++] = posting
      }
    }
    if (end === start) continue
    words[row] = word
    starts[row++] = start
  }
  starts[row] = end
  return end === total
    ? { words, starts, postings }
    : { words: words.slice(0, row), starts: starts.slice(0, row + 1), postings: postings.slice(0, end) }
}
