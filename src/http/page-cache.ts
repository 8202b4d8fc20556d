import type { Context } from 'hono'
import { KEY_HEADERS } from '../auth/authenticate.ts'
import { createPublicReads } from '../library/public-reads.ts'
import type { LeanHandler } from './lean-lane.ts'
import { type HttpEnv, PLAIN_SEARCH } from './rest.ts'

/** Pages of lists: what is on them is public for who is not signed in. Pages of one item may be of an unlisted one, and are made each time. */
const KEPT_PATHS = new Set(['/', '/prompts', '/skills'])
/** How much of them is kept, in bytes. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024

/** Pages that are the same for everybody who is not signed in, as long as nobody writes to the library. */
export interface KeptPages {
  /** The page as it is kept; else made, and kept where it may be. */
  show(c: Context<HttpEnv>, make: () => Promise<string>): Promise<string | Uint8Array<ArrayBuffer>>
  /** Answers with what is kept; everything else is for the full lane. */
  readonly lean: LeanHandler
}

/** @param describe the headers a page of lists is answered with, by names in lower case */
export function createKeptPages(readVersion: () => Promise<number>, describe: () => Record<string, string>): KeptPages {
  const reads = createPublicReads(readVersion)
  const pages = reads.keep<Uint8Array<ArrayBuffer>>(MAX_KEPT_BYTES)
  return {
    async show(c, make) {
      const { search } = new URL(c.req.url)
      const { cookies } = c.get('client')
      if (!KEPT_PATHS.has(c.req.path) || c.get('actor').kind !== 'anonymous' || cookies !== '' || !PLAIN_SEARCH.test(search))
        return await make()
      const state = await reads.refresh()
      const known = pages.get(c.req.path + search)
      if (known) return known
      const html = await make()
      const bytes = new TextEncoder().encode(`<!doctype html>${html}`)
      pages.put(state, c.req.path + search, bytes, bytes.length)
      return html
    },
    lean: {
      accept({ method, path, search, headers }) {
        if (method !== 'GET' || !KEPT_PATHS.has(path) || !PLAIN_SEARCH.test(search) || headers.has('cookie')) return null
        if (!headers.get('accept')?.includes('text/html') || KEY_HEADERS.some((name) => headers.has(name.toLowerCase()))) return null
        return reads.refresh().then(() => {
          const body = pages.get(path + search)
          return body ? async () => ({ status: 200, headers: describe(), body }) : null
        })
      },
      refuse: () => null,
    },
  }
}
