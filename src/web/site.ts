import type { ENGLISH } from './strings.ts'

/** What every page knows of the service. */
export interface Site {
  readonly words: typeof ENGLISH
  readonly name: string
  /** Absolute, without a slash at its end. */
  readonly baseUrl: string
  readonly hasMcp: boolean
  /** The address of a static file. */
  url(name: string): string
}
