import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, link, lstat, mkdir, open, readdir, rename, rm, rmdir, stat, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { MAX_DESCRIPTION, MAX_TITLE } from '../../domain/items/fields.ts'
import type { Prompt } from '../../domain/items/items.ts'
import { describeBody, isSameBody, messagesField, renderMessages } from '../../domain/prompts/body.ts'
import { writePromptMarkdown } from '../../domain/service/transfer.ts'
import { findFrontmatterFault, readFrontmatterFields, setFrontmatterFields } from '../../domain/skills/frontmatter.ts'
import { decodeText } from '../../domain/skills/skill.ts'
import { cutCharacters, isLongerThan } from '../../domain/text/characters.ts'
import { AppError } from '../../errors.ts'
import { hasTags } from '../prepare-prompt.ts'
import { type PromptDraft, toPromptDraft } from '../prompt-file.ts'

/** The draft in a synced file. */
export type SyncedDraft = Pick<
  PromptDraft,
  'title' | 'content' | 'messages' | 'config' | 'syntax' | 'description' | 'type' | 'category' | 'tags'
>

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function toFiled(prompt: Prompt) {
  return { ...prompt, category: prompt.category?.slug ?? null, tags: prompt.tags.map((tag) => tag.name) }
}

/** Digest of a prompt as a file, which changes with everything that the file shows. */
export function digestPrompt(prompt: Prompt): string {
  return sha256(writePromptMarkdown(toFiled(prompt)))
}

/**
 * A prompt as its file.
 * @param before the text that it replaces, whose other frontmatter fields and comments stay
 * @param categories the slugs of all: one in `before` that is not among them was never taken, so it stays where the prompt has none
 */
export function writeSyncedPrompt(prompt: Prompt, before: string | null, categories: ReadonlySet<string>): string {
  const filed = toFiled(prompt)
  const { slug, title, description, type, author, category, tags, content } = filed
  const fields = {
    name: slug,
    title,
    description: description ?? undefined,
    type,
    author,
    ...(category === null && hasOwnCategory(before, categories) ? {} : { category: category ?? undefined }),
    tags: tags.length === 0 ? undefined : tags,
    messages: undefined,
    config: undefined,
    syntax: undefined,
    ...describeBody(filed),
  }
  const head = before === null ? null : setFrontmatterFields(before, fields)
  return head === null ? writePromptMarkdown(filed) : `${head}\n${content}`
}

function hasOwnCategory(text: string | null, categories: ReadonlySet<string>): boolean {
  const category = text === null ? null : readFrontmatterFields(text)?.fields['category']
  return typeof category === 'string' && category !== '' && !categories.has(category)
}

/** Longest values of fields, in characters. */
const LIMITS = { title: MAX_TITLE, description: MAX_DESCRIPTION, type: Number.POSITIVE_INFINITY, category: Number.POSITIVE_INFINITY }

/** Refuses what would be lost: the file would get the cut value when the library changes. */
function requireStorable(fields: Readonly<Record<string, unknown>>): void {
  const isText = (value: unknown) => typeof value === 'string' || typeof value === 'number'
  for (const [name, limit] of Object.entries(LIMITS)) {
    const value = fields[name]
    if (value === undefined || value === null) continue
    if (!isText(value)) throw new AppError('invalid_input', `its field "${name}" is not a text. Put it in quotes`)
    if (isLongerThan(String(value).trim(), limit)) {
      throw new AppError('invalid_input', `its field "${name}" has more than ${limit} characters, the limit`)
    }
  }
  const tags = fields['tags'] ?? []
  if (!isText(tags) && !(Array.isArray(tags) && tags.every(isText))) {
    throw new AppError('invalid_input', 'its field "tags" is neither a list of texts nor a text')
  }
}

