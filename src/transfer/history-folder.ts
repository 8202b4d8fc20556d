import { createHash } from 'node:crypto'
import { constants, createWriteStream } from 'node:fs'
import { lstat, mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { EXPORT_NAMES } from '../library/exported-items.ts'
import { createHistoryCounter, type HistoryCounts, type HistoryRecord, historyRecord, toHistoryLine } from '../library/history-records.ts'
import type { ExportReader, HistorySource } from '../library/ports/transfer.ts'
import { MAX_FILE_BYTES } from '../library/skill.ts'
import { readRegularFile } from './regular-file.ts'
import { readSkillFolder } from './skill-folder.ts'
import { readLines } from './text-lines.ts'

/** Of the manifest. Format 1 has no favourites, sources of copies and names for channels; an import refuses every other. */
const FORMAT = 2
const READ_FORMATS = [1, FORMAT] as const
const MANIFEST = 'manifest.json'
const RECORDS = 'records.jsonl'
const FILES = 'files'
const MAX_MANIFEST_BYTES = 64 * 1024
/** Longest line, in UTF-16 units: several times what the limits of an item let a line become. */
const MAX_LINE_LENGTH = 8 * 1024 * 1024
/** The readable files of a whole export. They are not imported, so they must match the history. */
const READABLE = [EXPORT_NAMES.prompts, EXPORT_NAMES.skillsIndex, EXPORT_NAMES.categories] as const

const sha256Field = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.number().int().min(0)
const manifestSchema = z.object({
  format: z.literal(READ_FORMATS),
  digest: sha256Field,
  counts: z.object({ categories: count, users: count, items: count, inTrash: count, versions: count, votes: count }),
  /** SHA-256 of the files beside the history. */
  readable: z.object({ 'prompts.jsonl': sha256Field, 'skills.json': sha256Field, 'categories.json': sha256Field }),
})

/** What a whole export holds. */
export interface History {
  /** Hex SHA-256 over all records: the same wherever the same library is. */
  readonly digest: string
  readonly counts: HistoryCounts
}

/** Adds the history of a library to an export with its readable files. */
export async function writeHistoryFolder(
  reader: ExportReader,
  exported: string,
  modes: { readonly folder: number; readonly file: number },
): Promise<History> {
  const folder = join(exported, EXPORT_NAMES.historyFolder)
  await mkdir(join(folder, FILES), { recursive: true, mode: modes.folder })
  const created = new Set<string>()
  for await (const { sha256, bytes } of reader.exportBlobs()) {
    const path = placeOf(folder, sha256)
    if (!created.has(path.folder)) await mkdir(path.folder, { mode: modes.folder })
    created.add(path.folder)
    await writeFile(path.file, bytes, { flush: true, mode: modes.file, flag: 'wx' })
  }
  const hash = createHash('sha256')
  const counter = createHistoryCounter()
  async function* lines(): AsyncGenerator<string> {
    for await (const record of reader.exportHistory()) {
      requireImportable(record)
      const line = toHistoryLine(record)
      hash.update(line)
      counter.add(record)
      yield line
    }
  }
  await pipeline(lines, createWriteStream(join(folder, RECORDS), { flush: true, mode: modes.file }))
  const history = { digest: hash.digest('hex'), counts: counter.read() }
  const readable = Object.fromEntries(
    await Promise.all(READABLE.map(async (name) => [name, await digestFile(join(exported, name))] as const)),
  )
  const manifest = { format: FORMAT, ...history, readable }
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { flush: true, mode: modes.file })
  return history
}

/** What an import would refuse is better known now. @throws AppError `unavailable` */
function requireImportable(record: HistoryRecord): void {
  const parsed = historyRecord.safeParse(record)
  if (parsed.success) return
  const [issue] = parsed.error.issues
  const name = 'id' in record ? record.id : 'slug' in record ? record.slug : 'username' in record ? record.username : ''
  const what = `${issue?.path.join('.') || 'it'} ${issue?.message}`
  throw new AppError(
    'unavailable',
    `The library has a ${record.record} ${name} that cannot be imported: ${what}. Export without --full instead.`,
  )
}

/**
 * Opens the history of a whole export, whose readable files must be unchanged.
 * @returns null for a folder without a history
 * @throws AppError `invalid_input` when it is damaged, changed, or of a newer version
 */
