import { type FirstWord, firstWords } from '../../domain/text/first-words.ts'
import { MAX_VARIABLE_VALUE } from '../../domain/variables/variables.ts'
import { findFirstMark, type Marks } from '../../search/analysis/mark-words.ts'

/** How much of a text is searched for a passage, in UTF-16 units. */
const MAX_READ = 3_000
/**
 * How much of a text is read for a passage, in UTF-16 units. The first is enough for most, which show a quarter of it. The second is read when the
 * first has blanks, or too little text besides markup: it has room for a blank with a long default.
 */
const PASSAGE_READ = [1_000, 2_000 + MAX_VARIABLE_VALUE] as const
/** How much of its end a text loses at most for a cut between words. */
const MAX_CUT = 100
/** How far before the found word a passage begins at most. */
const BEFORE = 40

/** The first words of a text from a place on. */
export function readPassage(text: string, start: number): readonly FirstWord[] {
  const [few, all] = PASSAGE_READ
  const part = text.slice(start, start + few)
  const words = part.includes('${') ? null : firstWords(part)
  const isWhole = words?.isCut || start + few >= text.length
  return (words && isWhole ? words : firstWords(text.slice(start, start + all))).pieces
}

/** The start of a text, as far as passages are looked for in it. */
export function readStart(text: string): string {
  return cutAtSpace(text, MAX_READ).toWellFormed()
}

/** The place in a text where its first passage with a marked word begins, at the start of a line or a word; 0 when there is none. */
export function findPassage(text: string, marks: Marks): number {
  const found = findFirstMark(text, marks)
  if (found <= BEFORE) return 0
  const from = found - BEFORE
  const line = text.lastIndexOf('\n', found - 1)
  if (line >= from) return line + 1
  const space = text.indexOf(' ', from)
  return space === -1 || space >= found ? found : space + 1
}

/** The start of a text, at most so long, without a part of a word where a space is near the end. */
function cutAtSpace(text: string, length: number): string {
  if (text.length <= length) return text
  const space = text.lastIndexOf(' ', length)
  return text.slice(0, space > length - MAX_CUT ? space : length)
}