/** Refuses a chat prompt's text that was edited: its messages are in the frontmatter, and the edit would be lost. @throws AppError `invalid_input` */
function refuseOtherText(content: string, messages: unknown, current: Prompt | null): void {
  const read = messagesField.safeParse(messages)
  if (!read.success || content.trim() === '') return
  if (content === renderMessages(read.data) || content === current?.content) return
  throw new AppError('invalid_input', 'its text was changed, but its messages are in the frontmatter. Change them there')
}

/**
 * Reads a synced file: the reverse of {@link writeSyncedPrompt}.
 * @param current the item, which gives what the file leaves out
 * @throws AppError `invalid_input` for a text that is no prompt, or says what cannot be stored as it is
 */
export function readSyncedPrompt(filename: string, bytes: Uint8Array, current: Prompt | null): SyncedDraft {
  const text = decodeText(bytes)
  if (text === null) throw new AppError('invalid_input', 'it is not UTF-8 text')
  const read = readFrontmatterFields(text)
  const fault = read === null ? findFrontmatterFault(text) : null
  if (fault !== null) throw new AppError('invalid_input', fault)
  const fields = read?.fields ?? {}
  requireStorable(fields)
  const content = read === null ? text : read.body.replace(/^\r?\n/, '')
  const heading = /^#[ \t]+(.+?)[ \t#]*$/m.exec(content.slice(0, 2_000))?.[1]
  const said = (name: string) => {
    const value = fields[name]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
  }
  const tags = fields['tags']
  const before = read === null ? current : null
  refuseOtherText(content, fields['messages'] ?? before?.messages, current)
  const title = said('title') ?? current?.title ?? heading ?? said('name') ?? filename.replace(/\.md$/i, '').replaceAll(/[-_]+/g, ' ')
  const made = toPromptDraft(
    {
      title: cutCharacters(title.trim(), MAX_TITLE),
      content,
      description: said('description') ?? before?.description ?? null,
      type: said('type') ?? current?.type,
      category: said('category') ?? before?.category?.slug ?? null,
      tags: Array.isArray(tags) ? tags.map(String) : (said('tags') ?? before?.tags.map((tag) => tag.name) ?? []),
      messages: fields['messages'] ?? before?.messages,
      config: fields['config'] ?? before?.config,
      syntax: fields['syntax'],
    },
    { syntax: current?.content === content ? current.syntax : 2 },
  )
  if ('fault' in made) throw new AppError('invalid_input', made.fault)
  return made.draft
}

/** Whether a file says what the item says. */
export function isSamePrompt(prompt: Prompt, draft: SyncedDraft): boolean {
  return (
    prompt.title === draft.title &&
    isSameBody(prompt, draft) &&
    prompt.description === draft.description &&
    prompt.type === draft.type &&
    (prompt.category?.slug ?? null) === draft.category &&
    hasTags(prompt, draft.tags)
  )
}

/** Where files are written before they are renamed: beside what is synced, so that a rename is enough. */
const TEMPORARY = '.commonplace-sync'
/** Files of a killed sync are removed after this. */
const STALE_MS = 3600 * 1000
const FILE_MODE = 0o666

/** A file that is not as it was when it was read: left as it is, for the next sync. */
export function changedMeanwhile(path: string): AppError {
  return new AppError('conflict', `${path} changed while it was synced. Sync again.`)
}

/** Writes files below a folder, each whole or not at all. */
export type FolderWriter = Awaited<ReturnType<typeof openFolderWriter>>

