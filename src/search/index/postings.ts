/** How many bits of a posting hold where the word stands; the slot of the item is above them. */
export const CODE_BITS = 8
/** Below so many postings, words of items that went are taken out at once; above, when they are more than a hundredth, a part at a time. */
const EXACT_BELOW = 500_000
/** Postings looked at in one part: some ten milliseconds. */
const POSTINGS_A_PART = 1_000_000
/** Segments kept side by side; one more, and the smaller ones become one. */
const MAX_SEGMENTS = 8
/** A segment is written anew when less than this part of its room is used. */
const MIN_USED = 0.75

/** Postings of some items, by word: `postings[starts[i]]` up to `ends[i]` are those of `words[i]`, which ascend. */
export interface Segment {
  readonly words: Uint32Array
  readonly starts: Uint32Array
  readonly ends: Uint32Array
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
  /** The items of these slots are gone: forgotten now or, in a large index, over the next calls. Until then whoever reads has to skip them. */
  remove(slots: ReadonlySet<number>): void
  /** The slots that have been forgotten since this was last asked, so that they may be used again. */
  takeForgotten(): number[]
  /** How many items hold the word: exactly where it may be none; else, in a large index, up to a hundredth more than there are. */
  countOf(word: number): number
}

/** Where the postings of a word begin and end in a segment; the same number twice when it has none. */
export function rangeOf({ words, starts, ends }: Segment, word: number): readonly [number, number] {
  let low = 0
  let high = words.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const found = words[middle] ?? 0
    if (found === word) return [starts[middle] ?? 0, ends[middle] ?? 0]
    if (found < word) low = middle + 1
    else high = middle - 1
  }
  return [0, 0]
}

/** An index with nothing in it. @param limits for tests. Default: EXACT_BELOW, POSTINGS_A_PART */
export function createPostings(
  limits: { exactBelow: number; aPart: number } = { exactBelow: EXACT_BELOW, aPart: POSTINGS_A_PART },
): Postings {
  let segments: Segment[] = []
  let counts = new Uint32Array(1024)
  let batchWords = new Uint32Array(4096)
  let batchPostings = new Uint32Array(4096)
  /** Slots whose items went; those that are being forgotten, with what is left to look at; and those that have been. */
  let gone = new Set<number>()
  let round: { readonly slots: ReadonlySet<number>; readonly mask: Uint8Array; left: Segment[]; row: number } | null = null
  let forgotten: number[] = []
  /** Items there are. */
  let added = 0
  const size = () => segments.reduce((sum, segment) => sum + segment.postings.length, 0)

  /** Takes what is gone out of a part of the segments. */
  const forgetSome = (): void => {
    if (!round) return
    let looked = 0
    for (let segment = round.left[0]; segment; segment = round.left[0]) {
      const { words, starts, ends, postings } = segment
      while (round.row < words.length) {
        if (looked > limits.aPart) return
        const [row, start] = [round.row, starts[round.row] ?? 0]
        const end = ends[row] ?? 0
        let to = start
        for (let at = start; at < end; at++) {
          const posting = postings[at] ?? 0
          if (round.mask[posting >>> CODE_BITS] !== 1) postings[to++] = posting
        }
        ends[row] = to
        countLess(words[row] ?? 0, end - to)
        looked += end - start + 1
        round.row++
      }
      round.left.shift()
      round.row = 0
    }
    for (const slot of round.slots) forgotten.push(slot)
    round = null
    segments = segments.map((segment) => tighten(segment)).filter((segment) => segment.words.length > 0)
  }
  const countThere = (word: number): number => {
    let there = 0
    for (const segment of segments) {
      const [from, to] = rangeOf(segment, word)
      for (let at = from; at < to; at++) {
        const slot = (segment.postings[at] ?? 0) >>> CODE_BITS
        if (!gone.has(slot) && !round?.slots.has(slot)) there++
      }
    }
    return there
  }
  const countLess = (word: number, less: number): void => {
    counts[word] = (counts[word] ?? 0) - less
  }
  /** Begins to forget what has gone meanwhile, when it is enough. */
  const beginRound = (): void => {
    if (round || gone.size === 0 || (size() >= limits.exactBelow && gone.size <= added / 100)) return
    const mask = new Uint8Array(Math.max(...gone) + 1)
    for (const slot of gone) mask[slot] = 1
    round = { slots: gone, mask, left: [...segments], row: 0 }
    gone = new Set()
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
        counts[word] = (counts[word] ?? 0) + (segment.ends[i] ?? 0) - (segment.starts[i] ?? 0)
      }
      segments.push(segment)
      if (segments.length > MAX_SEGMENTS) {
        // Those of about one size become one: each posting is moved a few times only, however large the index grows.
        segments.sort((a, b) => b.postings.length - a.postings.length)
        let from = segments.length - 2
        let together = segments.at(-1)?.postings.length ?? 0
        while (from > 0 && (segments[from - 1]?.postings.length ?? 0) < together * 4) together += segments[from--]?.postings.length ?? 0
        const parts = segments.slice(from)
        const isGone = (slot: number) => gone.has(slot) || round?.slots.has(slot) === true
        segments = [...segments.slice(0, from), mergeSegments(parts, gone.size > 0 || round ? isGone : null, countLess)]
        if (round) {
          const [first] = round.left
          if (first && parts.includes(first)) round.row = 0
          round.left = round.left.filter((segment) => !parts.includes(segment))
        }
      }
      forgetSome()
    },
    remove(slots) {
      for (const slot of slots) gone.add(slot)
      added -= slots.size
      beginRound()
      const isSmall = size() < limits.exactBelow
      do forgetSome()
      while (round && isSmall)
    },
    takeForgotten() {
      const slots = forgotten
      forgotten = []
      return slots
    },
    countOf(word) {
      const count = counts[word] ?? 0
      const pending = gone.size + (round?.slots.size ?? 0)
      // What may stand in items that are gone alone must not be told of: it is counted exactly.
      return pending === 0 || count > pending ? count : countThere(word)
    },
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
  return { words: distinct, starts: starts.subarray(0, present), ends: starts.slice(1), postings: sorted }
}

