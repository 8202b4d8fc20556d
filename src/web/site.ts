import type { ENGLISH } from './strings/index.ts'

/** The texts of the pages, in one language. */
export type Words = typeof ENGLISH

/** Settings of the service that pages use. */
export interface PageSettings {
  readonly name: string
  /** Absolute, without a slash at its end. */
  readonly baseUrl: string
  readonly hasMcp: boolean
  /** Whether programs can sign in. */
  readonly hasOAuth: boolean
  /** Whether the library is for members alone: nothing is read without an account or a key. */
  readonly isForMembers: boolean
  /** Whether such a library still shows everybody single public items. */
  readonly hasPublicItems: boolean
}

/** Service data available to every page. */
export interface Site extends PageSettings {
  readonly words: Words
  /** Path and query of the page itself. */
  readonly path: string
  /** The signed-in user. */
  readonly reader: { readonly username: string; readonly isAdmin: boolean } | null
  /** The chosen theme; null follows the system. */
  readonly theme: 'light' | 'dark' | null
  /** The address of a static file. */
  url(name: string): string
}

/** The text of a key that may not be among them, such as one from an address. */
export function textOf(texts: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(texts, key) ? texts[key] : undefined
}
