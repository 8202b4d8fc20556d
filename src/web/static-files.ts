import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Answer, AnswerHeaders, Exchange } from '../exchange.ts'
import { CODINGS, type Coding, chooseCoding, compressFile } from '../http/answers.ts'

/** Two folders below the root, as the sources and the built program both stand. */
const ROOT = new URL('../../', import.meta.url)
/** The scripts of the pages by name; the build makes each from the island of that name. */
export const SCRIPTS = 'site find members prompt passkeys embed embeds editor code-editor collection import'
/** The files of the pages: of a folder below the root and a type, by their names without the ending. */
const FILES: readonly (readonly [folder: string, ending: string, type: string, names: string])[] = [
  ['assets/web', 'woff2', 'font/woff2', 'literata-latin-wght-normal literata-latin-ext-wght-normal'],
  ['assets/web', 'css', 'text/css; charset=utf-8', 'site members writing admin charts connect collection changes embed'],
  ['assets/web', 'svg', 'image/svg+xml', 'favicon'],
  ['dist/web', 'js', 'text/javascript; charset=utf-8', SCRIPTS],
  ['docs', 'png', 'image/png', 'editor versions connect'],
]
const BY_NAME = new Map<string, { readonly folder: string; readonly type: string }>(
  FILES.flatMap(([folder, ending, type, names]) => names.split(' ').map((name) => [`${name}.${ending}`, { folder, type }])),
)
/** Larger files stay on disk, next to compressed copies made by the build. */
export const MAX_HELD_BYTES = 256 * 1024
const ENDINGS: Readonly<Record<Coding, string>> = { br: '.br', gzip: '.gz' }

/** A file the pages refer to. */
interface StaticFile {
  readonly url: string
  readonly type: string
  /** Null for a coding that the file does not come in. */
  read(coding: Coding | null): Promise<Uint8Array<ArrayBuffer> | null>
}

/** Static files under content-hashed addresses, cacheable for ever. Each is read when it is first needed. */
export function readStaticFiles() {
  const files = new Map<string, StaticFile>()

  function find(name: string): StaticFile | null {
    const existing = files.get(name)
    if (existing) return existing
    const { folder, type } = BY_NAME.get(name) ?? {}
    const place = new URL(`${folder}/${name}`, ROOT)
    if (type === undefined || !existsSync(place)) return null
    const isHeld = statSync(place).size <= MAX_HELD_BYTES
    // A sheet names other files by the names they have; in the answer they carry their digests.
    const text =
      isHeld && type.startsWith('text/css')
        ? readFileSync(place, 'utf8').replaceAll(/url\("([^":]+)"\)/g, (_, other: string) => `url("${url(other)}")`)
        : readFileSync(place)
    const body = new Uint8Array(Buffer.from(text))
    const digest = createHash('sha256').update(body).digest('hex').slice(0, 12)
    const file = { url: `/static/${digest}/${name}`, type, read: isHeld ? holdFile(body, type) : fileOnDisk(place) }
    files.set(name, file)
    return file
  }
  /** The address of a file. */
  const url = (name: string) => find(name)?.url ?? `/static/missing/${name}`

  return {
    url,
    /** The file at an address, in the best form that the client takes; null when there is none. */
    async answer({ header, path }: Exchange, asked: string = path): Promise<Answer | null> {
      const file = find(asked.split('/').at(-1) ?? '')
      if (file?.url !== asked) return null
      const headers: AnswerHeaders = { 'content-type': file.type, 'cache-control': 'public, max-age=31536000, immutable' }
      const coding = chooseCoding(header('accept-encoding') ?? null, CODINGS)
      const packed = coding === null ? null : await file.read(coding)
      if (coding !== null && packed) headers['content-encoding'] = coding
      return { status: 200, headers, body: packed ?? (await file.read(null)) }
    },
  }
}

/** A file in memory, compressed on first use of each encoding. */
function holdFile(body: Uint8Array<ArrayBuffer>, type: string): StaticFile['read'] {
  const packed = new Map<Coding, Promise<Uint8Array<ArrayBuffer>>>()
  return async (coding) => {
    if (coding === null) return body
    // Fonts are compressed already.
    if (!type.startsWith('text/')) return null
    const existing = packed.get(coding) ?? compressFile(body, coding)
    packed.set(coding, existing)
    return await existing
  }
}

/** A file that is read for each answer. */
function fileOnDisk(place: URL): StaticFile['read'] {
  return async (coding) => {
    const form = coding === null ? place : new URL(place.href + ENDINGS[coding])
    return existsSync(form) ? new Uint8Array(await readFile(form)) : null
  }
}
