import { constants, type Stats } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { MAX_DESCRIPTION, MAX_TITLE } from '../domain/items/fields.ts'
import { holdsPrivateKey, isGitName, isLeftOutName, isSecretName, normalizeFilename } from '../domain/skills/filename.ts'
import { readFrontmatter } from '../domain/skills/frontmatter.ts'
import {
  checkSkillFiles,
  decodeText,
  encodingFault,
  fileMode,
  MAX_FILE_BYTES,
  MAX_SKILL_BYTES,
  MAX_SKILL_FILES,
  PROGRAM_MODE,
  SKILL_MD,
  type SkillFile,
  toFileMode,
} from '../domain/skills/skill.ts'
import { cutAtWord, cutCharacters } from '../domain/text/characters.ts'
import { AppError } from '../errors.ts'

/**
 * Creates a folder atomically: `write` fills a temporary one, which is then renamed.
 * @param mode of the folder
 * @throws AppError `invalid_input` when the path is a file, a link or a folder that is not empty
 */
export async function writeWholeFolder<T>(folder: string, mode: number, write: (partial: string) => Promise<T>): Promise<T> {
  if (folder.trim() === '') throw new AppError('invalid_input', 'Specify a folder to write to.')
  const target = resolve(folder)
  const about = await lstat(target).catch(() => null)
  if (about?.isSymbolicLink())
    throw new AppError('invalid_input', `${folder} is a symbolic link, which is not followed. Choose another name.`)
  if (about && !about.isDirectory()) throw new AppError('invalid_input', `${folder} exists and is not a folder. Choose another name.`)
  if (about && (await readdir(target)).length > 0)
    throw new AppError('invalid_input', `${folder} is not empty. Choose a new or empty folder.`)
  const partial = join(dirname(target), `.${basename(target)}.partial-${process.pid}`)
  try {
    await mkdir(dirname(target), { recursive: true, mode })
    // Not recursive: parent folders must exist.
    await mkdir(partial, { mode })
  } catch (error) {
    throw new AppError('invalid_input', `Could not create ${folder}: ${error instanceof Error ? error.message : String(error)}.`, {
      cause: error,
    })
  }
  try {
    const written = await write(partial)
    if (about) await rmdir(target)
    await rename(partial, target)
    return written
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

/** A skill as a folder gives it, checked. */
export interface SkillDraft {
  readonly title: string
  readonly description: string | null
  readonly files: readonly SkillFile[]
  /** Oddities, and files left out. */
  readonly remarks: readonly string[]
}

/** How deep folders are searched for skills, and skills for files: as deep as a filename of 255 bytes can go. */
const MAX_DEPTH = 128

/** Why a link is not read. */
export const LINK_FAULT = 'is a link, and links are not followed'

/** Whether a link leads to a folder. Nothing in it is read. */
export async function isLinkToFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true
}

/**
 * The skill folders below `folder`, by name: those with a SKILL.md. Folders inside a skill belong to it. Links are never followed.
 * `onPassedOver` is called for what might be taken for a skill: files such as skill.md, and links to a SKILL.md or a folder.
 */
export async function findSkillFolders(
  folder: string,
  onPassedOver: (path: string, reason: string) => void = () => {},
  depth = 0,
): Promise<string[]> {
  const about = await lstat(folder).catch(() => null)
  if (!about && depth === 0) throw new AppError('invalid_input', `${folder} does not exist.`)
  if (!about?.isDirectory()) throw new AppError('invalid_input', `${folder} is not a readable folder.`)
  const entries = await readdir(folder, { withFileTypes: true })
  if (entries.some((entry) => entry.isFile() && entry.name === SKILL_MD)) return [folder]
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isSymbolicLink()) {
      if (entry.name === SKILL_MD || (await isLinkToFolder(path))) onPassedOver(path, LINK_FAULT)
    } else if (entry.name.toLowerCase() === SKILL_MD.toLowerCase()) onPassedOver(path, `the file must be spelled ${SKILL_MD}`)
  }
  if (depth >= MAX_DEPTH) return []
  const found: string[] = []
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.isDirectory() && !isLeftOutName(entry.name))
      found.push(...(await findSkillFolders(join(folder, entry.name), onPassedOver, depth + 1)))
  }
  return found
}

/** @param files that a skill has already @param bytes with those of one more @throws AppError `invalid_input` where one more is too much */
export function requireRoom(files: number, bytes: number): void {
  if (files >= MAX_SKILL_FILES) throw new AppError('invalid_input', `it has more than ${MAX_SKILL_FILES} files`)
  if (bytes > MAX_SKILL_BYTES) throw new AppError('invalid_input', `its files exceed ${MAX_SKILL_BYTES} bytes (8 MiB) in total`)
}

/**
 * Reads a skill's folder: regular files only, nothing outside it; secrets and tool folders are skipped and listed.
 * @param options.isExport for a folder of an export: its files were stored before and are read without remarks
 * @throws AppError `invalid_input` when a limit or a filename rule is broken
 */
