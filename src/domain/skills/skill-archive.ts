import { crc32, inflateRawSync } from 'node:zlib'
import { Zip, ZipDeflate } from 'fflate'
import { AppError } from '../../errors.ts'
import { filenameFault, holdsPrivateKey, isLeftOutName, isSecretName, isSystemName, normalizeFilename } from './filename.ts'
import {
  checkSkillFiles,
  fileMode,
  MAX_FILE_BYTES,
  MAX_SKILL_BYTES,
  MAX_SKILL_FILES,
  type SkillFile,
  shorten,
  toFileMode,
} from './skill.ts'

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

/** Largest archive, in bytes: the largest skill uncompressed, plus archive headers. */
export const MAX_ARCHIVE_BYTES = MAX_SKILL_BYTES + 1024 * 1024

/** Entries looked at: the files of a skill, folders, and what is left out. */
const MAX_ENTRIES = 20_000
/** Names that are looked at without a break. */
const NAMES_A_STEP = 500
const UTF8_NAME = 0x800
/** Longest name of an entry, in bytes: more than any file of a skill may have. */
const MAX_NAME_BYTES = 512
const IS_ENCRYPTED = 0x41
const SYMBOLIC_LINK = 0xa000
const SPECIAL_TYPES = new Set([SYMBOLIC_LINK, 0x1000, 0x2000, 0x6000, 0xc000])
/** Makers of archives whose file modes are Unix's (APPNOTE 4.4.2). */
const UNIX_MAKERS = new Set([3, 19])

/** A file of an archive that was not read, and why, as the end of a sentence. */
export interface LeftOutFile {
  readonly filename: string
  readonly reason: string
}

/** The files of an archive, those left out, and those that cannot be read where this does not refuse the archive. */
export interface ReadArchive {
  readonly files: readonly SkillFile[]
  readonly skipped: readonly LeftOutFile[]
  readonly refused: readonly LeftOutFile[]
}

interface Entry {
  readonly name: string
  readonly nameFault: string | null
  readonly isFolder: boolean
  readonly isSpecial: boolean
  readonly mode: number | null
  readonly isEncrypted: boolean
  readonly method: number
  readonly crc: number
  readonly packedBytes: number
  readonly bytes: number
  readonly offset: number
}

/**
 * Reads the files of a skill from a zip, in steps of one file each: a few dozen milliseconds at most, so that who reads it may do other
 * things between. Limits are enforced while inflating; sizes in headers are never trusted. One enclosing folder is
 * removed; secrets, tool folders and files an operating system adds are left out and listed.
 * @throws AppError `invalid_input` (not a zip, damaged, encrypted, links, bad or clashing names, no SKILL.md), `too_large`
 */
export function* readSkillArchiveInSteps(archive: Uint8Array): Generator<void, ReadArchive> {
  const read = yield* readZipInSteps(archive, OF_A_SKILL)
  checkSkillFiles(read.files)
  return read
}

/** The limits of an archive. */
export interface ZipLimits {
  readonly maxFiles: number
  /** Of all files together, inflated. */
  readonly maxBytes: number
  /** The subject of the limits, as the end of a sentence. */
  readonly of: string
  /** Whether the one folder that everything is in is left out of the names. */
  readonly removesTopFolder: boolean
  /** Whether a file that cannot be read is one of `refused`, and a link left out. Default: either refuses the archive */
  readonly goesOn?: boolean
}

const OF_A_SKILL: ZipLimits = { maxFiles: MAX_SKILL_FILES, maxBytes: MAX_SKILL_BYTES, of: 'a skill', removesTopFolder: true }

/**
 * Reads the files of a zip as {@link readSkillArchiveInSteps} does. Each file has the limit of a skill's.
 * @throws AppError `invalid_input`, `too_large`
 */
