import { Zip, ZipDeflate } from 'fflate'
import { fileMode, type SkillFile } from './skill.ts'

/** Bytes deflated at once: some 3 ms. */
const DEFLATE_STEP = 65_536

/** Writes a zip in pieces; `take` gives the finished ones. The same files give the same bytes: no time and no machine stands in it. */
export function createZipWriter() {
  let ready: Uint8Array[] = []
  const zip = new Zip((error, piece) => {
    if (error) throw error
    ready.push(piece)
  })
  const open = (filename: string, mode = 0): ZipDeflate => {
    const entry = new ZipDeflate(filename, { level: 6 })
    // The first moment a zip can name. It is read by the local calendar, so it is made by the local calendar.
    entry.mtime = new Date(1980, 0, 1)
    entry.os = 3
    entry.attrs = (0o100644 | mode) << 16
    zip.add(entry)
    return entry
  }
  return {
    /** Adds a file in parts. */
    open,
    /** Adds a whole file in steps of a few milliseconds each. */
    *add(file: SkillFile): Generator<void> {
      const { filename, bytes } = file
      const entry = open(filename, fileMode(file))
      for (let at = 0; at === 0 || at < bytes.length; at += DEFLATE_STEP) {
        entry.push(bytes.subarray(at, at + DEFLATE_STEP), at + DEFLATE_STEP >= bytes.length)
        yield
      }
    },
    end: () => zip.end(),
    take() {
      const taken = ready
      ready = []
      return taken
    },
  }
}
