import type { Dirent } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Prompt, User } from '../../domain/items/items.ts'
import type { SyncedPath } from '../../domain/service/transfer.ts'
import {
  filenameFault,
  holdsPrivateKey,
  isLeftOutName,
  isSecretName,
  isSystemName,
  normalizeFilename,
} from '../../domain/skills/filename.ts'
import {
  checkSkillFiles,
  MAX_FILE_BYTES,
  MAX_SKILL_FILES,
  PROGRAM_MODE,
  SKILL_MD,
  type SkillFile,
  toFileMode,
} from '../../domain/skills/skill.ts'
import { AppError } from '../../errors.ts'
import type { LibraryStore } from '../../storage/store.ts'
import { knownCategory, type PromptChecks } from '../prepare-prompt.ts'
import { lstatIfThere, readRegularFile, requireRoom } from '../skill-folder.ts'
import type { FolderEntry } from './plan-sync.ts'
import { changedMeanwhile, digestPrompt, type FolderWriter, readSyncedPrompt, type SyncedDraft, sha256 } from './synced-files.ts'

/** Largest file of a prompt, in bytes: more than any prompt needs. */
const MAX_PROMPT_BYTES = 1024 * 1024
/** Most prompts and skills of a folder, and most names that are read in all. */
export const MAX_PATHS = 50_000
/** Most names in one skill's folder, those that are left out included. */
const MAX_SKILL_NAMES = 4 * MAX_SKILL_FILES
/** Names of copies that conflicts left, which are never synced. */
const CONFLICT_COPY = /\.conflict-[0-9a-f]{8,64}(?:\.md)?$/
/** The slug in a frontmatter that a sync wrote. */
const NAMED = /^---[ \t]*\r?\n(?:(?!---)[^\n]*\n){0,40}?name:[ \t]*["']?([a-z0-9-]+)["']?[ \t]*\r?\n/

/** Where a copy of a path is kept beside it. @param hex tells copies apart */
export function conflictName(path: string, hex: string): string {
  const mark = `.conflict-${hex}`
  return path.endsWith('.md') ? `${path.slice(0, -'.md'.length)}${mark}.md` : `${path}${mark}`
}

/** The files of a skill as one digest. */
export function digestSkill(files: readonly SkillFile[]): string {
  return sha256(
    files
      .map(({ filename, bytes }) => `${filename}\0${sha256(bytes)}\n`)
      .toSorted()
      .join(''),
  )
}

/**
 * Reads `prompts/*.md` and `skills/*` below a folder. Links are refused, never followed.
 * @param filenamesOf the files that the library has of the skill at a path: they are read even where their names look like secrets
 * @throws AppError `invalid_input` for a folder that cannot be synced, or has too much in it
 */
export async function scanFolder(root: string, filenamesOf: (path: string) => ReadonlySet<string>, maxPaths = MAX_PATHS) {
  const folder = new Map<string, FolderEntry>()
  const refused = new Set<string>()
  /** Sentences about what is not synced. */
  const remarks: string[] = []
  /** Copies that conflicts left, still to be looked through. */
  let conflictCopies = 0
  let ignored = 0
  const refuse = (path: string, why: string) => {
    refused.add(path)
    remarks.push(`${path} is not synced: ${why.replace(/\.$/, '')}.`)
  }
  let left = maxPaths
  const count = () => {
    if (--left < 0)
      throw new AppError('invalid_input', `${root} has more than ${maxPaths} prompts and skills, the limit of a synced folder.`)
  }
  for (const entry of await listFolder(join(root, 'prompts'), count)) {
    const path = `prompts/${entry.name}`
    if (CONFLICT_COPY.test(entry.name)) conflictCopies++
    else if (entry.name.startsWith('.') || !entry.name.toLowerCase().endsWith('.md') || entry.isDirectory()) ignored++
    else if (!entry.isFile()) refuse(path, 'it is no regular file, and links are not followed')
    else if (filenameFault(entry.name) !== null) refuse(path, `its name ${filenameFault(entry.name)}`)
    else {
      const bytes = await readRegularFile(join(root, path), MAX_PROMPT_BYTES).catch(asFault)
      if (typeof bytes === 'string') refuse(path, bytes)
      else if (bytes !== null) {
        const slug = NAMED.exec(bytes.toString('utf8', 0, 8_192))?.[1] ?? null
        folder.set(path, { kind: 'prompt', digest: sha256(bytes), slug })
      }
    }
  }
  for (const entry of await listFolder(join(root, 'skills'), count)) {
    const path = `skills/${entry.name}`
    if (CONFLICT_COPY.test(entry.name)) conflictCopies++
    else if (entry.isSymbolicLink()) refuse(path, 'it is a link, and links are not followed')
    else if (!entry.isDirectory() || entry.name.startsWith('.')) ignored++
    else if (filenameFault(entry.name) !== null) refuse(path, `its name ${filenameFault(entry.name)}`)
    else {
      const skill = await readSkill(root, path, filenamesOf(path)).catch(asFault)
      if (typeof skill === 'string') refuse(path, skill)
      else {
        for (const name of skill.leftOut) remarks.push(`${path}/${name} is not synced: its name or content is that of a secret or a tool.`)
        folder.set(path, { kind: 'skill', digest: digestSkill(skill.files), slug: null })
      }
    }
  }
  if (ignored > 0)
    remarks.push(`${ignored} other names in prompts and skills were ignored: only prompts/NAME.md and skills/NAME/ are synced.`)
  return { folder, refused, remarks, conflictCopies }
}

/** A fault of one path as its reason; what no rule explains is thrown. */
function asFault(error: unknown): string {
  if (error instanceof AppError && error.code !== 'internal') return error.message
  if (error instanceof Error && 'code' in error) return `it cannot be read (${error.code})`
  throw error
}

/** The names in a folder, in order. @param count called for each @throws AppError what it throws */
async function readNames(path: string, count: () => void): Promise<Dirent[]> {
  const entries: Dirent[] = []
  for await (const entry of await opendir(path)) {
    count()
    entries.push(entry)
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function listFolder(path: string, count: () => void): Promise<Dirent[]> {
  try {
    const about = await lstatIfThere(path)
    if (about === null) return []
    if (!about.isDirectory()) throw new AppError('invalid_input', `${path} is not a folder, and links are not followed.`)
    return await readNames(path, count)
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('unavailable', `${path} is not synced: ${asFault(error)}.`, { cause: error })
  }
}

/**
 * Reads the folder of one skill, byte for byte.
 * @param known files that are read even where their names look like secrets: the library has them
 * @throws AppError `invalid_input` when something in it cannot be synced: then none of it is
 */
export async function readSkill(root: string, path: string, known: ReadonlySet<string>) {
  const files: SkillFile[] = []
  const leftOut: string[] = []
  let [names, size] = [0, 0]
  const walk = async (prefix: string): Promise<void> => {
    const entries = await readNames(join(root, path, prefix), () => {
      if (++names > MAX_SKILL_NAMES) throw new AppError('invalid_input', `it has more than ${MAX_SKILL_NAMES} files and folders`)
    })
    for (const entry of entries) {
      const name = prefix + entry.name
      const isKnown =
        known.has(normalizeFilename(name)) || [...known].some((filename) => filename.startsWith(`${normalizeFilename(name)}/`))
      if (!isKnown && isSystemName(entry.name)) continue
      if (!isKnown && (isLeftOutName(entry.name) || isSecretName(entry.name))) {
        leftOut.push(name)
        continue
      }
      if (entry.isDirectory()) {
        await walk(`${name}/`)
        continue
      }
      if (!entry.isFile()) throw new AppError('invalid_input', `${name} is no regular file, and links are not followed`)
      const bytes = await readRegularFile(join(root, path, name), MAX_FILE_BYTES)
      if (bytes === null) throw changedMeanwhile(`${path}/${name}`)
      if (!isKnown && holdsPrivateKey(entry.name, bytes)) {
        leftOut.push(name)
        continue
      }
      size += bytes.length
      requireRoom(files.length, size)
      // A folder may be without modes, so only a program's says something.
      const isProgram = toFileMode((await lstatIfThere(join(root, path, name)))?.mode ?? 0) === PROGRAM_MODE && process.platform !== 'win32'
      files.push({ filename: normalizeFilename(name), bytes, mode: isProgram ? PROGRAM_MODE : null })
    }
  }
  await walk('')
  if (!files.some((file) => file.filename === SKILL_MD)) throw new AppError('invalid_input', `it has no ${SKILL_MD}`)
  checkSkillFiles(files)
  return { files, leftOut }
}

/** The result of a sync, or of a dry run. */
export interface SyncReport {
  created: number
  updated: number
  /** Files and skill folders written. */
  written: number
  conflicts: number
  deleted: number
  /** Deleted on one side, and left on the other. */
  left: number
  refused: number
  /** One sentence for each change. */
  changes: string[]
  /** Reasons why something was not synced. */
  remarks: string[]
}

/** A sync that runs: what its steps need. */
export interface Run {
  readonly store: LibraryStore
  readonly user: User
  /** The folder. It names the state, too. */
  readonly root: string
  readonly isDryRun: boolean
  readonly writer: FolderWriter
  readonly report: SyncReport
  readonly categories: ReadonlySet<string>
  readonly checks: PromptChecks | undefined
}

const goneMeanwhile = () => new AppError('conflict', 'the item was deleted while it was synced. Sync again.')

/** The part of a state that follows from the item as it is now. */
type Noted = Pick<SyncedPath, 'itemId' | 'libraryDigest' | 'version'>

/** A prompt as it is now. @throws AppError `conflict` when it is gone */
export async function findPrompt({ user }: Run, store: LibraryStore, id: string): Promise<{ prompt: Prompt; noted: Noted }> {
  const [found] = await store.transfer.exportPrompts(user.id, 0, 1, [id])
  if (!found) throw goneMeanwhile()
  const { prompt } = found
  return { prompt, noted: { itemId: id, libraryDigest: digestPrompt(prompt), version: prompt.version } }
}

/** A skill as it is now. @throws AppError `conflict` when it is gone */
export async function findSkill({ user }: Run, store: LibraryStore, id: string) {
  const [found] = await store.transfer.exportSkills(user.id, 0, 1, [id])
  if (!found) throw goneMeanwhile()
  const { skill, files } = found
  const noted: Noted = { itemId: id, libraryDigest: digestSkill(files), version: skill.version }
  return { skill, files, noted }
}

/** A prompt's file as it was when the folder was read. @throws AppError `conflict` when it is another one */
export async function readPromptBytes({ root }: Run, path: string, digest: string): Promise<Buffer> {
  const bytes = await readRegularFile(join(root, path), MAX_PROMPT_BYTES)
  if (bytes === null || sha256(bytes) !== digest) throw changedMeanwhile(path)
  return bytes
}

/** The files of a skill as they were when the folder was read. @throws AppError `conflict` when they are others */
export async function readSkillFiles({ root }: Run, path: string, digest: string, known: readonly string[]): Promise<readonly SkillFile[]> {
  const { files } = await readSkill(root, path, new Set(known))
  if (digestSkill(files) !== digest) throw changedMeanwhile(path)
  return files
}

/** The draft in a prompt's file, with a category that exists. */
export function readDraft({ categories, report }: Run, path: string, bytes: Uint8Array, current: Prompt | null): SyncedDraft {
  const draft = readSyncedPrompt(basename(path), bytes, current)
  const { category, remark } = knownCategory(draft.category, categories, { leavesOutUnknownCategories: true })
  if (remark === undefined) return draft
  report.remarks.push(`${path}: ${remark}.`)
  return { ...draft, category: category ?? current?.category?.slug ?? null }
}

/** Saves the last synced state of a path. */
export async function saveState({ store, user, root }: Run, from: SyncedPath | null, to: SyncedPath | null, writer = store): Promise<void> {
  await writer.syncs.saveSynced(user.id, root, from, to)
}
