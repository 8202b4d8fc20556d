import { AppError, type ErrorDetail, invalidInput } from '../../errors.ts'
import { filenameClash, filenameFault, isGitName, normalizeFilename } from './filename.ts'

export const SKILL_MD = 'SKILL.md'
export const MAX_SKILL_FILES = 512
export const MAX_FILE_BYTES = 1024 * 1024
export const MAX_SKILL_BYTES = 8 * 1024 * 1024

const PLAIN_MODE = 0o644
/** Mode of a program. */
export const PROGRAM_MODE = 0o755

/** One file of a skill: its path inside the skill, its exact bytes, and the mode it came with, 0o644 or 0o755, where that is known. */
export interface SkillFile {
  readonly filename: string
  readonly bytes: Uint8Array
  readonly mode?: number | null | undefined
}

/** The mode that a file is written with: its own, else that of a program where it names its interpreter (`#!`). */
export function fileMode({ bytes, mode }: Pick<SkillFile, 'bytes' | 'mode'>): number {
  return mode ?? (bytes[0] === 0x23 && bytes[1] === 0x21 ? PROGRAM_MODE : PLAIN_MODE)
}

/** Whether a file is as another was: a mode that is not known is the one of before. */
export function isSameFile(before: SkillFile, file: SkillFile): boolean {
  return Buffer.compare(before.bytes, file.bytes) === 0 && fileMode(before) === fileMode({ ...file, mode: file.mode ?? before.mode })
}

/** The mode of a file as skills keep it: that of a program when its owner may run it. */
export function toFileMode(mode: number): typeof PLAIN_MODE | typeof PROGRAM_MODE {
  return (mode & 0o100) === 0 ? PLAIN_MODE : PROGRAM_MODE
}

/** A file as JSON carries it: text, or base64 when the bytes are not UTF-8. */
export interface FileContent {
  readonly filename: string
  readonly content: string
  readonly encoding?: 'base64' | undefined
  /** Where the mode is another than the content says. */
  readonly executable?: boolean | undefined
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The bytes as text when they are valid UTF-8 (a BOM stays where it is), else null. */
export function decodeText(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes)
  } catch {
    return null
  }
}

/** The kind of bytes that {@link decodeText} does not read, as the end of a sentence. */
export function encodingFault(bytes: Uint8Array): string {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  return isUtf16 ? 'is UTF-16, not UTF-8' : 'is not UTF-8 text'
}

/** A file as JSON can carry it; `encoding` is there only when it is base64. */
export function toFileContent(file: SkillFile): FileContent {
  const { filename, bytes } = file
  const mode = fileMode(file)
  const kind = mode === fileMode({ bytes }) ? {} : { executable: mode === PROGRAM_MODE }
  const text = decodeText(bytes)
  if (text !== null) return { filename, content: text, ...kind }
  return { filename, content: Buffer.from(bytes).toString('base64'), encoding: 'base64', ...kind }
}

/**
 * The file that JSON carried. @param path where the file stands in the input, for the message
 * @throws AppError `invalid_input` for a lone surrogate or malformed base64
 */
export function fromFileContent(file: FileContent, path: string): SkillFile {
  const filename = normalizeFilename(file.filename)
  const mode = file.executable === undefined ? null : file.executable ? PROGRAM_MODE : PLAIN_MODE
  if (file.encoding === 'base64') {
    // One plain class and a length: a group repeated per four characters overflows the stack on megabytes.
    if (file.content.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(file.content)) {
      throw invalidInput(`${path}content`, `${path}content of "${filename}" is not base64 (RFC 4648, with padding, no line breaks).`)
    }
    return { filename, bytes: Buffer.from(file.content, 'base64'), mode }
  }
  if (!file.content.isWellFormed()) throw invalidInput(`${path}content`, `${path}content of "${filename}" contains half a surrogate pair.`)
  return { filename, bytes: Buffer.from(file.content, 'utf8'), mode }
}

/**
 * Checks a whole set of files against the contract: names, SKILL.md, counts and sizes.
 * @throws AppError `invalid_input` naming every fault (at most 20)
 */
