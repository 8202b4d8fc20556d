import type { Facet } from './find-facets.ts'
import type { MediaPart } from './heading-words.ts'

/** A kind of picture, film or sound: how it is recognised, and what to say of each part the prompt leaves open. */
export interface MediaKind {
  readonly id: string
  readonly cues: readonly string[]
  /** Whether it is a form, such as a logo or an animation, which counts before what is shown in it. Default: false. */
  readonly isForm?: boolean
  /** One line for each part of the medium it has: silence has no tempo. The last kind of a medium has all of them. */
  readonly lines: Partial<Record<MediaPart, string>>
}

/** Everything the rewriter knows of one medium. The last of `kinds` is for prompts of no known kind. */
export interface Medium {
  /** The parts a full prompt names, in the order in which they are written. */
  readonly parts: readonly MediaPart[]
  /** Phrases that settle a part wherever they stand. */
  readonly cues: Partial<Record<Facet, readonly string[]>>
  readonly kinds: readonly MediaKind[]
}
