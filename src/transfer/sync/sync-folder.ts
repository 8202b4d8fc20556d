import { readFile, realpath, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { AppError } from '../../errors.ts'
import type { Prompt, Skill, User } from '../../library/items.ts'
import type { LibraryStore } from '../../library/ports/store.ts'
import type { SyncedPath } from '../../library/ports/sync.ts'
import { checkSkillFiles, decodeText, SKILL_MD, type SkillFile } from '../../library/skill.ts'
import { diffByLines } from '../../library/text-diff.ts'
import type { Visibility } from '../../library/visibility.ts'
import { knownCategory, readCategories } from '../import-prompts.ts'
import { lstatIfThere, readRegularFile } from '../regular-file.ts'
import { toSkillDraft } from '../skill-folder.ts'
import { kindOf, planSync, type SyncedItem, type SyncStep } from './plan-sync.ts'
import { conflictName, digestSkill, MAX_PATHS, MAX_PROMPT_BYTES, readSkill, scanFolder } from './scan-folder.ts'
import { digestPrompt, isSamePrompt, readSyncedPrompt, type SyncedDraft, sha256, writeSyncedPrompt } from './synced-prompt.ts'
import { changedMeanwhile, type FolderWriter, openFolderWriter } from './write-file.ts'

/** Note of the versions that a sync writes. */
const NOTE = 'Synced'
const PROMPTS_A_PAGE = 200
const SKILLS_A_PAGE = 5
/** Most changed lines of a conflict that are shown, and longest line, in characters. */
const MAX_DIFF_LINES = 40
const MAX_LINE = 200
const MAX_TARGET = 1_000
/** How much of a digest marks a copy; the longer ones are for copies that somebody edited. */
const COPY_MARKS = [12, 20, 32, 64]

/** What a sync did, or would do. */
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
  /** What was not synced, and why. */
  remarks: string[]
  /** Files in the folder that a sync wrote or removed, also conflict copies: never a whole folder, which may hold secrets. */
  touched: string[]
}

export interface SyncOptions {
  /** Carries deletions over: to the trash in the library. Default: false */
  readonly deletes?: boolean
  /** Says what would be done, and writes nothing. Default: false */
  readonly isDryRun?: boolean
  /** Names the folder in the state. Default: its path */
  readonly target?: string
  /** Milliseconds. */
  readonly now: number
}

interface Run {
  readonly store: LibraryStore
  readonly user: User
  readonly root: string
  readonly target: string
  readonly isDryRun: boolean
  readonly writer: FolderWriter
  readonly report: SyncReport
  readonly categories: ReadonlySet<string>
}

/**
 * Syncs a user's prompts and skills with a folder, in both directions. Nothing is merged: where both sides changed, the library's version
 * stays and the folder's is kept beside it. Repeat a sync that was killed.
 * @throws AppError `invalid_input` for a folder that cannot be synced, `conflict` when deletions would empty a side
 */
export async function syncFolder(store: LibraryStore, user: User, folder: string, options: SyncOptions): Promise<SyncReport> {
  const root = await openRoot(folder)
  const target = options.target ?? root
  if (target.length > MAX_TARGET) throw new AppError('invalid_input', `The folder's path has more than ${MAX_TARGET} characters.`)
  const report: SyncReport = {
    created: 0,
    updated: 0,
    written: 0,
    conflicts: 0,
    deleted: 0,
    left: 0,
    refused: 0,
    changes: [],
    remarks: [],
    touched: [],
  }
  const state = await store.syncs.listSynced(user.id, target)
  const items = await readItems(store, user.id)
  const itemOf = new Map(state.map((row) => [row.path, row.itemId]))
  const bySlug = new Map([...items.values()].map((item) => [`skills/${item.slug}`, item]))
  const scan = await scanFolder(root, (path) => new Set((items.get(itemOf.get(path) ?? '') ?? bySlug.get(path))?.filenames))
  report.remarks.push(...scan.remarks)
  report.refused += scan.refused.size
  if (scan.conflictCopies > 0) {
    report.remarks.push(`${scan.conflictCopies} copies of conflicts are in the folder. Take from them what you need, then delete them.`)
  }
  const steps = planSync({ state, items, folder: scan.folder, refused: scan.refused }, options.deletes ?? false)
  const writer = await openFolderWriter(root, options.now)
  const categories = await readCategories(store)
  const run: Run = { store, user, root, target, isDryRun: options.isDryRun ?? false, writer, report, categories }
  try {
    for (const step of steps) {
      try {
        await takeStep(run, step)
      } catch (error) {
        const why = toReason(error)
        report.refused++
        report.remarks.push(`${step.path} is not synced: ${why.replace(/\.$/, '')}.`)
      }
    }
  } finally {
    await writer.close()
  }
  return report
}

