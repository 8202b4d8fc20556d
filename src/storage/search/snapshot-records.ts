import { crc32 } from 'node:zlib'
import type { SnapshotDraft, SnapshotSource } from '../dialects/snapshot-file.ts'

const MAGIC = 'Commonplace search index 1\n'
/** Before each record: its length, and the checksum of everything up to its end. */
const RECORD_HEAD = 8
/** No record is larger: a larger length is damage. */
const MAX_RECORD = 64 * 2 ** 20

/** Writes records, the first one with what makes a snapshot known. */
export function writeRecords(draft: SnapshotDraft): (record: Uint8Array) => Promise<void> {
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
export function readRecords(source: SnapshotSource): () => Promise<Uint8Array> {
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
