import type { FC } from 'hono/jsx'
import { readQueryWords, STOP_WORDS } from '../../search/analysis/words.ts'

const RUN = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu
/** Letters a word must share with one of the query's to be marked; shorter words must be the same. */
const SHARED = 4

/** A text with the words of a query marked, as far as they begin alike: forms of a word are marked, too. */
export const Highlight: FC<{ text: string; query: string }> = ({ text, query }) => {
  const wanted = readQueryWords(query, 24).words.filter((word) => !STOP_WORDS.has(word))
  if (wanted.length === 0) return <>{text}</>
  const pieces: (string | { marked: string })[] = []
  let end = 0
  for (const match of text.matchAll(RUN)) {
    const [word = ''] = readQueryWords(match[0], 1).words
    if (!wanted.some((other) => isAlike(word, other))) continue
    pieces.push(text.slice(end, match.index), { marked: match[0] })
    end = match.index + match[0].length
  }
  pieces.push(text.slice(end))
  return <>{pieces.map((piece) => (typeof piece === 'string' ? piece : <mark>{piece.marked}</mark>))}</>
}

function isAlike(word: string, wanted: string): boolean {
  if (word === wanted) return true
  const shared = Math.min(word.length, wanted.length)
  return shared >= SHARED && word.slice(0, shared - 1) === wanted.slice(0, shared - 1) && Math.abs(word.length - wanted.length) <= 4
}
