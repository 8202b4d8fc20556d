import type { SharedChange, SharedVersion } from '../../library/shared-changes.ts'
import type { FetchPlan, FetchRequest } from './fetch.ts'
import type { RepositoryAbout } from './history.ts'
import type { ObjectId } from './objects.ts'

/** What the thread of histories is asked. A history is called by its key. */
export type GitQuestion =
  /** Opens a history that shall hold these entries: what it holds already is kept where it is their beginning. */
  | { readonly kind: 'open'; readonly key: string; readonly about: RepositoryAbout; readonly changes: readonly SharedChange[] }
  /** Texts for the next entries that an open history lacks. */
  | { readonly kind: 'add'; readonly key: string; readonly versions: readonly SharedVersion[] }
  | { readonly kind: 'tip'; readonly key: string }
  | { readonly kind: 'fetch'; readonly key: string; readonly request: FetchRequest }
  /** The next piece of a pack. */
  | { readonly kind: 'next'; readonly pack: number }
  | { readonly kind: 'cancel'; readonly pack: number }

/** What it answers. */
export type GitAnswer =
  /** How many of the entries are in the history. */
  | { readonly kind: 'held'; readonly count: number }
  | { readonly kind: 'tip'; readonly tip: ObjectId | null }
  | { readonly kind: 'plan'; readonly plan: Omit<FetchPlan, 'objects'>; readonly pack: number | null }
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
  readonly answer: GitAnswer
}
