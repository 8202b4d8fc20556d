import type { ENGLISH } from './strings.ts'

/** The texts of the pages, in one language. */
export type Words = typeof ENGLISH

/** What every page knows of the service. */
export interface Site {
  readonly words: Words
  readonly name: string
  /** Absolute, without a slash at its end. */
  readonly baseUrl: string
  readonly hasMcp: boolean
  /** Path and query of the page itself. */
  readonly path: string
  /** Who is signed in. */
  readonly reader: { readonly username: string; readonly isAdmin: boolean } | null
  /** The look the reader chose; null follows their system. */
  readonly theme: 'light' | 'dark' | null
  /** The address of a static file. */
  url(name: string): string
}
