import { LRUCache } from 'lru-cache'
import type { CacheUse } from '../domain/service/service.ts'
import { escapeControlsInJson } from '../domain/text/characters.ts'

/** A bounded cache by key; the least recently used entries go first. */
interface RevisionCache<T extends object | string | number> {
  get(key: string): T | undefined
  /** Caches a value read since {@link RevisionCaches.refresh} gave `revision`; a value of an older revision is ignored. */
  put(revision: number, key: string, value: T, size?: number): void
}

/** Caches of one revision of the library. */
export type RevisionCaches = ReturnType<typeof createRevisionCaches>

/** @param readRevision gives another number whenever a cached answer could have changed, in this process or in another */
export function createRevisionCaches(readRevision: () => Promise<number>) {
  let current: number | null = null
  const caches: { clear(): void }[] = []
  const uses: { readonly name: string; hits: number; misses: number }[] = []
  return {
    /** Reads the revision and clears every cache when it has changed. Call it before each use. */
    async refresh(): Promise<number> {
      const revision = await readRevision()
      if (revision !== current) {
        current = revision
        for (const cache of caches) cache.clear()
      }
      return revision
    },
    /** @param maxSize largest sum of the sizes that entries are put with */
    create<T extends object | string | number>(name: string, maxSize: number): RevisionCache<T> {
      const cache = new LRUCache<string, T>({ maxSize })
      const use = { name, hits: 0, misses: 0 }
      caches.push(cache)
      uses.push(use)
      return {
        get(key) {
          const value = cache.get(key)
          if (value === undefined) use.misses++
          else use.hits++
          return value
        },
        put(revision, key, value, size = 1) {
          if (revision === current) cache.set(key, value, { size })
        },
      }
    },
    /** Hits and misses since the start, by cache. */
    readUse: (): readonly CacheUse[] => uses.map((use) => ({ ...use })),
  }
}

/** The forms of a shared record, made when they are first needed: the bytes of its JSON, and of that within a text of JSON. */
interface Made {
  bytes: Uint8Array | null
  quoted: Uint8Array | null
}

const shared = new WeakMap<object, Made>()
/** Records that are a shared one with further fields. */
const extensions = new WeakMap<object, { readonly record: object; readonly fields: object }>()
const encoder = new TextEncoder()

/** Marks a record that many answers will hold as it is: it never changes any more, and its JSON is made once. */
export function shareRecord<T extends object>(record: T): T {
  if (!shared.has(record)) shared.set(Object.freeze(record), { bytes: null, quoted: null })
  return record
}

/** Derives a shared record from a shared one and its context, once; from any other record a plain one each time. */
export function shareOnce<From extends object, Around, To extends object>(
  make: (from: From, around: Around) => To,
): (from: From, around: Around) => To {
  const made = new WeakMap<From, { readonly byText: Map<Around, To>; readonly byObject: WeakMap<object, To> }>()
  return (from, around) => {
    if (!shared.has(from)) return make(from, around)
    const ofFrom = made.get(from) ?? { byText: new Map<Around, To>(), byObject: new WeakMap<object, To>() }
    // A record must not keep alive what a cache let go of.
    const cached = isObject(around) ? ofFrom.byObject.get(around) : ofFrom.byText.get(around)
    if (cached) return cached
    const record = shareRecord(make(from, around))
    if (isObject(around)) ofFrom.byObject.set(around, record)
    else ofFrom.byText.set(around, record)
    made.set(from, ofFrom)
    return record
  }
}

/** A record with further fields. Of a shared one, only these are made into JSON anew. @param fields at least one, none of them in the record */
export function extendRecord<T extends object, Fields extends object>(record: T, fields: Fields): T & Fields {
  const extended = { ...record, ...fields }
  if (shared.has(record) && Object.keys(record).length > 0) extensions.set(extended, { record, fields })
  return extended
}

/** The length of a record's JSON in bytes. */
export function jsonLength(record: object): number {
  const made = shared.get(record)
  return made ? toBytes(record, made).length : encoder.encode(JSON.stringify(record)).length
}

/** An answer as JSON in UTF-8, as `JSON.stringify` gives it, in one piece or several. */
export function toJsonBytes(answer: Record<string, unknown>): Uint8Array[] {
  const made = shared.get(answer)
  if (made) return [toBytes(answer, made)]
  return hasShared(answer) ? assemble(answer, toBytes, encode) : [encode(JSON.stringify(answer))]
}

/**
 * An answer as JSON inside a JSON string, as two calls of `JSON.stringify` give it, without the outer quotes. Control characters are
 * escaped in the inner JSON, for models.
 */
export function toQuotedBytes(answer: Record<string, unknown>): Uint8Array[] {
  const made = shared.get(answer)
  if (made) return [toQuoted(answer, made)]
  return hasShared(answer) ? assemble(answer, toQuoted, encodeQuoted) : [encodeQuoted(JSON.stringify(answer))]
}

/** Pieces of bytes, and texts between them, as one. */
export function joinBytes(pieces: readonly (Uint8Array | string)[]): Uint8Array {
  const [only] = pieces
  if (pieces.length === 1 && typeof only === 'object') return only
  const encoded = pieces.map((piece) => (typeof piece === 'string' ? encode(piece) : piece))
  const joined = new Uint8Array(encoded.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of encoded) {
    joined.set(piece, at)
    at += piece.length
  }
  return joined
}

/** Whether a list of shared records is in it, which is where the records are. */
function hasShared(answer: Record<string, unknown>): boolean {
  for (const name in answer) {
    const value = answer[name]
    if (Array.isArray(value) && isObject(value[0]) && (shared.has(value[0]) || extensions.has(value[0]))) return true
  }
  return false
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Puts an answer together from the bytes of its records and of what is around them. */
function assemble(
  answer: Record<string, unknown>,
  ofRecord: (record: object, made: Made) => Uint8Array,
  ofText: (json: string) => Uint8Array,
): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let around = '{'
  let isFirst = true
  for (const [name, value] of Object.entries(answer)) {
    if (value === undefined) continue
    around += `${isFirst ? '' : ','}${JSON.stringify(name)}:`
    isFirst = false
    if (!Array.isArray(value)) {
      around += JSON.stringify(value)
      continue
    }
    around += '['
    for (const [place, record] of value.entries()) {
      if (place > 0) around += ','
      const extended = isObject(record) ? extensions.get(record) : undefined
      const base = extended?.record ?? record
      const made = isObject(base) ? shared.get(base) : undefined
      if (!made) {
        around += JSON.stringify(record) ?? 'null'
        continue
      }
      const bytes = ofRecord(base, made)
      // Without its closing brace, after which further fields go on.
      pieces.push(ofText(around), extended ? bytes.subarray(0, -1) : bytes)
      around = extended ? `,${JSON.stringify(extended.fields).slice(1)}` : ''
    }
    around += ']'
  }
  pieces.push(ofText(`${around}}`))
  return pieces
}

function encode(json: string): Uint8Array {
  return encoder.encode(json)
}

function encodeQuoted(json: string): Uint8Array {
  return encoder.encode(JSON.stringify(escapeControlsInJson(json)).slice(1, -1))
}

function toBytes(record: object, made: Made): Uint8Array {
  made.bytes ??= encode(JSON.stringify(record))
  return made.bytes
}

function toQuoted(record: object, made: Made): Uint8Array {
  made.quoted ??= encodeQuoted(JSON.stringify(record))
  return made.quoted
}