/** Several segments as one. @param isGone whether a slot is left out; `onDropped` hears how many postings of a word were */
function mergeSegments(
  parts: readonly Segment[],
  isGone: ((slot: number) => boolean) | null,
  onDropped: (word: number, count: number) => void,
): Segment {
  const largest = parts.reduce((most, part) => Math.max(most, part.words.at(-1) ?? 0), 0)
  const isPresent = new Uint8Array(largest + 1)
  for (const { words } of parts) for (const word of words) isPresent[word] = 1
  const total = parts.reduce((sum, part) => sum + part.postings.length, 0)
  const present = isPresent.reduce((sum, one) => sum + one, 0)
  const words = new Uint32Array(present)
  const starts = new Uint32Array(present)
  const ends = new Uint32Array(present)
  const postings = new Uint32Array(total)
  const cursors = parts.map(() => 0)
  let end = 0
  let row = 0
  for (let word = 0; word <= largest; word++) {
    if (isPresent[word] === 0) continue
    const start = end
    let dropped = 0
    for (const [k, part] of parts.entries()) {
      const cursor = cursors[k] ?? 0
      if (part.words[cursor] !== word) continue
      cursors[k] = cursor + 1
      const to = part.ends[cursor] ?? 0
      for (let at = part.starts[cursor] ?? 0; at < to; at++) {
        const posting = part.postings[at] ?? 0
        if (isGone?.(posting >>> CODE_BITS)) dropped++
        else postings[end++] = posting
      }
    }
    if (dropped > 0) onDropped(word, dropped)
    if (end === start) continue
    words[row] = word
    starts[row] = start
    ends[row++] = end
  }
  return tighten({ words: words.subarray(0, row), starts: starts.subarray(0, row), ends: ends.subarray(0, row), postings }, end)
}

/** The segment without the room that nothing uses, when that is much. @param used its postings; counted when left out */
function tighten(
  segment: Segment,
  used: number = segment.ends.reduce((sum, end, row) => sum + end - (segment.starts[row] ?? 0), 0),
): Segment {
  if (used >= segment.postings.length * MIN_USED) return segment
  const rows = segment.words.length
  const [words, starts, ends] = [new Uint32Array(rows), new Uint32Array(rows), new Uint32Array(rows)]
  const postings = new Uint32Array(used)
  let end = 0
  let row = 0
  for (let old = 0; old < rows; old++) {
    const [from, to] = [segment.starts[old] ?? 0, segment.ends[old] ?? 0]
    if (from === to) continue
    postings.set(segment.postings.subarray(from, to), end)
    words[row] = segment.words[old] ?? 0
    starts[row] = end
    end += to - from
    ends[row++] = end
  }
  return { words: words.slice(0, row), starts: starts.slice(0, row), ends: ends.slice(0, row), postings }
}