function toReason(error: unknown): string {
  if (error instanceof AppError && error.code !== 'internal') return error.message
  // Of the file system.
  if (error instanceof Error && 'syscall' in error && 'code' in error) return `${error.syscall} failed with ${error.code}`
  throw error
}

async function openRoot(folder: string): Promise<string> {
  const root = await realpath(folder).catch(() => null)
  if (root === null || !(await stat(root)).isDirectory()) {
    throw new AppError('invalid_input', `${folder} is no folder. Create it first.`)
  }
  return root
}

/** The user's items without their texts. */
async function readItems(store: LibraryStore, ownerId: string): Promise<Map<string, SyncedItem>> {
  const items = new Map<string, SyncedItem>()
  const add = (item: SyncedItem) => {
    if (items.size >= MAX_PATHS) throw new AppError('invalid_input', `The user has more than ${MAX_PATHS} items, the limit of a sync.`)
    items.set(item.id, item)
  }
  await store.transfer.readSnapshot(async (reader) => {
    for (let after = 0; ; ) {
      const page = await reader.exportPrompts(ownerId, after, PROMPTS_A_PAGE)
      for (const { prompt, order } of page) {
        after = order
        add({ kind: 'prompt', id: prompt.id, slug: prompt.slug, digest: digestPrompt(prompt), filenames: [] })
      }
      if (page.length < PROMPTS_A_PAGE) break
    }
    for (let after = 0; ; ) {
      const page = await reader.exportSkills(ownerId, after, SKILLS_A_PAGE)
      for (const { skill, files, order } of page) {
        after = order
        const filenames = files.map((file) => file.filename)
        add({ kind: 'skill', id: skill.id, slug: skill.slug, digest: digestSkill(files), filenames })
      }
      if (page.length < SKILLS_A_PAGE) break
    }
  })
  return items
}

async function findPrompt({ user }: Run, store: LibraryStore, id: string): Promise<Prompt> {
  const [found] = await store.transfer.exportPrompts(user.id, 0, 1, [id])
  if (!found) throw new AppError('conflict', 'the item was deleted while it was synced. Sync again.')
  return found.prompt
}

async function findSkill({ user }: Run, store: LibraryStore, id: string): Promise<{ skill: Skill; files: readonly SkillFile[] }> {
  const [found] = await store.transfer.exportSkills(user.id, 0, 1, [id])
  if (!found) throw new AppError('conflict', 'the item was deleted while it was synced. Sync again.')
  return found
}

async function takeStep(run: Run, step: SyncStep): Promise<void> {
  const { store, user, target, report, isDryRun } = run
  const save = (from: SyncedPath | null, to: SyncedPath | null) => store.syncs.saveSynced(user.id, target, from, to)
  const { path } = step
  switch (step.do) {
    case 'move':
      report.changes.push(`${step.from.path} is now ${path}.`)
      if (isDryRun) return
      return await store.inTransaction(async (transaction) => {
        await transaction.syncs.saveSynced(user.id, target, step.from, null)
        await transaction.syncs.saveSynced(user.id, target, null, { ...step.from, path })
      })
    case 'drop-state':
      if (!isDryRun) await save(step.from, null)
      return
    case 'refuse':
      throw new AppError('invalid_input', step.why)
    case 'leave':
      report.left++
      report.remarks.push(
        step.isFileMissing
          ? `${path} was deleted in the folder and stays in the library. --delete moves it to the trash.`
          : `${path} was deleted in the library and stays in the folder. --delete removes it.`,
      )
      return
    case 'create-item':
    case 'update-item':
      return await (kindOf(path) === 'prompt' ? takePrompt(run, step) : takeSkill(run, step))
    case 'write-file':
      if (!isDryRun) await writeOut(run, step)
      report.written++
      report.changes.push(`${path}: ${step.entry ? 'written' : 'new'} in the folder.`)
      return
    case 'compare':
      return await (kindOf(path) === 'prompt' ? comparePrompt(run, step) : compareSkill(run, step))
    case 'trash-item':
      // The look at the folder was a while ago.
      if ((await lstatIfThere(join(run.root, path))) !== null) throw changedMeanwhile(path)
      if (!isDryRun) {
        await store.inTransaction(async (transaction) => {
          await requireUnchanged(run, transaction, step.item, path)
          await transaction.items.setDeleted(step.item.kind, step.item.id, user.id, true)
          await transaction.syncs.saveSynced(user.id, target, step.from, null)
        })
      }
      report.deleted++
      report.changes.push(`${path}: moved to the trash of the library.`)
      return
    case 'remove-file':
      if (!isDryRun) {
        await removeFromFolder(run, path, step.entry.digest)
        await save(step.from, null)
      }
      report.deleted++
      report.changes.push(`${path}: removed from the folder.`)
      return
  }
}

