import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { Kysely } from 'kysely'
import { z } from 'zod'
import { ANALYSIS } from '../../search/analysis/indexed-text.ts'
import { INDEX_LAYOUT } from '../../search/index/index-parts.ts'
import type { SearchIndex } from '../../search/index/search-index.ts'
import { readRevision } from '../change-log.ts'
import { identifyLibrary } from '../copy/copy-library.ts'
import type { OpenDatabase } from '../dialects/dialect.ts'
import type { SnapshotDraft, SnapshotFile, SnapshotSource } from '../dialects/snapshot-file.ts'
import { addValue, readValue } from '../kept-values.ts'
import type { Database } from '../schema.ts'

const MAGIC = 'Commonplace search index 1\n'
/** Before each record: its length, and the checksum of everything up to its end. */
const RECORD_HEAD = 8
/** No record is larger: a larger length is damage. */
const MAX_RECORD = 64 * 2 ** 20

/** Writes records, the first one with what makes a snapshot known. */
function writeRecords(draft: SnapshotDraft): (record: Uint8Array) => Promise<void> {
  let checksum = 0
  return async (record) => {
    const magic = Buffer.from(checksum === 0 ? MAGIC : '', 'latin1')
    const head = Buffer.alloc(RECORD_HEAD)
    head.writeUInt32LE(record.length, 0)
    checksum = crc32(record, crc32(head.subarray(0, 4), crc32(magic, checksum)))
    head.writeUInt32LE(checksum, 4)
    await draft.write(Buffer.concat([magic, head]))
    await draft.write(record)
  }
}

/** Reads the records of a snapshot, in their order; each is valid until the next. @throws RangeError when one is damaged or cut off */
function readRecords(source: SnapshotSource): () => Promise<Uint8Array> {
  const fault = () => new RangeError('The snapshot is damaged.')
  let checksum = 0
  return async () => {
    if (checksum === 0) {
      if ((await source.read(MAGIC.length)).toString('latin1') !== MAGIC) throw fault()
      checksum = crc32(MAGIC)
    }
    const head = Buffer.from(await source.read(RECORD_HEAD))
    const length = head.readUInt32LE(0)
    if (length > MAX_RECORD) throw fault()
    const record = await source.read(length)
    checksum = crc32(record, crc32(head.subarray(0, 4), checksum))
    if (checksum !== head.readUInt32LE(4)) throw fault()
    return record
  }
}

/** Byte order of this machine: the numbers of a snapshot are in the one of its writer. */
const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
const WORDS_A_TURN = 4_000

/** Up to where an index has read the tables. */
export interface ReadPosition {
  /** Number of the last change. */
  readonly revision: number
  readonly lastWord: number
  readonly lastVector: number
}

const header = z.object({
  layout: z.number(),
  analysis: z.number(),
  isLittleEndian: z.boolean(),
  library: z.string(),
  epoch: z.string(),
  /** Of the encoder; empty without one. */
  model: z.string(),
  revision: z.number(),
  lastWord: z.number(),
  lastVector: z.number(),
})
type Header = z.infer<typeof header>

/** The search index of a library as bytes beside it, from which a start reads it in one piece. */
export type IndexSnapshots = ReturnType<typeof indexSnapshots>