export async function openHistoryFolder(exported: string): Promise<(History & HistorySource) | null> {
  const folder = join(exported, EXPORT_NAMES.historyFolder)
  const about = await lstat(folder).catch(() => null)
  if (about === null) return null
  if (!about.isDirectory()) throw new AppError('invalid_input', `${folder} is not a folder (links are not followed).`)
  const { digest, counts, readable } = await readManifest(join(folder, MANIFEST))
  for (const name of READABLE) {
    if ((await digestFile(join(exported, name))) !== readable[name]) throw changed(join(exported, name))
  }
  return {
    digest,
    counts,
    records: readRecords(exported, join(folder, RECORDS), { digest, counts }),
    readBlob: (sha256) => readBlob(folder, sha256),
  }
}

async function readManifest(path: string): Promise<z.infer<typeof manifestSchema>> {
  const bytes = await readRegularFile(path, MAX_MANIFEST_BYTES)
  if (bytes === null) throw new AppError('invalid_input', `${path} is missing: the export is incomplete.`)
  try {
    return manifestSchema.parse(JSON.parse(bytes.toString('utf8')))
  } catch (error) {
    throw new AppError('invalid_input', `${path} is damaged, or was written by a newer version.`, { cause: error })
  }
}

async function* readRecords(exported: string, path: string, expected: History): AsyncGenerator<HistoryRecord> {
  const hash = createHash('sha256')
  const counter = createHistoryCounter()
  let number = 0
  for await (const line of readLines(path, hashed(path, hash), MAX_LINE_LENGTH)) {
    number++
    if (line === '') continue
    const record = parseRecord(path, number, line)
    counter.add(record)
    if (record.record === 'item' && record.kind === 'skill' && record.deletedAt === null) await checkSkill(exported, record)
    yield record
  }
  if (hash.digest('hex') !== expected.digest || JSON.stringify(counter.read()) !== JSON.stringify(expected.counts)) {
    throw new AppError('invalid_input', `${path} does not match the manifest: it is damaged or was changed.`)
  }
}

function parseRecord(path: string, number: number, line: string): HistoryRecord {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw new AppError('invalid_input', `Line ${number} of ${path} is not valid JSON.`)
  }
  const parsed = historyRecord.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new AppError('invalid_input', `Line ${number} of ${path} cannot be imported: ${issue?.path.join('.') || 'it'} ${issue?.message}.`)
}

/** The bytes of a regular file, hashed as they are read. */
async function* hashed(path: string, hash: { update(bytes: Uint8Array): unknown }): AsyncGenerator<Uint8Array> {
  const about = await lstat(path).catch(() => null)
  if (!about?.isFile()) throw new AppError('invalid_input', `${path} is missing or not a regular file (links are not followed).`)
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      hash.update(chunk)
      yield chunk
    }
  } finally {
    await file.close()
  }
}

/** The folder of a skill must match its record, because people and agents read it there. */
async function checkSkill(
  exported: string,
  { slug, files = [] }: { readonly slug: string; readonly files?: readonly { filename: string; sha256: string }[] | undefined },
): Promise<void> {
  const root = join(exported, EXPORT_NAMES.skillsFolder)
  const folder = join(root, slug)
  for (const path of [root, folder]) {
    if (!(await isFolder(path))) throw changed(path)
  }
  const found = new Map((await readSkillFolder(folder, { isExport: true })).files.map(({ filename, bytes }) => [filename, digestOf(bytes)]))
  if (found.size !== files.length || files.some(({ filename, sha256 }) => found.get(filename) !== sha256)) throw changed(folder)
}

async function readBlob(folder: string, sha256: string): Promise<Uint8Array> {
  const { folder: part, file } = placeOf(folder, sha256)
  for (const path of [join(folder, FILES), part]) {
    if (!(await isFolder(path))) throw new AppError('invalid_input', `${path} is missing or not a folder (links are not followed).`)
  }
  const bytes = await readRegularFile(file, MAX_FILE_BYTES)
  if (bytes === null) throw new AppError('invalid_input', `${file} is missing: the export is incomplete.`)
  if (digestOf(bytes) !== sha256)
    throw new AppError('invalid_input', `${file} is damaged: its name does not match the digest of its content.`)
  return bytes
}

function placeOf(folder: string, sha256: string): { folder: string; file: string } {
  const part = join(folder, FILES, sha256.slice(0, 2))
  return { folder: part, file: join(part, sha256) }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function digestFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const _ of hashed(path, hash));
  return hash.digest('hex')
}

/** Whether this is a folder itself, and no link to one. */
async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isDirectory() === true
}

function changed(path: string): AppError {
  return new AppError(
    'invalid_input',
    `${path} was changed after the export and no longer matches the history. Import the current items with --without-history.`,
  )
}
