import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'

/** Two folders below the root, as the sources and the built program both stand. */
const ROOT = new URL('../../', import.meta.url)
const FILES: readonly (readonly [name: string, path: string, type: string])[] = [
  ['literata-latin-wght-normal.woff2', 'assets/web/literata-latin-wght-normal.woff2', 'font/woff2'],
  ['literata-latin-ext-wght-normal.woff2', 'assets/web/literata-latin-ext-wght-normal.woff2', 'font/woff2'],
  ['site.css', 'assets/web/site.css', 'text/css; charset=utf-8'],
  ['site.js', 'dist/web/site.js', 'text/javascript; charset=utf-8'],
]

/** A file the pages refer to. */
interface StaticFile {
  readonly body: Uint8Array<ArrayBuffer>
  readonly type: string
}

/** The files of the pages, by an address that changes with their content, so that they may be kept for ever. */
export interface StaticFiles {
  /** The address of a file. */
  url(name: string): string
  find(path: string): StaticFile | null
}

/** Reads the files once. */
export function readStaticFiles(): StaticFiles {
  const files = new Map<string, StaticFile>()
  const urls = new Map<string, string>()
  for (const [name, path, type] of FILES) {
    const file = new URL(path, ROOT)
    if (!existsSync(file)) continue
    // A sheet names other files by the names they have; in the answer they carry their digests.
    const text = type.startsWith('text/css')
      ? [...urls].reduce((css, [other, url]) => css.replaceAll(`"${other}"`, `"${url}"`), readFileSync(file, 'utf8'))
      : readFileSync(file)
    const body = new Uint8Array(Buffer.from(text))
    const digest = createHash('sha256').update(body).digest('hex').slice(0, 12)
    const url = `/static/${digest}/${name}`
    urls.set(name, url)
    files.set(url, { body, type })
  }
  return { url: (name) => urls.get(name) ?? `/static/missing/${name}`, find: (path) => files.get(path) ?? null }
}
