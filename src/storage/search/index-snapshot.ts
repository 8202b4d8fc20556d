import { existsSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { ANALYSIS } from '../../search/analysis/indexed-text.ts'
import { INDEX_LAYOUT } from '../../search/index/index-parts.ts'
import type { SearchIndex } from '../../search/index/search-index.ts'
import { identifyLibrary } from '../copy/filling.ts'
import type { OpenDatabase } from '../dialects/dialect.ts'
import { prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { ensureIndexEpoch, readIndexEpoch } from './index-epoch.ts'
import { draftSnapshot, openSnapshot, removeSnapshots, removeUnfinished, requireRoom, snapshotPath } from './snapshot-file.ts'

/** Byte order of this machine: the numbers of a snapshot are in the one of its writer. */
const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
const WORDS_A_TURN = 4_000
/** What a killed process left is removed at a start after this. */
const STALE_MS = 3600 * 1000

/** Up to where an index has read the tables. */
export interface ReadPosition {
  /** Revision of the last row of `item_words`. */
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

/** The search index of a library in a file beside it, from which a start reads it in one piece. */
export interface IndexSnapshots {
  /** Fills an empty index. Null, with the index empty, when there is no snapshot of this library as it is now; such a file is removed. */
  load(index: SearchIndex, model: string): Promise<ReadPosition | null>
  /**
   * Writes the index as it is when `bringUpToDate` resolves. False when a deletion for good came in between.
   * @param bringUpToDate lets the index read what was written before, and says how far it got
   * @throws the reason of `signal` when that ends it, and what the file system says
   */
  save(index: SearchIndex, model: string, bringUpToDate: () => Promise<ReadPosition>, signal: AbortSignal): Promise<boolean>
  /** False after a deletion for good, until the next one is written. */
  exists(): boolean
}

const liveWords = prepareQuery((db) =>
  db
    .selectFrom('word')
    .select('seq')
    .where('seq', '>', sql<number>`${slot('after')}`)
    .orderBy('seq')
    .limit(WORDS_A_TURN),
)
const lastRevision = prepareQuery((db) => db.selectFrom('item_words').select((eb) => eb.fn.max('revision').as('last')))

/** The snapshots of a library; null where it is in no file. */
export function indexSnapshots(database: OpenDatabase): IndexSnapshots | null {
  const library = database.file?.path
  if (library === undefined) return null
  return {
    exists: () => existsSync(snapshotPath(library)),
    async load(index, model) {
      try {
        const records = await openSnapshot(library)
        if (!records) return null
        try {
          const head = header.parse(JSON.parse(decode(await records.next())))
          // Of a process with another encoder, for which it is right.
          if (head.model !== model) return null
          if (await isOfNow(database, head)) {
            const load = index.load()
            while (!load.isComplete()) load.take(await records.next())
            if (await records.isAtEnd()) return head
          }
        } finally {
          await records.close()
        }
      } catch (error) {
        index.clear()
        // Not readable now. The tables have all that it holds.
        if (!isDamage(error)) return null
      }
      index.clear()
      removeQuietly(library)
      return null
    },
    async save(index, model, bringUpToDate, signal) {
      removeUnfinished(library)
      await requireRoom(library)
      // First of all: a deletion that is committed from here on removes this file, and one before is seen by what follows.
      const draft = await draftSnapshot(library)
      try {
        const epoch = await ensureIndexEpoch(database)
        const identity = await identifyLibrary(database.reader)
        const position = await bringUpToDate()
        const capture = index.capture()
        try {
          const isLive = await readLiveWords(database.reader, position.lastWord)
          const head: Header = {
            layout: INDEX_LAYOUT,
            analysis: ANALYSIS,
            isLittleEndian: IS_LITTLE_ENDIAN,
            library: identity,
            epoch,
            model,
            ...position,
          }
          await draft.write(Buffer.from(JSON.stringify(head)))
          for (const part of capture.parts((word) => isLive[word] === 1)) {
            await draft.write(part)
            await nextTurn()
            signal.throwIfAborted()
          }
        } finally {
          capture.release()
        }
        return await draft.finish()
      } catch (error) {
        await draft.discard()
        throw error
      }
    },
  }
}

/**
 * Says how far the snapshot of a library goes. Removes one that is not of the library as it is now: its file was replaced by an older one, or
 * somebody deleted for good.
 */
export async function findSnapshot(database: OpenDatabase): Promise<ReadPosition | null> {
  const library = database.file?.path
  if (library === undefined) return null
  try {
    removeUnfinished(library, STALE_MS)
    const records = await openSnapshot(library)
    if (!records) return null
    try {
      const head = header.parse(JSON.parse(decode(await records.next())))
      if (await isOfNow(database, head)) return head
    } finally {
      await records.close()
    }
  } catch (error) {
    if (!isDamage(error)) return null
  }
  removeQuietly(library)
  return null
}

/** Whether a snapshot is of this library, and no newer than it. */
async function isOfNow(database: OpenDatabase, head: Header): Promise<boolean> {
  const { reader, dialect } = database
  if (head.layout !== INDEX_LAYOUT || head.analysis !== ANALYSIS || head.isLittleEndian !== IS_LITTLE_ENDIAN) return false
  if (head.epoch !== (await readIndexEpoch(reader)) || head.library !== (await identifyLibrary(reader))) return false
  const [row] = await lastRevision(reader, {})
  return (
    head.revision <= Number(row?.last ?? 0) &&
    head.lastWord <= (await dialect.readIdentity(reader, 'word')) &&
    head.lastVector <= (await dialect.readIdentity(reader, 'item_vector'))
  )
}

/** 1 for each word that the table has, by its number. The index also knows words that were removed since. */
async function readLiveWords(reader: Kysely<Database>, last: number): Promise<Uint8Array> {
  const isLive = new Uint8Array(last + 1)
  for (let after = 0; ; await nextTurn()) {
    const rows = await liveWords(reader, { after })
    for (const { seq } of rows) if (seq <= last) isLive[seq] = 1
    after = rows.at(-1)?.seq ?? last
    if (rows.length < WORDS_A_TURN || after >= last) return isLive
  }
}

/** Whether a snapshot is at fault, and not what keeps it from being read. */
function isDamage(error: unknown): boolean {
  return error instanceof RangeError || error instanceof SyntaxError || error instanceof z.ZodError
}

/** Where it cannot be removed, it is not read either. */
function removeQuietly(library: string): void {
  try {
    removeSnapshots(library)
  } catch {
    // The folder is read-only.
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
