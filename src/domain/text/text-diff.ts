import { type ChangeObject, diffLines, diffWordsWithSpace } from 'diff'

/** A run of text that stayed, came or went. */
export interface DiffPiece {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/**
 * How many edits are looked for. The work grows with their square, and with the texts only linearly; past these the texts
 * have too little in common for a finer comparison to say anything.
 */
const MAX_WORD_EDITS = 1000
const MAX_LINE_EDITS = 1000
/** Longest texts compared word by word, in UTF-16 units of both together, without what they begin and end with alike. */
const MAX_BY_WORDS = 100_000

/**
 * The changes between two texts: by words where they are near to each other, by lines where they are large or far apart, and else the
 * one whole text against the other. The work is bounded for any texts. Same and removed pieces together are `before`, same and added ones `after`.
 */
export function diffTexts(before: string, after: string): DiffPiece[] {
  return diffWith(before, after, compareByWords)
}

/** The changes line by line, as {@link diffTexts} does it for large texts; every piece ends at the end of a line. */
export function diffByLines(before: string, after: string): DiffPiece[] {
  return diffWith(before, after, compareByLines)
}

/** The changes of lines; a last one without an end is a line like the others. */
export function diffWholeLines(before: string, after: string): DiffPiece[] {
  return diffByLines(ended(before), ended(after))
}

/** How many lines a text has that an earlier one has not, and the reverse. */
export function countChangedLines(before: string, after: string): { added: number; removed: number } {
  const count = { added: 0, removed: 0 }
  for (const { kind, text } of diffWholeLines(before, after)) if (kind !== 'same') count[kind] += text.split('\n').length - 1
  return count
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

function diffWith(before: string, after: string, compare: (before: string, after: string) => DiffPiece[] | null): DiffPiece[] {
  if (before === after) return before === '' ? [] : [{ kind: 'same', text: before }]
  const start = sharedStart(before, after)
  const end = sharedEnd(before, after, start)
  const old = before.slice(start, before.length - end)
  const fresh = after.slice(start, after.length - end)
  const middle = compare(old, fresh) ?? [
    { kind: 'removed', text: old },
    { kind: 'added', text: fresh },
  ]
  const pieces: DiffPiece[] = [
    { kind: 'same', text: before.slice(0, start) },
    ...middle,
    { kind: 'same', text: before.slice(before.length - end) },
  ]
  return pieces.filter(({ text }) => text !== '')
}

function compareByWords(before: string, after: string): DiffPiece[] | null {
  const found =
    before.length + after.length > MAX_BY_WORDS ? undefined : diffWordsWithSpace(before, after, { maxEditLength: MAX_WORD_EDITS })
  return found ? joinChanges(found.map(toPiece)) : compareByLines(before, after)
}

/** Adjacent changed words as one change: word by word they would be unreadable. */
function joinChanges(pieces: readonly DiffPiece[]): DiffPiece[] {
  const joined: DiffPiece[] = []
  let removed = ''
  let added = ''
  for (const [index, { kind, text }] of pieces.entries()) {
    if (kind === 'removed') removed += text
    else if (kind === 'added') added += text
    else if (removed !== '' && added !== '' && index < pieces.length - 1 && /^[^\S\n]+$/.test(text)) {
      removed += text
      added += text
    } else {
      joined.push({ kind: 'removed', text: removed }, { kind: 'added', text: added }, { kind, text })
      removed = ''
      added = ''
    }
  }
  joined.push({ kind: 'removed', text: removed }, { kind: 'added', text: added })
  return joined.filter(({ text }) => text !== '')
}

function compareByLines(before: string, after: string): DiffPiece[] | null {
  return diffLines(before, after, { maxEditLength: MAX_LINE_EDITS })?.map(toPiece) ?? null
}

function toPiece({ added, removed, value }: ChangeObject<string>): DiffPiece {
  return { kind: added ? 'added' : removed ? 'removed' : 'same', text: value }
}

/** How far two texts are alike, to the beginning of a line: so no word, and no sign of two halves, is parted. */
function sharedStart(before: string, after: string): number {
  const most = Math.min(before.length, after.length)
  let at = 0
  while (at < most && before.charCodeAt(at) === after.charCodeAt(at)) at++
  return at === 0 ? 0 : before.lastIndexOf('\n', at - 1) + 1
}

/** The same from the end, as far as it does not meet the beginning. */
function sharedEnd(before: string, after: string, start: number): number {
  const most = Math.min(before.length, after.length) - start
  let length = 0
  while (length < most && before.charCodeAt(before.length - 1 - length) === after.charCodeAt(after.length - 1 - length)) length++
  const line = before.indexOf('\n', before.length - length)
  return line === -1 || length === 0 ? 0 : before.length - line - 1
}

/**
 * A run of lines of a comparison: unchanged ones, near a change (`same`) or far from any (`left-out`), or those that took the place of
 * others (`changed`). `before` and `after` are the numbers of its first line in the older and in the newer text.
 */
export type DiffBlock = { readonly before: number; readonly after: number } & (
  | { readonly kind: 'same'; readonly lines: readonly string[] }
  | { readonly kind: 'left-out'; readonly lines: readonly string[] }
  | { readonly kind: 'changed'; readonly removed: readonly string[]; readonly added: readonly string[] }
)

/** A comparison by lines as blocks, with `around` unchanged lines at each change. */
export function toDiffBlocks(pieces: readonly DiffPiece[], around: number): DiffBlock[] {
  const blocks: DiffBlock[] = []
  let before = 1
  let after = 1
  const joined = joinByLines(pieces)
  for (const [index, block] of joined.entries()) {
    if (block.kind === 'changed') {
      blocks.push({ ...block, before, after })
      before += block.removed.length
      after += block.added.length
      continue
    }
    const { lines } = block
    const head = index === 0 ? 0 : Math.min(around, lines.length)
    const tail = index === joined.length - 1 ? lines.length : Math.max(head, lines.length - around)
    // A single line is shown rather than counted.
    const parts = tail - head > 1 ? [head, tail - head, lines.length - tail] : [lines.length]
    let place = 0
    for (const [part, length] of parts.entries()) {
      const own = lines.slice(place, place + length)
      if (length > 0) blocks.push({ kind: part === 1 ? 'left-out' : 'same', lines: own, before: before + place, after: after + place })
      place += length
    }
    before += lines.length
    after += lines.length
  }
  return blocks
}

type Lines = { kind: 'same'; lines: string[] } | { kind: 'changed'; removed: string[]; added: string[] }

/** Pieces as lines; neighbours of one kind are one. */
function joinByLines(pieces: readonly DiffPiece[]): Lines[] {
  const joined: Lines[] = []
  for (const { kind, text } of pieces) {
    const lines = text.split('\n')
    if (lines.at(-1) === '') lines.pop()
    const last = joined.at(-1)
    if (kind === 'same') {
      if (last?.kind === 'same') last.lines = last.lines.concat(lines)
      else joined.push({ kind, lines })
      continue
    }
    const change = last?.kind === 'changed' ? last : { kind: 'changed' as const, removed: [], added: [] }
    if (change !== last) joined.push(change)
    change[kind] = change[kind].concat(lines)
  }
  return joined
}

/** Lines of a comparison: what changed with a few lines around it, and how many unchanged ones are left out between. */
export type DiffLine = (DiffPiece & { readonly number: number }) | { readonly kind: 'left-out'; readonly lines: number }

/**
 * A comparison as lines, with `around` unchanged lines at each change. `number` is that of the line in the newer text, for removed ones in
 * the older.
 */
export function toDiffLines(pieces: readonly DiffPiece[], around: number): DiffLine[] {
  const number = (kind: DiffPiece['kind'], lines: readonly string[], first: number) =>
    lines.map((text, place) => ({ kind, text, number: first + place }))
  return toDiffBlocks(pieces, around).flatMap((block): DiffLine[] => {
    if (block.kind === 'left-out') return [{ kind: block.kind, lines: block.lines.length }]
    if (block.kind === 'same') return number('same', block.lines, block.after)
    return [...number('removed', block.removed, block.before), ...number('added', block.added, block.after)]
  })
}
