import type { Part } from './heading-words.ts'

/** A part of a result. `title` is how it is headed in a text; `isOwn` marks what stood in the prompt under a heading of its own. */
export interface DraftSection {
  readonly part: Part | null
  readonly title: string
  readonly text: string
  readonly isOwn: boolean
}

/** A result before it is written in a format: whole as a text, and in parts for an object. Both hold every word of the prompt. */
export interface Draft {
  readonly text: string
  readonly sections: readonly DraftSection[]
}