async function requireUnchanged(run: Run, store: LibraryStore, item: SyncedItem, path: string): Promise<void> {
  const digest =
    item.kind === 'prompt' ? digestPrompt(await findPrompt(run, store, item.id)) : digestSkill((await findSkill(run, store, item.id)).files)
  if (digest !== item.digest) throw changedMeanwhile(path)
}

type Taken = Extract<SyncStep, { do: 'create-item' | 'update-item' }>

async function readPromptBytes({ root }: Run, path: string, digest: string): Promise<Buffer> {
  const bytes = await readRegularFile(join(root, path), MAX_PROMPT_BYTES)
  if (bytes === null || sha256(bytes) !== digest) throw changedMeanwhile(path)
  return bytes
}

/** What a prompt's file says, with a category that exists. */
function readDraft({ categories, report }: Run, path: string, bytes: Uint8Array, current: Prompt | null): SyncedDraft {
  const draft = readSyncedPrompt(basename(path), bytes, current)
  const { category, remark } = knownCategory(draft.category, categories, { leavesOutUnknownCategories: true })
  if (remark === undefined) return draft
  report.remarks.push(`${path}: ${remark}.`)
  return { ...draft, category: category ?? current?.category?.slug ?? null }
}

async function takePrompt(run: Run, step: Taken): Promise<void> {
  const { store, user, target, report, isDryRun } = run
  const { path, entry, from } = step
  const bytes = await readPromptBytes(run, path, entry.digest)
  const editor = { userId: user.id, note: NOTE }
  const current = step.do === 'update-item' ? await findPrompt(run, store, step.item.id) : null
  const { title, content, description, type, category, tags } = readDraft(run, path, bytes, current)
  const fields = { title, content, description, type, category, tags }
  if (!isDryRun) {
    await store.inTransaction(async (transaction) => {
      let id: string
      if (step.do === 'update-item') {
        await requireUnchanged(run, transaction, step.item, path)
        id = step.item.id
        await transaction.items.changePrompt(id, editor, () => fields)
      } else {
        id = (await transaction.items.createPrompt(editor, { ...fields, visibility: visibilityOf(run, step) })).id
      }
      const saved = await findPrompt(run, transaction, id)
      const to = { path, itemId: id, digest: entry.digest, libraryDigest: digestPrompt(saved), version: saved.version }
      await transaction.syncs.saveSynced(user.id, target, from, to)
    })
  }
  noteTaken(report, step)
}

function visibilityOf({ user }: Run, step: Extract<SyncStep, { do: 'create-item' }>): Visibility {
  return step.isPrivate ? 'private' : user.defaultVisibility
}

function noteTaken(report: SyncReport, { do: done, path }: Taken): void {
  if (done === 'create-item') report.created++
  else report.updated++
  report.changes.push(`${path}: ${done === 'create-item' ? 'new' : 'updated'} in the library.`)
}

async function readSkillFiles({ root }: Run, path: string, digest: string, known: readonly string[]): Promise<readonly SkillFile[]> {
  const { files } = await readSkill(root, path, new Set(known))
  if (digestSkill(files) !== digest) throw changedMeanwhile(path)
  return files
}

async function takeSkill(run: Run, step: Taken): Promise<void> {
  const { store, user, target, report, isDryRun } = run
  const { path, entry, from } = step
  const name = basename(path)
  const editor = { userId: user.id, note: NOTE }
  const files = await readSkillFiles(run, path, entry.digest, step.do === 'update-item' ? step.item.filenames : [])
  const draft = toSkillDraft(name, files, [])
  if (!isDryRun) {
    await store.inTransaction(async (transaction) => {
      let id: string
      if (step.do === 'update-item') {
        id = step.item.id
        const { skill, files: old } = await findSkill(run, transaction, id)
        if (digestSkill(old) !== step.item.digest) throw changedMeanwhile(path)
        // A title and description that followed SKILL.md keep following it.
        const before = toSkillDraft(name, old, [])
        await transaction.items.changeSkill(id, editor, () => ({
          files,
          title: skill.title === before.title ? draft.title : undefined,
          description: skill.description === before.description ? draft.description : undefined,
        }))
      } else {
        const { title, description } = draft
        const fields = { title, description, category: null, tags: [], files, visibility: visibilityOf(run, step) }
        id = (await transaction.items.createSkill(editor, fields)).id
      }
      const saved = await findSkill(run, transaction, id)
      const to = { path, itemId: id, digest: entry.digest, libraryDigest: digestSkill(saved.files), version: saved.skill.version }
      await transaction.syncs.saveSynced(user.id, target, from, to)
    })
  }
  noteTaken(report, step)
}

