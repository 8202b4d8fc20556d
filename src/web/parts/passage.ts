import { findFirstMark, type Marks } from '../../search/analysis/mark-words.ts'

/** How much of a text is searched for a passage, in UTF-16 units: most often the word stands early. */
const READ = [600, 3_000] as const
/** How far before the found word a passage begins at most. */
const BEFORE = 40

/** Whether a text holds a word that is marked. */
export function hasMarks(text: string, marks: Marks): boolean {
  return findFirstMark(text, marks) !== -1
}

/** The place in a text where its first passage with a marked word begins, at the start of a line or a word; 0 when there is none. */
export function findPassage(text: string, marks: Marks): number {
  for (const length of READ) {
    const start = cutAtSpace(text, length).toWellFormed()
    const found = findFirstMark(start, marks)
    if (found === -1) {
      if (start.length === text.length) return 0
      continue
    }
    if (found <= BEFORE) return 0
    const from = found - BEFORE
    const line = start.lastIndexOf('\n', found - 1)
    if (line >= from) return line + 1
    const space = start.indexOf(' ', from)
    return space === -1 || space >= found ? found : space + 1
  }
  return 0
}

/** The start of a text, at most so long, without a part of a word where it can be. */
function cutAtSpace(text: string, length: number): string {
  if (text.length <= length) return text
  const space = text.lastIndexOf(' ', length)
  return text.slice(0, space > 0 ? space : length)
}