export async function readSkillFolder(folder: string, options: { isExport: boolean } = { isExport: false }): Promise<SkillDraft> {
  const leavesOut = !options.isExport
  const remarks: string[] = []
  const files: SkillFile[] = []
  let size = 0
  const add = (name: string, { bytes, mode }: Awaited<ReturnType<typeof readSkillFile>>) => {
    if (leavesOut && holdsPrivateKey(basename(name), bytes)) {
      remarks.push(`skipped ${name}: contains a private key`)
      return
    }
    size += bytes.length
    requireRoom(files.length, size)
    // Exports of earlier versions had no modes.
    files.push({ filename: normalizeFilename(name), bytes, mode: options.isExport && mode !== PROGRAM_MODE ? null : mode })
  }
  const walk = async (path: string, prefix: string, depth: number): Promise<void> => {
    if (depth > MAX_DEPTH) throw new AppError('invalid_input', `its folders are nested deeper than ${MAX_DEPTH}`)
    for (const entry of (await readdir(path, { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const name = prefix + entry.name
      const from = join(path, entry.name)
      if (isGitName(entry.name) || (leavesOut && isLeftOutName(entry.name)))
        remarks.push(`skipped ${entry.isDirectory() ? 'the folder ' : ''}${name}`)
      else if (entry.isDirectory()) await walk(from, `${name}/`, depth + 1)
      else if (!entry.isFile()) remarks.push(`skipped ${name}: not a regular file`)
      else if (leavesOut && isSecretName(entry.name)) {
        remarks.push(`skipped ${name}: may contain a secret`)
      } else add(name, await readSkillFile(from, name))
    }
  }
  try {
    await walk(folder, '', 0)
  } catch (error) {
    const isOuter = files.some(({ filename }) => filename.endsWith(`/${SKILL_MD}`))
    if (!(error instanceof AppError) || !isOuter) throw error
    const why = `The ${SKILL_MD} at its top makes the whole folder one skill; import the folders in it by themselves`
    throw new AppError(error.code, `${error.message.replace(/\.$/, '')}. ${why}`, { cause: error })
  }
  const draft = toSkillDraft(basename(folder), files, remarks)
  return options.isExport ? { ...draft, remarks: [] } : draft
}

/**
 * A skill of its files. Its title and description are those of the frontmatter of SKILL.md.
 * @param name of its folder: the title where there is no other
 * @param remarks those made while its files were read
 * @throws AppError `invalid_input` when a limit or a filename rule is broken
 */
export function toSkillDraft(name: string, files: readonly SkillFile[], remarks: readonly string[]): SkillDraft {
  checkSkillFiles(files)
  const skillMd = files.find((file) => file.filename === SKILL_MD)
  const text = skillMd ? decodeText(skillMd.bytes) : null
  const frontmatter =
    skillMd && text === null
      ? { name: null, description: null, warnings: [`${SKILL_MD} ${encodingFault(skillMd.bytes)}`] }
      : readFrontmatter(text ?? '', name)
  const inner = files.filter(({ filename }) => filename.endsWith(`/${SKILL_MD}`))
  const nested =
    inner.length === 0 ? [] : [`${inner.length} other ${SKILL_MD} below it, such as ${inner[0]?.filename}, are files of this skill`]
  const title = cutCharacters((frontmatter.name?.trim() || name).replaceAll('\0', ' ').toWellFormed(), MAX_TITLE)
  const full = frontmatter.description?.replaceAll('\0', ' ').toWellFormed().trim() || null
  const description = full === null ? null : cutAtWord(full, MAX_DESCRIPTION)
  const cut = description === full ? [] : [`description cut to ${MAX_DESCRIPTION} characters; SKILL.md keeps the full text`]
  return { title, description, files, remarks: [...frontmatter.warnings, ...nested, ...remarks, ...cut] }
}

/** Mode of the folder and files of a skill, before the umask. */
const FOLDER_MODE = 0o777
const FILE_MODE = 0o666

/**
 * Writes the files of a skill into a new folder, which appears whole or not at all.
 * @throws AppError `invalid_input` when a limit or a filename rule is broken (another server may answer anything), or the folder has something in it
 */
export async function writeSkillFolder(folder: string, files: readonly SkillFile[]): Promise<void> {
  checkSkillFiles(files)
  await writeWholeFolder(folder, FOLDER_MODE, async (partial) => {
    for (const file of files) {
      const path = join(partial, file.filename)
      await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE })
      await writeFile(path, file.bytes, { flag: 'wx', mode: FILE_MODE | fileMode(file) })
    }
  })
}

/** Opens without following a link, so that one put in place of a file after the listing is not read either. */
async function readSkillFile(path: string, name: string): Promise<{ bytes: Buffer; mode: number | null }> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const about = await file.stat()
    if (!about.isFile()) throw new AppError('invalid_input', `${name} is not a regular file`)
    if (about.size > MAX_FILE_BYTES)
      throw new AppError('invalid_input', `${name} has ${about.size} bytes; the limit for a file is ${MAX_FILE_BYTES} (1 MiB)`)
    return { bytes: await file.readFile(), mode: process.platform === 'win32' ? null : toFileMode(about.mode) }
  } finally {
    await file.close()
  }
}

/** The message of a refusal of one file of several. Any other error is thrown. */
export function faultOf(error: unknown): string {
  if (!(error instanceof AppError) || error.code === 'internal') throw error
  return error.message
}

/** The stat of a path, null for nothing. Any other failure is thrown: a file that cannot be looked at is not a missing one. */
export async function lstatIfThere(path: string): Promise<Stats | null> {
  return await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
}

/**
 * The bytes of a regular file of at most `maxBytes`; null when there is none. It is opened without following a link, so that one put in its
 * place meanwhile is not read either.
 * @throws AppError `invalid_input` for a link, a folder, or a larger file
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<Buffer | null> {
  const about = await lstatIfThere(path).catch((error: NodeJS.ErrnoException) => {
    // A file stands where the folder would be.
    if (error.code === 'ENOTDIR') return null
    throw error
  })
  if (about === null) return null
  if (!about.isFile()) throw new AppError('invalid_input', `${path} is not a regular file (links are not followed).`)
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const { size } = await file.stat()
    if (size > maxBytes) throw new AppError('invalid_input', `${path} has ${size} bytes; the limit is ${maxBytes}.`)
    return await file.readFile()
  } finally {
    await file.close()
  }
}
