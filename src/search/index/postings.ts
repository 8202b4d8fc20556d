/** Low bits of a posting that hold the field code; the item's slot is in the bits above. */
export const CODE_BITS = 8
/** Smaller indexes purge deleted items at once; larger ones in steps, once over 1% of their items are deleted. */
const PURGE_AT_ONCE_BELOW = 500_000
/** Postings scanned in one purge step: about 10 ms. */
const POSTINGS_PER_STEP = 1_000_000
/** One segment more, and the smaller ones are merged. */
const MAX_SEGMENTS = 8
/** Above every word's number. */
const NO_WORD = Number.POSITIVE_INFINITY
/** A segment whose live share falls below this is compacted. */
const MIN_USED = 0.75

/** The posting lists of a batch of items. The list of `words[i]` is `postings[starts[i]]` up to `ends[i]`, exclusive; `words` ascends. */
export interface Segment {
  readonly words: Uint32Array
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  readonly postings: Uint32Array
}

/**
 * An inverted index: for each word, the slots of the items that hold it, each with its field code. Each added batch becomes a segment,
 * and small segments are merged, so that adding an item does not rewrite the index.
 */
export type Postings = ReturnType<typeof createPostings>

/** Start and end of a word's posting list in a segment; equal when it has none. */
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

/** An empty index. @param limits for tests. Default: PURGE_AT_ONCE_BELOW, POSTINGS_PER_STEP */
export function createPostings(
  limits: { purgeAtOnceBelow: number; postingsPerStep: number } = {
    purgeAtOnceBelow: PURGE_AT_ONCE_BELOW,
    postingsPerStep: POSTINGS_PER_STEP,
  },
) {
  let segments: Segment[] = []
  let counts = new Uint32Array(1024)
  let batchWords = new Uint32Array(4096)
  let batchPostings = new Uint32Array(4096)
  let batchCounts = new Uint32Array(4096)
  /** Deleted slots wait in `deleted`, are taken out of the segments by `purge`, and end in `freed`. */
  let deleted = new Set<number>()
  let purge: { readonly slots: ReadonlySet<number>; readonly mask: Uint8Array; left: Segment[]; row: number } | null = null
  let freed: number[] = []
  let itemCount = 0
  /** While segments are being copied, none is purged. */
  let isHeld = false
  const size = () => segments.reduce((sum, segment) => sum + segment.postings.length, 0)

  /** Takes deleted items out of the next part of the segments. */
  const purgeStep = (): void => {
    if (!purge || isHeld) return
    let scanned = 0
    for (let segment = purge.left[0]; segment; segment = purge.left[0]) {
      const { words, starts, ends, postings } = segment
      while (purge.row < words.length) {
        if (scanned > limits.postingsPerStep) return
        const [row, start] = [purge.row, starts[purge.row] ?? 0]
        const end = ends[row] ?? 0
        let to = start
        for (let at = start; at < end; at++) {
          const posting = postings[at] ?? 0
          if (purge.mask[posting >>> CODE_BITS] !== 1) postings[to++] = posting
        }
        ends[row] = to
        decrementCount(words[row] ?? 0, end - to)
        scanned += end - start + 1
        purge.row++
      }
      purge.left.shift()
      purge.row = 0
    }
    for (const slot of purge.slots) freed.push(slot)
    purge = null
    segments = segments.map((segment) => compact(segment)).filter((segment) => segment.words.length > 0)
  }
  const countLive = (word: number): number => {
    let live = 0
    for (const segment of segments) {
      const [from, to] = rangeOf(segment, word)
      for (let at = from; at < to; at++) {
        const slot = (segment.postings[at] ?? 0) >>> CODE_BITS
        if (!deleted.has(slot) && !purge?.slots.has(slot)) live++
      }
    }
    return live
  }
  const decrementCount = (word: number, by: number): void => {
    counts[word] = (counts[word] ?? 0) - by
  }
  const countWords = ({ words, starts, ends }: Segment): void => {
    const largest = words.at(-1) ?? 0
    if (largest >= counts.length) counts = grow(counts, Math.max(largest + 1, counts.length * 2))
    for (let i = 0; i < words.length; i++) {
      const word = words[i] ?? 0
      counts[word] = (counts[word] ?? 0) + (ends[i] ?? 0) - (starts[i] ?? 0)
    }
  }
  /** Starts a purge when enough items are deleted. */
  const startPurge = (): void => {
    if (purge || isHeld || deleted.size === 0 || (size() >= limits.purgeAtOnceBelow && deleted.size <= itemCount / 100)) return
    let last = 0
    for (const slot of deleted) last = Math.max(last, slot)
    const mask = new Uint8Array(last + 1)
    for (const slot of deleted) mask[slot] = 1
    purge = { slots: deleted, mask, left: [...segments], row: 0 }
    deleted = new Set()
  }
  return {
    get segments() {
      return segments
    },
    /** Adds a batch of items. */
    add(items: readonly { readonly slot: number; eachWord(take: (word: number, code: number) => void): void }[]): void {
      if (items.length === 0) return
      itemCount += items.length
      let length = 0
      let largest = 0
      for (const { slot, eachWord } of items) {
        eachWord((word, code) => {
          if (length >= batchWords.length) {
            batchWords = grow(batchWords, length * 2)
            batchPostings = grow(batchPostings, length * 2)
          }
          if (word > largest) largest = word
          batchWords[length] = word
          batchPostings[length++] = ((slot << CODE_BITS) | code) >>> 0
        })
      }
      if (largest >= batchCounts.length) batchCounts = new Uint32Array(largest * 2)
      const segment = sortSegment(batchWords.subarray(0, length), batchPostings.subarray(0, length), batchCounts)
      countWords(segment)
      segments.push(segment)
      if (segments.length > MAX_SEGMENTS) {
        // Merge segments of similar size, so that each posting moves O(log n) times.
        segments.sort((a, b) => b.postings.length - a.postings.length)
        let from = segments.length - 2
        let mergedLength = segments.at(-1)?.postings.length ?? 0
        while (from > 0 && (segments[from - 1]?.postings.length ?? 0) < mergedLength * 4)
          mergedLength += segments[from--]?.postings.length ?? 0
        const parts = segments.slice(from)
        const isDeleted = (slot: number) => deleted.has(slot) || purge?.slots.has(slot) === true
        segments = [...segments.slice(0, from), mergeSegments(parts, deleted.size > 0 || purge ? isDeleted : null, decrementCount)]
        if (purge) {
          const [first] = purge.left
          if (first && parts.includes(first)) purge.row = 0
          purge.left = purge.left.filter((segment) => !parts.includes(segment))
        }
      }
      purgeStep()
    },
    /** Deletes the items of these slots. A large index purges their postings over the next calls; until then readers must skip them. */
    remove(slots: ReadonlySet<number>): void {
      for (const slot of slots) deleted.add(slot)
      itemCount -= slots.size
      startPurge()
      const isSmall = size() < limits.purgeAtOnceBelow
      do purgeStep()
      while (purge && isSmall && !isHeld)
    },
    /** Slots purged since the last call: they may be used again. */
    takeFreedSlots(): number[] {
      const slots = freed
      freed = []
      return slots
    },
    /** The segments and the deleted slots that are still in them, as they are now. No segment changes until `release`. */
    hold(): { readonly segments: readonly Segment[]; readonly deleted: Uint32Array; release(): void } {
      isHeld = true
      return {
        segments: [...segments],
        deleted: Uint32Array.from([...deleted, ...(purge?.slots ?? [])]),
        release() {
          isHeld = false
        },
      }
    },
    /** Fills an empty index with what was held. @param items number of those that are not deleted */
    load(from: { readonly segments: readonly Segment[]; readonly deleted: Uint32Array }, items: number): void {
      segments = [...from.segments]
      for (const segment of segments) countWords(segment)
      deleted = new Set(from.deleted)
      itemCount = items
    },
    /** Document frequency: how many items hold the word. Exact when it is small; in a large index it may include deleted items, up to 1%. */
    countOf(word: number): number {
      const count = counts[word] ?? 0
      const pending = deleted.size + (purge?.slots.size ?? 0)
      // A word that only deleted items held must count 0, or corrections could reveal it.
      return pending === 0 || count > pending ? count : countLive(word)
    },
  }
}