export function* readZipInSteps(archive: Uint8Array, limits: ZipLimits): Generator<void, ReadArchive> {
  if (archive.length > MAX_ARCHIVE_BYTES)
    throw new AppError('too_large', `The archive has ${archive.length} bytes; the limit is ${MAX_ARCHIVE_BYTES} (9 MiB).`)
  const skipped: { filename: string; reason: string }[] = []
  const entries: Entry[] = []
  const reported = new Set<string>()
  for (const [index, entry] of readEntries(archive).entries()) {
    if (index % NAMES_A_STEP === 0) yield
    const reason = leftOutReason(entry.name)
    // A skipped folder is reported once, not file by file.
    if (reason !== null && !reported.has(reason.filename)) {
      reported.add(reason.filename)
      skipped.push(reason)
    }
    if (reason === null && !entry.isFolder) entries.push(entry)
  }
  const top = limits.removesTopFolder ? findTopFolder(entries.map((entry) => entry.name)) : ''
  if (entries.length > limits.maxFiles)
    throw new AppError('too_large', `The archive has ${entries.length} files; the limit for ${limits.of} is ${limits.maxFiles}.`)
  const files: SkillFile[] = []
  const refused: LeftOutFile[] = []
  let left = limits.maxBytes
  for (const entry of entries) {
    const filename = normalizeFilename(entry.name.slice(top.length))
    let bytes: Uint8Array
    try {
      const fault = entry.nameFault ?? filenameFault(filename)
      if (fault) throw new AppError('invalid_input', `The name "${shorten(entry.name)}" in the archive ${fault}.`)
      bytes = readEntry(archive, entry, filename)
    } catch (error) {
      if (!limits.goesOn || !(error instanceof AppError)) throw error
      if (entry.isSpecial) skipped.push({ filename, reason: 'is a link or a device, and only regular files are read' })
      else refused.push({ filename, reason: error.message.replace(/\.$/, '') })
      // It may have been inflated up to its limit.
      left -= Math.min(entry.bytes, MAX_FILE_BYTES)
      yield
      continue
    }
    left -= bytes.length
    if (left < 0) {
      const most = `${limits.maxBytes} bytes (${limits.maxBytes / 1024 / 1024} MiB)`
      throw new AppError('too_large', `The files in the archive exceed ${most} in total, the limit for ${limits.of}.`)
    }
    const name = filename.split('/').at(-1) ?? filename
    if (holdsPrivateKey(name, bytes)) skipped.push({ filename, reason: 'contains a private key' })
    else files.push({ filename, bytes, mode: entry.mode })
    yield
  }
  return { files, skipped, refused }
}

/** The first part of a path that is left out, and why; null when nothing is. */
export function leftOutReason(name: string): { filename: string; reason: string } | null {
  const parts = name.split('/')
  for (const [index, part] of parts.entries()) {
    const reason = isSystemName(part)
      ? 'belongs to the operating system'
      : isLeftOutName(part)
        ? 'is never imported'
        : index === parts.length - 1 && isSecretName(part)
          ? 'may contain a secret'
          : null
    if (reason !== null) return { filename: parts.slice(0, index + 1).join('/'), reason }
  }
  return null
}

/** The enclosing folder with its slash; empty without one, or with SKILL.md at the top. */
export function findTopFolder(names: readonly string[]): string {
  const [first = ''] = names
  const top = first.slice(0, first.indexOf('/') + 1)
  return top !== '' && !top.startsWith('..') && top !== './' && names.every((name) => name.startsWith(top)) ? top : ''
}

/**
 * The entries of the archive's directory.
 * @throws AppError `invalid_input` when it is no zip, or one that this does not read
 */
function readEntries(archive: Uint8Array): Entry[] {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength)
  const end = findEnd(view)
  if (end === null) throw new AppError('invalid_input', 'This is not a zip archive. Send the folder of a skill as .zip.')
  const count = view.getUint16(end + 10, true)
  let at = view.getUint32(end + 16, true)
  if (view.getUint16(end + 4, true) !== 0 || count === 0xffff || at === 0xffffffff)
    throw new AppError('invalid_input', 'The archive is split or uses Zip64, which is not supported. Pack it again as a plain zip.')
  if (count > MAX_ENTRIES) throw new AppError('too_large', `The archive lists ${count} entries; the limit is ${MAX_ENTRIES}.`)
  const entries: Entry[] = []
  for (let n = 0; n < count; n++) {
    if (at + 46 > end || view.getUint32(at, true) !== 0x02014b50) throw damaged('its directory cannot be read')
    const flags = view.getUint16(at + 8, true)
    const nameLength = view.getUint16(at + 28, true)
    const next = at + 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
    if (next > end) throw damaged('its directory cannot be read')
    const { name, fault } = decodeName(archive.subarray(at + 46, at + 46 + nameLength), (flags & UTF8_NAME) !== 0)
    const mode = UNIX_MAKERS.has(view.getUint8(at + 5)) ? view.getUint32(at + 38, true) >>> 16 : 0
    entries.push({
      name,
      nameFault: fault,
      isFolder: name.endsWith('/'),
      isSpecial: SPECIAL_TYPES.has(mode & 0xf000),
      // Some programs of Windows call themselves Unix and know no modes.
      mode: (mode & 0o777) === 0 ? null : toFileMode(mode),
      isEncrypted: (flags & IS_ENCRYPTED) !== 0,
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      packedBytes: view.getUint32(at + 20, true),
      bytes: view.getUint32(at + 24, true),
      offset: view.getUint32(at + 42, true),
    })
    at = next
  }
  return entries
}