export async function openFolderWriter(root: string, now: number) {
  const temporary = join(root, TEMPORARY)
  let isMade = false
  const stage = async (bytes: Uint8Array, mode: number): Promise<string> => {
    if (!isMade) {
      await requireFolder(root, TEMPORARY)
      await writeFile(join(temporary, '.gitignore'), '*\n', { flag: 'w' })
      isMade = true
    }
    const path = join(temporary, `${process.pid}-${randomBytes(8).toString('hex')}`)
    await writeFile(path, bytes, { flag: 'wx', flush: true, mode })
    return path
  }
  await removeStale(temporary, now)
  return {
    /**
     * Writes a file.
     * @param expected digest of what is there, null for nothing
     * @param mode bits that it has besides those of a new file, or of the one that was there
     * @returns what somebody wrote into the old file in the last moment, which is in no other place now; usually null
     * @throws AppError `conflict` when something else is there, `invalid_input` when a folder above it is a link
     */
    async write(path: string, bytes: Uint8Array, expected: string | null, mode: number = 0): Promise<Buffer | null> {
      const target = join(root, path)
      await requireFolder(root, dirname(path))
      if (expected === null) {
        const staged = await stage(bytes, FILE_MODE | mode)
        try {
          await linkNew(staged, target, path)
        } finally {
          await rm(staged, { force: true })
        }
        return null
      }
      return await withUnchanged(path, target, expected, async (file) => {
        const staged = await stage(bytes, ((await file.stat()).mode & 0o777) | mode)
        try {
          await requireSameFile(file, target, path)
          await rename(staged, target)
        } catch (error) {
          await rm(staged, { force: true })
          throw error
        }
        // Who had the old file open may have written into it since it was compared.
        const late = await readAll(file)
        return sha256(late) === expected ? null : late
      })
    },
    /** Removes a file, and the folders that are empty then. @throws AppError as `write` */
    async remove(path: string, expected: string): Promise<void> {
      const target = join(root, path)
      await withUnchanged(path, target, expected, async (file) => {
        await requireSameFile(file, target, path)
        await unlink(target)
      })
      try {
        for (let folder = dirname(path); folder.includes('/'); folder = dirname(folder)) await rmdir(join(root, folder))
      } catch {
        // It has other files.
      }
    },
    /** Removes temporary files. */
    async close(): Promise<void> {
      if (!isMade) return
      await rm(join(temporary, '.gitignore'), { force: true })
      // Another sync may use it.
      await rmdir(temporary).catch(() => {})
    },
  }
}

/** Creates the folders of a path, none of which may be a link. */
async function requireFolder(root: string, path: string): Promise<void> {
  let at = root
  for (const part of path.split('/')) {
    at = join(at, part)
    await mkdir(at).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    if (!(await lstat(at)).isDirectory()) throw new AppError('invalid_input', `${at} is not a folder, and links are not followed.`)
  }
}

/** Gives a file its name when nothing has that name. */
async function linkNew(from: string, to: string, path: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'EEXIST') throw changedMeanwhile(path)
    // A file system without hard links.
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && code !== 'ENOSYS') throw error
    if (await lstat(to).catch(() => null)) throw changedMeanwhile(path)
    await rename(from, to)
  }
}

async function withUnchanged<T>(path: string, target: string, expected: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' || error.code === 'ELOOP' ? changedMeanwhile(path) : error
  })
  try {
    if (!(await file.stat()).isFile() || sha256(await readAll(file)) !== expected) throw changedMeanwhile(path)
    return await work(file)
  } finally {
    await file.close()
  }
}

async function requireSameFile(file: FileHandle, target: string, path: string): Promise<void> {
  const [one, other] = await Promise.all([file.stat(), stat(target).catch(() => null)])
  if (one.ino !== other?.ino || one.mtimeMs !== other.mtimeMs) throw changedMeanwhile(path)
}

async function readAll(file: FileHandle): Promise<Buffer> {
  const { size } = await file.stat()
  const bytes = Buffer.alloc(size)
  const { bytesRead } = await file.read(bytes, 0, size, 0)
  return bytes.subarray(0, bytesRead)
}

async function removeStale(temporary: string, now: number): Promise<void> {
  const about = await lstat(temporary).catch(() => null)
  if (!about?.isDirectory()) return
  for (const name of await readdir(temporary)) {
    const path = join(temporary, name)
    const { mtimeMs } = (await lstat(path).catch(() => null)) ?? { mtimeMs: now }
    if (/^\d+-[0-9a-f]{16}$/.test(name) && mtimeMs < now - STALE_MS) await rm(path, { force: true })
  }
}
