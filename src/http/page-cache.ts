import { createRevisionCaches } from '../cache/answer-cache.ts'
import type { CountUse, UseNote } from '../domain/people/usage.ts'
import type { Answer } from '../exchange.ts'
import { hasKeyHeader } from './guards.ts'
import type { Call } from './route.ts'

/** Pages of lists: everything on them is public for anonymous readers. Pages of one item may be of an unlisted one, and are made each time. */
const CACHED_PATHS = new Set(['/', '/search', '/prompts', '/skills'])
/** Size of the cache in bytes. */
const MAX_BYTES = 4 * 1024 * 1024
/** A query that means the same wherever it is read. Pages of a search are not kept: while the encoder is busy, they miss items. */
const PLAIN_SEARCH = /^(?:\?(?!(?:.*&)?q=)[\w.~!*()+,;:@$/=&%-]*)?$/

/** Whether somebody opens the page, and no script asks for it by itself or ahead of time (Fetch Metadata, `Sec-Fetch-Dest`). */
export function isOpened({ exchange: { header } }: Call): boolean {
  return header('sec-fetch-dest') !== 'empty' && header('sec-purpose') === undefined
}

const encoder = new TextEncoder()

/** A page as it is sent. */
export function encodePage(html: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(`<!doctype html>${html}`)
}

/** Pages that are the same for every anonymous reader, cached until somebody writes to the library. */
export type PageCache = ReturnType<typeof createPageCache>

/**
 * @param headers of a page of a list
 * @param languageOf the language of an answer: one of a fixed few, whatever was sent
 * @param count counts the uses of anonymous readers of pages
 */
export function createPageCache<Language extends string>(
  readRevision: () => Promise<number>,
  headers: (language: Language) => Record<string, string>,
  languageOf: (call: Call) => Language,
  count: CountUse,
) {
  const caches = createRevisionCaches(readRevision)
  const pages = caches.create<{ readonly body: Uint8Array<ArrayBuffer>; readonly uses: readonly UseNote[] }>('pages', MAX_BYTES)
  const isCacheable = ({ exchange, actor }: Call) => {
    const { method, path, search, header } = exchange
    return (
      // A proxy signs people in without a cookie.
      actor.kind === 'anonymous' &&
      method === 'GET' &&
      CACHED_PATHS.has(path) &&
      PLAIN_SEARCH.test(search) &&
      header('cookie') === undefined &&
      !hasKeyHeader(exchange) &&
      header('accept')?.includes('text/html') === true
    )
  }
  const keyOf = ({ exchange: { path, search } }: Call, language: Language) => `${language} ${path}${search}`
  return {
    /** The cached page; null when there is none, or the request is not for one. */
    find(call: Call): Promise<Answer | null> | null {
      if (!isCacheable(call)) return null
      const language = languageOf(call)
      return caches.refresh().then(() => {
        const page = pages.get(keyOf(call, language))
        if (!page) return null
        if (isOpened(call)) for (const use of page.uses) count(...use)
        return { status: 200, headers: headers(language), body: page.body }
      })
    },
    /**
     * Makes the page and encodes it, and caches it when every anonymous reader gets the same. Null from `make`: no page.
     * @param uses what the page counted once it is made: it counts again for each reader who gets it from the cache
     */
    async show(call: Call, make: () => Promise<string | null>, uses: () => readonly UseNote[]) {
      const revision = isCacheable(call) ? await caches.refresh() : null
      const html = await make()
      if (html === null) return null
      const body = encodePage(html)
      if (revision !== null) pages.put(revision, keyOf(call, languageOf(call)), { body, uses: uses() }, body.length)
      return body
    },
  }
}
