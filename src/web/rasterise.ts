import { fileURLToPath } from 'node:url'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { createTally } from '../domain/service/running-work.ts'
import { AppError } from '../errors.ts'
import { ERROR_WORDS } from './strings/messages.ts'

/** Two folders below the root, as the sources and the built program both stand. */
const ASSETS = new URL('../../assets/web/', import.meta.url)
/** The book face as the rasteriser reads it, which knows no WOFF; for other scripts it takes the fonts of the system. */
const FONTS = ['literata-latin-wght-normal.ttf', 'literata-latin-ext-wght-normal.ttf']
/** Cached pictures, some 80 KB each. */
const MAX_CACHED = 100
/** Pictures that wait for their turn, of one caller and of all. Each takes about a tenth of a second. */
const MAX_WAITING_EACH = 4
const MAX_WAITING = 16

type Png = Uint8Array<ArrayBuffer>

/** Makes PNGs of cards. The rasteriser is loaded with the first picture, and is the only part of the program with a binary: without it, all else works. */
export function createRasteriser(render: (svg: string) => Promise<Png> = renderPng) {
  const limit = pLimit(1)
  const waitingEach = createTally()
  /** @throws AppError at once, when too many wait */
  const inTurn = (caller: string, work: () => Promise<Png>): Promise<Png> => {
    if (limit.activeCount === 0) return limit(work)
    if (waitingEach.of(caller) >= MAX_WAITING_EACH) {
      throw new AppError('rate_limited', ERROR_WORDS.tooManyPicturesOfYours(MAX_WAITING_EACH), {
        retryAfterSeconds: 1,
      })
    }
    if (limit.pendingCount >= MAX_WAITING) {
      throw new AppError('unavailable', ERROR_WORDS.tooManyPictures, { retryAfterSeconds: 2 })
    }
    const begin = waitingEach.add(caller)
    return limit(() => {
      begin()
      return work()
    })
  }
  const cache = new LRUCache<string, Png, { readonly svg: string; readonly caller: string }>({
    max: MAX_CACHED,
    fetchMethod: (_key, _stale, { context: { svg, caller } }) => inTurn(caller, () => render(svg)),
    // What others push out while it is made is still given to those who asked for it.
    ignoreFetchAbort: true,
    allowStaleOnFetchAbort: true,
  })
  return {
    /**
     * One picture is made at a time, so that the pool of threads, which hashes passwords too, has others free.
     * @param key the same for the same picture, which is then made once
     * @param caller whom the request is counted for
     * @throws AppError `rate_limited` when too many of the caller's pictures wait, `unavailable` when too many of all do, or the rasteriser is not installed
     */
    toPng: async (svg: string, key: string, caller: string): Promise<Png> => await cache.forceFetch(key, { context: { svg, caller } }),
  }
}

/** @throws AppError `unavailable` where the rasteriser is not installed */
async function renderPng(svg: string): Promise<Png> {
  const { renderAsync } = await import('@resvg/resvg-js').catch((cause: unknown) => {
    throw new AppError('unavailable', ERROR_WORDS.noPng, { cause })
  })
  const font = {
    loadSystemFonts: true,
    fontFiles: FONTS.map((name) => fileURLToPath(new URL(name, ASSETS))),
    defaultFontFamily: 'Literata',
  }
  return new Uint8Array((await renderAsync(svg, { font })).asPng())
}