export function checkSkillFiles(files: readonly { readonly filename: string; readonly bytes: { readonly length: number } }[]): void {
  const details: ErrorDetail[] = []
  const refuse = (path: string, message: string) => {
    if (details.length < 20) details.push({ path, message })
  }
  if (files.length > MAX_SKILL_FILES) refuse('files', `files has ${files.length} entries; the limit is ${MAX_SKILL_FILES}`)
  let total = 0
  for (const [index, file] of files.entries()) {
    total += file.bytes.length
    const fault = filenameFault(file.filename)
    if (fault) refuse(`files[${index}].filename`, `filename "${shorten(file.filename)}" ${fault}`)
    if (file.bytes.length > MAX_FILE_BYTES) {
      refuse(
        `files[${index}].content`,
        `"${shorten(file.filename)}" has ${file.bytes.length} bytes; the limit for a file is ${MAX_FILE_BYTES} (1 MiB)`,
      )
    }
  }
  if (total > MAX_SKILL_BYTES) refuse('files', `the files have ${total} bytes in total; the limit is ${MAX_SKILL_BYTES} (8 MiB)`)
  if (details.length === 0) {
    const clash = filenameClash(files.map((file) => file.filename))
    if (clash) refuse('files', clash)
    if (!files.some((file) => file.filename === SKILL_MD))
      refuse('files', `${SKILL_MD} is missing; every skill needs one at its root, spelled exactly like this`)
  }
  if (details.length > 0) throw new AppError('invalid_input', `${details.map((d) => d.message).join('; ')}.`, { details })
}

/** The beginning of a long name, for messages. */
export function shorten(filename: string): string {
  return filename.length > 80 ? `${filename.slice(0, 80).toWellFormed()}…` : filename.toWellFormed()
}

/** One change to a skill's files. */
export type FileChange =
  | { readonly kind: 'add'; readonly file: SkillFile }
  | { readonly kind: 'update'; readonly file: SkillFile }
  | { readonly kind: 'remove'; readonly filename: string }

/**
 * The files after a change, by the names alone for the untouched ones; pure, so that it can run inside a transaction on the current state.
 * @throws AppError `invalid_input` (bad name, SKILL.md removed or added again, a file over its limit), `conflict` (the name is taken), `not_found` (no such file)
 */
export function applyFileChange(files: readonly SkillFile[], change: FileChange): SkillFile[] {
  const filename = normalizeFilename(change.kind === 'remove' ? change.filename : change.file.filename)
  const fault = filenameFault(filename)
  if (fault) throw invalidInput('filename', `filename "${shorten(filename)}" ${fault}.`)
  const existing = files.find((file) => file.filename === filename)
  if (change.kind === 'remove') {
    if (filename === SKILL_MD)
      throw invalidInput('filename', `${SKILL_MD} is required in every skill and cannot be removed; update it, or delete the skill.`)
    if (!existing) throw new AppError('not_found', `File "${filename}" not found in the skill.`)
    return files.filter((file) => file !== existing)
  }
  if (change.kind === 'add') {
    if (filename === SKILL_MD) throw invalidInput('filename', `${SKILL_MD} exists in every skill; update it instead.`)
    if (existing) throw new AppError('conflict', `File "${filename}" already exists in the skill; update it instead.`)
    const next = [...files, { ...change.file, filename }]
    checkSkillFiles(next)
    return next
  }
  if (!existing) throw new AppError('not_found', `File "${filename}" not found in the skill; add it first.`)
  const next = files.map((file) => (file === existing ? { ...change.file, filename } : file))
  checkSkillFiles(next)
  return next
}

/**
 * The files of a stored skill as everybody gets them: SKILL.md first, then by name. Names that Git reads as its own, which older versions
 * took, are left out.
 */
export function listSkillFiles<T extends { readonly filename: string }>(files: readonly T[]): T[] {
  const own = files.filter(({ filename }) => !filename.split('/').some(isGitName))
  return own.sort((a, b) => {
    if (a.filename === SKILL_MD) return b.filename === SKILL_MD ? 0 : -1
    if (b.filename === SKILL_MD) return 1
    return a.filename < b.filename ? -1 : a.filename > b.filename ? 1 : 0
  })
}
