import type { FC } from 'hono/jsx'
import { type Marks, markWords } from '../../search/analysis/mark-words.ts'

/** A text with the words of a query marked, their forms too. */
export const Highlight: FC<{ text: string; marks: Marks | null }> = ({ text, marks }) =>
  marks === null ? (
    <>{text}</>
  ) : (
    <>{markWords(text, marks).map((piece) => (typeof piece === 'string' ? piece : <mark>{piece.marked}</mark>))}</>
  )
