import { fileURLToPath } from 'node:url'
import { AppError } from '../errors.ts'

/** Two folders below the root, as the sources and the built program both stand. */
const ASSETS = new URL('../../assets/web/', import.meta.url)
/** The book face as the rasteriser reads it, which knows no WOFF; for other scripts it takes the fonts of the system. */
const FONTS = ['literata-latin-wght-normal.ttf', 'literata-latin-ext-wght-normal.ttf']
/** Pictures kept, some 80 KB each. */
const MAX_KEPT = 100
/** Pictures being made and waiting; each takes a thread of the pool for about a tenth of a second. */
const MAX_WAITING = 16

/** Makes PNGs of cards. */
export interface Rasteriser {
  /** @throws AppError `unavailable` where the rasteriser is not installed, or has too much to do */
  toPng(svg: string, key: string): Promise<Uint8Array<ArrayBuffer>>
}

/** The rasteriser is loaded with the first picture, and is the only part of the program with a binary: without it, all else works. */
export function createRasteriser(): Rasteriser {
  const kept = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()
  let running = 0
  const make = async (svg: string) => {
    if (running >= MAX_WAITING) throw new AppError('unavailable', 'Too many pictures are being made; try again in a moment.')
    running++
    try {
      const { renderAsync } = await import('@resvg/resvg-js').catch((cause: unknown) => {
        throw new AppError('unavailable', 'Pictures as PNG are not installed here; take the one as SVG.', { cause })
      })
      const font = {
        loadSystemFonts: true,
        fontFiles: FONTS.map((name) => fileURLToPath(new URL(name, ASSETS))),
        defaultFontFamily: 'Literata',
      }
      return new Uint8Array((await renderAsync(svg, { font })).asPng())
    } finally {
      running--
    }
  }
  return {
    async toPng(svg, key) {
      const known = kept.get(key)
      if (known) return await known
      const made = make(svg)
      kept.set(key, made)
      const oldest = kept.keys().next().value
      if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
      made.catch(() => kept.delete(key))
      return await made
    },
  }
}