/** The snapshots of a library in a file. */
export function indexSnapshots(database: OpenDatabase, file: SnapshotFile) {
  const { reader, transact } = database
  /** Runs `work` after the header; `refused` without it when the snapshot is not of the library as it is now. Null: no snapshot, or not readable now. */
  const read = async <T>(
    work: (head: Header, next: () => Promise<Uint8Array>, source: SnapshotSource) => Promise<T | 'refused'>,
  ): Promise<T | null> => {
    try {
      const result = await file.read(async (source) => {
        const next = readRecords(source)
        const head = header.parse(JSON.parse(decode(await next())))
        return (await isOfNow(database, head)) ? await work(head, next, source) : 'refused'
      })
      if (result !== 'refused') return result
    } catch (error) {
      // The tables have all that it holds.
      if (!isDamage(error)) return null
    }
    // Where it cannot be removed, it is not read either.
    await file.remove().catch(() => {})
    return null
  }
  return {
    /** How far the snapshot goes, whoever wrote it, and for which encoder; null when there is none of this library as it is now. */
    find: async (): Promise<(ReadPosition & { readonly model: string }) | null> => await read(async (head) => head),
    /** Fills an empty index. Null, with the index empty, when there is no snapshot of this library as it is now; such a one is removed. */
    async load(index: SearchIndex, model: string): Promise<ReadPosition | null> {
      const position = await read(async (head, next, source) => {
        // Of a process with another encoder, for which it is right.
        if (head.model !== model) return null
        const load = index.load()
        while (!load.isComplete()) load.take(await next())
        return (await source.isAtEnd()) ? head : 'refused'
      })
      if (position === null) index.clear()
      return position
    },
    /**
     * Writes the index as it is when `bringUpToDate` resolves. False when a deletion for good came in between.
     * @param bringUpToDate lets the index read what was written before, and says how far it got
     * @throws the reason of `signal` when that ends it, and what the engine or the file system says
     */
    async save(index: SearchIndex, model: string, bringUpToDate: () => Promise<ReadPosition>, signal: AbortSignal): Promise<boolean> {
      const epoch =
        (await readValue(reader, 'search_epoch')) ?? (await transact((db) => addValue(db, 'search_epoch', randomBytes(16).toString('hex'))))
      const library = await identifyLibrary(reader)
      // Before the tables are read: a deletion that is committed from here on removes this draft, and one before is seen by what follows.
      const draft = await file.draft()
      let isKept = false
      try {
        if ((await readValue(reader, 'search_epoch')) !== epoch) return false
        const position = await bringUpToDate()
        const capture = index.capture()
        try {
          const isLive = await readLiveWords(reader, position.lastWord)
          const head: Header = {
            layout: INDEX_LAYOUT,
            analysis: ANALYSIS,
            isLittleEndian: IS_LITTLE_ENDIAN,
            library,
            epoch,
            model,
            ...position,
          }
          const write = writeRecords(draft)
          await write(Buffer.from(JSON.stringify(head)))
          for (const part of capture.parts((word) => isLive[word] === 1)) {
            await write(part)
            await nextTurn()
            signal.throwIfAborted()
          }
        } finally {
          capture.release()
        }
        isKept = await draft.finish()
        return isKept
      } finally {
        if (!isKept) await draft.discard()
      }
    },
  }
}

/** Whether a snapshot is of this library, and no newer than it. */
async function isOfNow(database: OpenDatabase, head: Header): Promise<boolean> {
  const { reader, dialect } = database
  if (head.layout !== INDEX_LAYOUT || head.analysis !== ANALYSIS || head.isLittleEndian !== IS_LITTLE_ENDIAN) return false
  if (head.epoch !== (await readValue(reader, 'search_epoch')) || head.library !== (await identifyLibrary(reader))) return false
  return (
    head.revision <= (await readRevision(reader, 'library')) &&
    head.lastWord <= (await dialect.readIdentity(reader, 'word')) &&
    head.lastVector <= (await dialect.readIdentity(reader, 'item_vector'))
  )
}

/** 1 for each word that the table has, by its number. The index also knows words that were removed since. */
async function readLiveWords(reader: Kysely<Database>, last: number): Promise<Uint8Array> {
  const isLive = new Uint8Array(last + 1)
  for (let after = 0; ; await nextTurn()) {
    const rows = await reader.selectFrom('word').select('seq').where('seq', '>', after).orderBy('seq').limit(WORDS_A_TURN).execute()
    for (const { seq } of rows) if (seq <= last) isLive[seq] = 1
    after = rows.at(-1)?.seq ?? last
    if (rows.length < WORDS_A_TURN || after >= last) return isLive
  }
}

/** Whether a snapshot is at fault, and not what keeps it from being read. */
function isDamage(error: unknown): boolean {
  return error instanceof RangeError || error instanceof SyntaxError || error instanceof z.ZodError
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
