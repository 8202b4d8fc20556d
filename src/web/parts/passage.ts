import { type Marks, markWords } from '../../search/analysis/mark-words.ts'

/** How much of a text is searched for a passage, in UTF-16 units. */
const MAX_READ = 8_000
/** How far before the found word a passage begins at most. */
const BEFORE = 40

/** Whether a text holds a word that is marked. */
export function hasMarks(text: string, marks: Marks): boolean {
  return markWords(text, marks).some((piece) => typeof piece !== 'string')
}

/** The place in a text where its first passage with a marked word begins, at the start of a line or a word; 0 when there is none. */
export function findPassage(text: string, marks: Marks): number {
  const [before] = markWords(text.slice(0, MAX_READ).toWellFormed(), marks)
  // A text that begins with the word, or does not hold it, begins at its beginning.
  if (typeof before !== 'string' || before.length <= BEFORE || before.length >= Math.min(text.length, MAX_READ)) return 0
  const from = before.length - BEFORE
  const line = before.lastIndexOf('\n')
  if (line >= from) return line + 1
  const space = before.indexOf(' ', from)
  return space === -1 ? before.length : space + 1
}
