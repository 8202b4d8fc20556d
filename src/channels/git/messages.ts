import type { SharedChange, SharedVersion } from '../../library/shared-changes.ts'
import type { FetchPlan, FetchRequest } from './fetch.ts'
import type { RepositoryAbout } from './history.ts'
import type { ObjectId } from './objects.ts'

/** What the thread of histories is asked. A history is called by its key. */
export type GitQuestion =
  /** A page of the entries that a history shall hold; the first page begins a new list. */
  | { readonly kind: 'list'; readonly key: string; readonly isFirst: boolean; readonly changes: readonly SharedChange[] }
  /** Opens a history that holds the listed entries. What it holds already is kept where it is their beginning. */
  | { readonly kind: 'open'; readonly key: string; readonly about: RepositoryAbout }
  /** The texts that were asked for. */
  | { readonly kind: 'add'; readonly key: string; readonly versions: readonly SharedVersion[] }
  | { readonly kind: 'tip'; readonly key: string }
  | { readonly kind: 'fetch'; readonly key: string; readonly request: FetchRequest }
  /** The next piece of a pack. */
  | { readonly kind: 'next'; readonly pack: string }
  | { readonly kind: 'cancel'; readonly pack: string }

/** What it answers. */
export type GitAnswer =
  /** How many entries are listed. */
  | { readonly kind: 'listed'; readonly count: number }
  /** The entries whose texts come next, by number; none when the history holds all. */
  | { readonly kind: 'wanted'; readonly changes: readonly number[] }
  | { readonly kind: 'tip'; readonly tip: ObjectId | null }
  | { readonly kind: 'plan'; readonly plan: Omit<FetchPlan, 'objects'>; readonly pack: string | null }
  | { readonly kind: 'piece'; readonly bytes: Uint8Array<ArrayBuffer> | null }
  /** The history is not there, or not any more. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly reason: 'too-large' | 'fault'; readonly message: string }

/** Numbered, so that answers find their questions. */
export interface NumberedQuestion {
  readonly number: number
  readonly question: GitQuestion
}
export interface NumberedAnswer {
  readonly number: number
  /** Processor time that the thread took for it, in milliseconds. */
  readonly cpuMs: number
  readonly answer: GitAnswer
}