type Written = Pick<Extract<SyncStep, { do: 'write-file' }>, 'path' | 'item' | 'entry' | 'from'>

/** Writes an item to the folder, over what the folder had, and notes the state. */
async function writeOut(run: Run, { path, item, entry, from }: Written): Promise<void> {
  const { store, user, target, report, writer, root } = run
  if (item.kind === 'prompt') {
    const prompt = await findPrompt(run, store, item.id)
    const before = entry ? decodeText(await readPromptBytes(run, path, entry.digest)) : null
    const text = writeSyncedPrompt(prompt, before, run.categories)
    const bytes = Buffer.from(text, 'utf8')
    const digest = sha256(bytes)
    if (digest !== entry?.digest) {
      const late = await writer.write(path, bytes, entry?.digest ?? null)
      report.touched.push(path)
      if (late) await keepCopy(run, path, [{ filename: '', bytes: late }])
    }
    const to = { path, itemId: item.id, digest, libraryDigest: digestPrompt(prompt), version: prompt.version }
    return await store.syncs.saveSynced(user.id, target, from, to)
  }
  const { skill, files } = await findSkill(run, store, item.id)
  checkSkillFiles(files)
  const old = new Map(
    entry ? (await readSkillFiles(run, path, entry.digest, item.filenames)).map(({ filename, bytes }) => [filename, sha256(bytes)]) : [],
  )
  const names = new Set(files.map((file) => file.filename))
  for (const [filename, digest] of old) {
    // SKILL.md is always among the names, so the folder never vanishes.
    if (names.has(filename)) continue
    await writer.remove(`${path}/${filename}`, digest)
    report.touched.push(`${path}/${filename}`)
  }
  for (const { filename, bytes } of files) {
    const expected = old.get(filename) ?? null
    if (expected === sha256(bytes)) {
      // A killed sync may have written it, and not committed it.
      report.touched.push(`${path}/${filename}`)
      continue
    }
    const late = await writer.write(`${path}/${filename}`, bytes, expected)
    report.touched.push(`${path}/${filename}`)
    if (late) await keepCopy(run, path, [{ filename, bytes: late }])
  }
  // What else was written into the folder meanwhile is a change of the folder, which the next sync finds.
  const { files: now } = await readSkill(root, path, names)
  const digest = digestSkill(files)
  if (digestSkill(now) !== digest) report.remarks.push(`${path} has other files than the library. The next sync compares them.`)
  await store.syncs.saveSynced(user.id, target, from, { path, itemId: item.id, digest, libraryDigest: digest, version: skill.version })
}

type Compared = Extract<SyncStep, { do: 'compare' }>

async function comparePrompt(run: Run, step: Compared): Promise<void> {
  const { store, user, target, isDryRun } = run
  const { path, item, entry, from } = step
  const bytes = await readPromptBytes(run, path, entry.digest)
  const prompt = await findPrompt(run, store, item.id)
  const draft = await Promise.resolve()
    .then(() => readDraft(run, path, bytes, prompt))
    .catch(() => null)
  if (draft && isSamePrompt(prompt, draft)) {
    if (isDryRun) return
    const to = { path, itemId: item.id, digest: entry.digest, libraryDigest: digestPrompt(prompt), version: prompt.version }
    return await store.syncs.saveSynced(user.id, target, from, to)
  }
  const copy = isDryRun ? conflictName(path, entry.digest.slice(0, COPY_MARKS[0])) : await keepCopy(run, path, [{ filename: '', bytes }])
  if (!isDryRun) await writeOut(run, step)
  const text = decodeText(bytes)
  const diff = text === null ? '' : showDiff(writeSyncedPrompt(prompt, null, run.categories), text)
  noteConflict(run.report, path, copy, diff)
}

