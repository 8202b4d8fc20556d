import type { Facet } from './find-facets.ts'

/** Something to fill in: written as `Label: ${name:value}`, so that the prompt can be used as it is. `settledBy`: left out when the prompt settles this. */
export interface Blank {
  readonly label: string
  readonly name: string
  readonly value: string
  readonly settledBy?: Facet
  /** Words that answer it: left out when the prompt has one. */
  readonly answers?: readonly string[]
}

/** What a kind of task needs: how it is recognised, and what a good prompt for it says. */
export interface TaskKind {
  readonly id: string
  /** Phrases a request of this kind begins with. */
  readonly starts: readonly string[]
  /** Phrases that name its result or material, anywhere near the beginning. */
  readonly cues: readonly string[]
  /** Phrases of which one must stand in the request as well. Default: none needed. */
  readonly needs?: readonly string[]
  /** Goes on "You are …". */
  readonly role: string
  /** Goes on the role when the topic is known: "… with sound knowledge of cats". */
  readonly knows?: string
  /** Multiplies its score: below 1 for a kind that another one should beat. Default: 1. */
  readonly weight?: number
  readonly blanks: readonly Blank[]
  /** The material the task works on, when the prompt brings none. */
  readonly input?: Blank
  readonly requirements: readonly string[]
  /** Requirements that ask for words beside the result; left out when the prompt wants nothing but the result. */
  readonly remarks?: readonly string[]
  readonly length?: string
  readonly tone?: string
  readonly output: string
  /** How to work, in order; written when an inspiration works in steps. */
  readonly steps: readonly string[]
  /** Goes on "Before you answer, check that …". */
  readonly check: string
}

/** Who reads the result; almost every kind of writing asks for it. */
export function audienceBlank(value: string): Blank {
  return { label: 'Audience', name: 'audience', value, settledBy: 'audience' }
}