function isZero(view: DataView, from: number): boolean {
  for (let at = from; at < view.byteLength; at++) if (view.getUint8(at) !== 0) return false
  return true
}

/** Where the end of the directory stands: within the last 64 KiB, a comment or padding of zeros after it, as tar programs write it. */
function findEnd(view: DataView): number | null {
  for (let at = view.byteLength - 22; at >= 0 && at >= view.byteLength - 22 - 0xffff; at--) {
    if (view.getUint32(at, true) !== 0x06054b50) continue
    const end = at + 22 + view.getUint16(at + 20, true)
    if (end <= view.byteLength && isZero(view, end)) return at
  }
  return null
}

/**
 * A name, and why it cannot be used. Names are UTF-8 when the archive says so; older ones are only when they are plain letters, for then every
 * reading is the same. Programs of Windows write backslashes between folders.
 */
function decodeName(bytes: Uint8Array, isUtf8: boolean): { readonly name: string; readonly fault: string | null } {
  const read = (fatal: boolean) =>
    new TextDecoder('utf-8', { fatal, ignoreBOM: true }).decode(bytes.subarray(0, MAX_NAME_BYTES)).replaceAll('\\', '/')
  if (bytes.length > MAX_NAME_BYTES) return { name: read(false), fault: `has more than ${MAX_NAME_BYTES} bytes` }
  try {
    return { name: read(true), fault: null }
  } catch {
    return { name: read(false), fault: `is not UTF-8${isUtf8 ? '' : '; pack it again with names in UTF-8'}` }
  }
}

/** One file's bytes. */
function readEntry(archive: Uint8Array, entry: Entry, filename: string): Uint8Array {
  const shown = shorten(filename)
  if (entry.isEncrypted) throw new AppError('invalid_input', `"${shown}" in the archive is encrypted; pack it again without a password.`)
  if (entry.isSpecial)
    throw new AppError('invalid_input', `"${shown}" in the archive is a link or a device; only regular files are supported.`)
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength)
  if (entry.offset + 30 > archive.length || view.getUint32(entry.offset, true) !== 0x04034b50)
    throw damaged(`"${shown}" is at the wrong offset`)
  const start = entry.offset + 30 + view.getUint16(entry.offset + 26, true) + view.getUint16(entry.offset + 28, true)
  if (start + entry.packedBytes > archive.length) throw damaged(`"${shown}" is cut off`)
  const packed = archive.subarray(start, start + entry.packedBytes)
  const refuse = (bytes: number) => {
    if (bytes > MAX_FILE_BYTES)
      throw new AppError('too_large', `"${shown}" in the archive exceeds ${MAX_FILE_BYTES} bytes (1 MiB), the limit for a file.`)
  }
  if (entry.method === 0) refuse(packed.length)
  else if (entry.method !== 8)
    throw new AppError('invalid_input', `"${shown}" in the archive uses an unsupported compression method; use plain zip (deflate).`)
  const bytes = entry.method === 0 ? packed.slice() : inflate(packed, shown, refuse)
  if (bytes.length !== entry.bytes || crc32(bytes) !== entry.crc) throw damaged(`"${shown}" does not match its checksum`)
  return bytes
}

/** Inflates to one byte past the limit of a file at most. */
function inflate(packed: Uint8Array, shown: string, refuse: (bytes: number) => void): Uint8Array {
  try {
    const bytes = inflateRawSync(packed, { maxOutputLength: MAX_FILE_BYTES + 1 })
    refuse(bytes.length)
    return bytes
  } catch (error) {
    if (error instanceof AppError) throw error
    // Node's own error for output past `maxOutputLength`.
    if (error instanceof RangeError) refuse(MAX_FILE_BYTES + 1)
    throw damaged(`"${shown}" cannot be inflated`, error)
  }
}

function damaged(what: string, cause?: unknown): AppError {
  return new AppError('invalid_input', `The archive is damaged: ${what}. Pack it again.`, cause === undefined ? {} : { cause })
}

/**
 * A skill's files as a zip, in pieces of a few milliseconds' work each. The same files give the same bytes: the archive contains no times.
 * @param folder the enclosing folder
 */
export function* writeSkillArchive(files: readonly SkillFile[], folder: string): Generator<Uint8Array> {
  const zip = createZipWriter()
  for (const file of files) {
    for (const _ of zip.add({ ...file, filename: `${folder}/${file.filename}` })) yield* zip.take()
  }
  zip.end()
  yield* zip.take()
}