async function compareSkill(run: Run, step: Compared): Promise<void> {
  const { store, user, target, isDryRun, report } = run
  const { path, item, entry, from } = step
  const files = await readSkillFiles(run, path, entry.digest, item.filenames)
  const { skill, files: current } = await findSkill(run, store, item.id)
  const digest = digestSkill(current)
  if (digest === entry.digest) {
    if (isDryRun) return
    return await store.syncs.saveSynced(user.id, target, from, {
      path,
      itemId: item.id,
      digest,
      libraryDigest: digest,
      version: skill.version,
    })
  }
  // A sync that was killed leaves some files of the old version and some of the new one: nothing of the folder's own.
  const actor = { kind: 'user', userId: user.id, username: user.username, scopes: new Set(['read'] as const) } as const
  const base = from && from.itemId === item.id ? await store.items.findVersion(actor, item.id, from.version) : null
  const known = new Set([...(base?.files ?? []), ...current].map(({ filename, bytes }) => `${filename}\0${sha256(bytes)}`))
  if (files.every(({ filename, bytes }) => known.has(`${filename}\0${sha256(bytes)}`))) {
    if (!isDryRun) await writeOut(run, step)
    report.written++
    report.changes.push(`${path}: written in the folder.`)
    return
  }
  const copy = isDryRun ? conflictName(path, entry.digest.slice(0, COPY_MARKS[0])) : await keepCopy(run, path, files)
  if (!isDryRun) await writeOut(run, step)
  const find = (list: readonly SkillFile[], name: string) => list.find((file) => file.filename === name)?.bytes ?? new Uint8Array()
  const changed = [...new Set([...files, ...current].map((file) => file.filename))].filter(
    (name) => Buffer.compare(find(files, name), find(current, name)) !== 0,
  )
  const first = changed.includes(SKILL_MD) ? SKILL_MD : changed[0]
  const [one, other] = first === undefined ? [null, null] : [decodeText(find(current, first)), decodeText(find(files, first))]
  const diff = one === null || other === null ? '' : showDiff(one, other)
  noteConflict(report, path, copy, `Files that differ: ${changed.slice(0, 10).join(', ')}${changed.length > 10 ? ', …' : ''}\n${diff}`)
}

function noteConflict(report: SyncReport, path: string, copy: string, diff: string): void {
  report.conflicts++
  report.changes.push(
    `Conflict: ${path} changed on both sides. The library's version stays; the folder's is kept as ${copy}.\n${diff}`.trimEnd(),
  )
}

/** The changed lines: `-` of the library, `+` of the folder. */
function showDiff(library: string, folder: string): string {
  const lines = diffByLines(library, folder).flatMap(({ kind, text }) =>
    kind === 'same'
      ? []
      : text
          .replace(/\n$/, '')
          .split('\n')
          .map((line) => `${kind === 'added' ? '+' : '-'} ${line.slice(0, MAX_LINE)}`),
  )
  return [
    ...lines.slice(0, MAX_DIFF_LINES),
    ...(lines.length > MAX_DIFF_LINES ? [`… ${lines.length - MAX_DIFF_LINES} more lines`] : []),
  ].join('\n')
}

/** Keeps what the folder had beside it: a file, or a folder of a skill's files. The same content is kept once. @returns its path */
async function keepCopy({ root, writer, report }: Run, path: string, files: readonly SkillFile[]): Promise<string> {
  const digest = digestSkill(files)
  for (const length of COPY_MARKS) {
    const copy = conflictName(path, digest.slice(0, length))
    const missing: (readonly [string, Uint8Array])[] = []
    const names: string[] = []
    let isOther = false
    for (const { filename, bytes } of files) {
      const name = filename === '' ? copy : `${copy}/${filename}`
      names.push(name)
      const there = await readFile(join(root, name)).catch(() => null)
      if (there === null) missing.push([name, bytes])
      // Somebody works in the copy.
      else if (Buffer.compare(there, bytes) !== 0) isOther = true
    }
    if (isOther) continue
    for (const [name, bytes] of missing) await writer.write(name, bytes, null)
    report.touched.push(...names)
    return copy
  }
  throw new AppError('conflict', `its copies of conflicts were all edited. Delete them, and sync again`)
}

async function removeFromFolder(run: Run, path: string, digest: string): Promise<void> {
  const removeFile = async (name: string, expected: string) => {
    await run.writer.remove(name, expected)
    run.report.touched.push(name)
  }
  if (kindOf(path) === 'prompt') return await removeFile(path, digest)
  for (const { filename, bytes } of await readSkillFiles(run, path, digest, [])) await removeFile(`${path}/${filename}`, sha256(bytes))
}