function grow(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(length)
  larger.set(array)
  return larger
}

/**
 * Turns pairs of word and posting into a segment, by a counting sort; it is stable, so items keep their order.
 * @param counts zero for each word, and afterwards again. Given, so that a batch of few words does not cost the whole vocabulary.
 */
function sortSegment(words: Uint32Array, postings: Uint32Array, counts: Uint32Array): Segment {
  const found = new Uint32Array(words.length)
  let distinctCount = 0
  for (const word of words) {
    if (counts[word] === 0) found[distinctCount++] = word
    counts[word] = (counts[word] ?? 0) + 1
  }
  const distinct = found.slice(0, distinctCount).sort()
  const starts = new Uint32Array(distinctCount)
  const ends = new Uint32Array(distinctCount)
  let end = 0
  for (const [row, word] of distinct.entries()) {
    const start = end
    end += counts[word] ?? 0
    starts[row] = start
    ends[row] = end
    // From here on the place of the word's next posting.
    counts[word] = start
  }
  const sorted = new Uint32Array(postings.length)
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? 0
    const at = counts[word] ?? 0
    sorted[at] = postings[i] ?? 0
    counts[word] = at + 1
  }
  for (const word of distinct) counts[word] = 0
  return { words: distinct, starts, ends, postings: sorted }
}

/** Merges segments. @param isDeleted slots to leave out; `onDropped` gets the number of omitted postings of each word */
function mergeSegments(
  parts: readonly Segment[],
  isDeleted: ((slot: number) => boolean) | null,
  onDropped: (word: number, count: number) => void,
): Segment {
  const sum = (of: (part: Segment) => number) => parts.reduce((total, part) => total + of(part), 0)
  const mostRows = sum((part) => part.words.length)
  const words = new Uint32Array(mostRows)
  const starts = new Uint32Array(mostRows)
  const ends = new Uint32Array(mostRows)
  const postings = new Uint32Array(sum((part) => part.postings.length))
  const cursors = parts.map(() => 0)
  const nextWord = () => parts.reduce((least, part, k) => Math.min(least, part.words[cursors[k] ?? 0] ?? NO_WORD), NO_WORD)
  let end = 0
  let row = 0
  for (let word = nextWord(); word !== NO_WORD; word = nextWord()) {
    const start = end
    let dropped = 0
    for (const [k, part] of parts.entries()) {
      const cursor = cursors[k] ?? 0
      if (part.words[cursor] !== word) continue
      cursors[k] = cursor + 1
      const to = part.ends[cursor] ?? 0
      for (let at = part.starts[cursor] ?? 0; at < to; at++) {
        const posting = part.postings[at] ?? 0
        if (isDeleted?.(posting >>> CODE_BITS)) dropped++
        else postings[end++] = posting
      }
    }
    if (dropped > 0) onDropped(word, dropped)
    if (end === start) continue
    words[row] = word
    starts[row] = start
    ends[row++] = end
  }
  return compact({ words: words.slice(0, row), starts: starts.slice(0, row), ends: ends.slice(0, row), postings }, end)
}

/** Copies a segment without its unused room, when that is much. @param used live postings. Default: counted */
function compact(
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
