import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { slugify } from '../../domain/items/slug.ts'
import type { Visibility } from '../../domain/items/visibility.ts'
import { actorOf } from '../../domain/people/actor.ts'
import { makeBody } from '../../domain/prompts/body.ts'
import { checkSkillFiles, decodeText, fileMode, SKILL_MD, type SkillFile } from '../../domain/skills/skill.ts'
import { diffByLines } from '../../domain/text/text-diff.ts'
import { AppError } from '../../errors.ts'
import type { LibraryStore } from '../../storage/store.ts'
import { lstatIfThere, toSkillDraft } from '../skill-folder.ts'
import { kindOf, type SyncedItem, type SyncStep } from './plan-sync.ts'
import {
  conflictName,
  digestSkill,
  findPrompt,
  findSkill,
  type Run,
  readDraft,
  readPromptBytes,
  readSkill,
  readSkillFiles,
  saveState,
} from './scan-folder.ts'
import { changedMeanwhile, isSamePrompt, sha256, writeSyncedPrompt } from './synced-files.ts'

/** How much of a digest marks a copy; the longer ones are for copies that somebody edited. */
const COPY_MARKS = [12, 20, 32, 64]

type Written = Pick<Extract<SyncStep, { do: 'write-file' }>, 'path' | 'item' | 'entry' | 'from'>

/** Writes an item to the folder, over what the folder had, and notes the state. */
async function writeOut(run: Run, { path, item, entry, from }: Written): Promise<void> {
  const { store, report, writer, root } = run
  if (item.kind === 'prompt') {
    const { prompt, noted } = await findPrompt(run, store, item.id)
    const before = entry ? decodeText(await readPromptBytes(run, path, entry.digest)) : null
    const bytes = Buffer.from(writeSyncedPrompt(prompt, before, run.categories), 'utf8')
    const digest = sha256(bytes)
    if (digest !== entry?.digest) {
      const late = await writer.write(path, bytes, entry?.digest ?? null)
      if (late) await keepCopy(run, path, [{ filename: '', bytes: late }])
    }
    return await saveState(run, from, { path, digest, ...noted })
  }
  const { files, noted } = await findSkill(run, store, item.id)
  checkSkillFiles(files)
  const old = new Map(
    entry ? (await readSkillFiles(run, path, entry.digest, item.filenames)).map(({ filename, bytes }) => [filename, sha256(bytes)]) : [],
  )
  const names = new Set(files.map((file) => file.filename))
  for (const [filename, digest] of old) {
    // SKILL.md is always among the names, so the folder never vanishes.
    if (!names.has(filename)) await writer.remove(`${path}/${filename}`, digest)
  }
  for (const file of files) {
    const { filename, bytes } = file
    const expected = old.get(filename) ?? null
    if (expected === sha256(bytes)) continue
    const late = await writer.write(`${path}/${filename}`, bytes, expected, fileMode(file) & 0o111)
    if (late) await keepCopy(run, path, [{ filename, bytes: late }])
  }
  // What else was written into the folder meanwhile is a change of the folder, which the next sync finds.
  const { files: now } = await readSkill(root, path, names)
  const digest = noted.libraryDigest
  if (digestSkill(now) !== digest) report.remarks.push(`${path} has other files than the library. The next sync compares them.`)
  await saveState(run, from, { path, digest, ...noted })
}

/** Keeps what the folder had beside it: a file, or a folder of a skill's files. The same content is kept once. @returns its path */
async function keepCopy({ root, writer }: Run, path: string, files: readonly SkillFile[]): Promise<string> {
  const digest = digestSkill(files)
  for (const length of COPY_MARKS) {
    const copy = conflictName(path, digest.slice(0, length))
    const missing: (readonly [string, Uint8Array])[] = []
    let isOther = false
    for (const { filename, bytes } of files) {
      const name = filename === '' ? copy : `${copy}/${filename}`
      const there = await readFile(join(root, name)).catch(() => null)
      if (there === null) missing.push([name, bytes])
      // Somebody works in the copy.
      else if (Buffer.compare(there, bytes) !== 0) isOther = true
    }
    if (isOther) continue
    for (const [name, bytes] of missing) await writer.write(name, bytes, null)
    return copy
  }
  throw new AppError('conflict', `its copies of conflicts were all edited. Delete them, and sync again`)
}

/** Removes what was read of a path, and nothing that is newer. */
async function removeFromFolder(run: Run, path: string, digest: string): Promise<void> {
  if (kindOf(path) === 'prompt') return await run.writer.remove(path, digest)
  for (const { filename, bytes } of await readSkillFiles(run, path, digest, []))
    await run.writer.remove(`${path}/${filename}`, sha256(bytes))
}

/** Most changed lines of a conflict that are shown, and longest line, in characters. */
const MAX_DIFF_LINES = 40
const MAX_LINE = 200

type Compared = Extract<SyncStep, { do: 'compare' }>

/** Notes that a file and a prompt are equal, or keeps both. */
async function comparePrompt(run: Run, step: Compared): Promise<void> {
  const { store, isDryRun } = run
  const { path, item, entry, from } = step
  const bytes = await readPromptBytes(run, path, entry.digest)
  const { prompt, noted } = await findPrompt(run, store, item.id)
  const draft = await Promise.resolve()
    .then(() => readDraft(run, path, bytes, prompt))
    .catch(() => null)
  if (draft && isSamePrompt(prompt, draft)) {
    if (!isDryRun) await saveState(run, from, { path, digest: entry.digest, ...noted })
    return
  }
  const text = decodeText(bytes)
  const diff = text === null ? '' : showDiff(writeSyncedPrompt(prompt, null, run.categories), text)
  await keepBoth(run, step, [{ filename: '', bytes }], diff)
}

/** Notes that a folder and a skill are equal, or keeps both. */
async function compareSkill(run: Run, step: Compared): Promise<void> {
  const { store, user, isDryRun, report } = run
  const { path, item, entry, from } = step
  const files = await readSkillFiles(run, path, entry.digest, item.filenames)
  const { files: current, noted } = await findSkill(run, store, item.id)
  if (noted.libraryDigest === entry.digest) {
    if (!isDryRun) await saveState(run, from, { path, digest: entry.digest, ...noted })
    return
  }
  // A sync that was killed leaves some files of the old version and some of the new one: nothing of the folder's own.
  const base = from && from.itemId === item.id ? await store.items.findVersion(actorOf(user, ['read']), item.id, from.version) : null
  const known = new Set([...(base?.files ?? []), ...current].map(({ filename, bytes }) => `${filename}\0${sha256(bytes)}`))
  if (files.every(({ filename, bytes }) => known.has(`${filename}\0${sha256(bytes)}`))) {
    if (!isDryRun) await writeOut(run, step)
    report.written++
    report.changes.push(`${path}: written in the folder.`)
    return
  }
  const find = (list: readonly SkillFile[], name: string) => list.find((file) => file.filename === name)?.bytes ?? new Uint8Array()
  const changed = [...new Set([...files, ...current].map((file) => file.filename))].filter(
    (name) => Buffer.compare(find(files, name), find(current, name)) !== 0,
  )
  const first = changed.includes(SKILL_MD) ? SKILL_MD : changed[0]
  const [one, other] = first === undefined ? [null, null] : [decodeText(find(current, first)), decodeText(find(files, first))]
  const diff = one === null || other === null ? '' : showDiff(one, other)
  await keepBoth(run, step, files, `Files that differ: ${changed.slice(0, 10).join(', ')}${changed.length > 10 ? ', …' : ''}\n${diff}`)
}

/** Keeps the files of the folder beside it, writes the library's version over them, and notes what differs. */
async function keepBoth(run: Run, step: Compared, files: readonly SkillFile[], diff: string): Promise<void> {
  const { report, isDryRun } = run
  const { path, entry } = step
  // A dry run names the copy that there would be.
  const copy = isDryRun ? conflictName(path, entry.digest.slice(0, COPY_MARKS[0])) : await keepCopy(run, path, files)
  if (!isDryRun) await writeOut(run, step)
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

/** Note of the versions that a sync writes. */
const NOTE = 'Synced'

/** Does one step of a plan, and notes it in the report. @throws AppError when it cannot be done: the others can */
export async function takeStep(run: Run, step: SyncStep): Promise<void> {
  const { store, user, report, isDryRun } = run
  const { path } = step
  switch (step.do) {
    case 'move':
      report.changes.push(`${step.from.path} is now ${path}.`)
      if (isDryRun) return
      return await store.inTransaction(async (transaction) => {
        await saveState(run, step.from, null, transaction)
        await saveState(run, null, { ...step.from, path }, transaction)
      })
    case 'drop-state':
      if (!isDryRun) await saveState(run, step.from, null)
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
      report.changes.push(`${path}: ${step.entry ? 'written in the folder' : 'new in the library, written in the folder'}.`)
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
          await saveState(run, step.from, null, transaction)
        })
      }
      report.deleted++
      report.changes.push(`${path}: moved to the trash of the library.`)
      return
    case 'remove-file':
      if (!isDryRun) {
        await removeFromFolder(run, path, step.entry.digest)
        await saveState(run, step.from, null)
      }
      report.deleted++
      report.changes.push(`${path}: removed from the folder.`)
      return
  }
}

async function requireUnchanged(run: Run, store: LibraryStore, item: SyncedItem, path: string): Promise<void> {
  const { noted } = await (item.kind === 'prompt' ? findPrompt : findSkill)(run, store, item.id)
  if (noted.libraryDigest !== item.digest) throw changedMeanwhile(path)
}

type Taken = Extract<SyncStep, { do: 'create-item' | 'update-item' }>

/** Writes what the folder has, and notes it. @param write gives the id of the item */
async function writeTaken(run: Run, step: Taken, write: (transaction: LibraryStore) => Promise<string>): Promise<void> {
  const { store, report, isDryRun } = run
  const { path, entry, from } = step
  if (!isDryRun) {
    await store.inTransaction(async (transaction) => {
      const id = await write(transaction)
      const { noted } = await (entry.kind === 'prompt' ? findPrompt : findSkill)(run, transaction, id)
      await saveState(run, from, { path, digest: entry.digest, ...noted }, transaction)
    })
  }
  const isNew = step.do === 'create-item'
  if (isNew) report.created++
  else report.updated++
  report.changes.push(`${path}: ${isNew ? 'new' : 'updated'} in the library.`)
}

function visibilityOf({ user }: Run, step: Taken): Visibility {
  return step.do === 'create-item' && step.isPrivate ? 'private' : user.defaultVisibility
}

async function takePrompt(run: Run, step: Taken): Promise<void> {
  const { store, user, isDryRun, checks } = run
  const { path, entry } = step
  const bytes = await readPromptBytes(run, path, entry.digest)
  const editor = { userId: user.id, note: NOTE }
  const current = step.do === 'update-item' ? (await findPrompt(run, store, step.item.id)).prompt : null
  const { title, content, messages, config, syntax, description, type, category, tags } = readDraft(run, path, bytes, current)
  const fields = { title, content, messages, config, syntax, description, type, category, tags }
  const visibility = visibilityOf(run, step)
  await checks?.config(config)
  const check = (to: LibraryStore) =>
    checks?.parts(to, makeBody(fields), current ?? { id: '', ownerId: user.id, visibility, slug: slugify(title) })
  if (isDryRun) await check(store)
  await writeTaken(run, step, async (transaction) => {
    if (step.do === 'update-item') await requireUnchanged(run, transaction, step.item, path)
    await check(transaction)
    if (step.do === 'create-item') return (await transaction.items.createItem(editor, { kind: 'prompt', ...fields, visibility })).id
    await transaction.items.changeItem('prompt', step.item.id, editor, () => fields)
    return step.item.id
  })
}

async function takeSkill(run: Run, step: Taken): Promise<void> {
  const { path, entry } = step
  const name = basename(path)
  const editor = { userId: run.user.id, note: NOTE }
  const files = await readSkillFiles(run, path, entry.digest, step.do === 'update-item' ? step.item.filenames : [])
  const draft = toSkillDraft(name, files, [])
  await writeTaken(run, step, async (transaction) => {
    if (step.do === 'create-item') {
      const { title, description } = draft
      const fields = { title, description, category: null, tags: [], files, visibility: visibilityOf(run, step) }
      return (await transaction.items.createItem(editor, { kind: 'skill', ...fields })).id
    }
    const { id, digest } = step.item
    const { skill, files: old, noted } = await findSkill(run, transaction, id)
    if (noted.libraryDigest !== digest) throw changedMeanwhile(path)
    // A title and description that followed SKILL.md keep following it.
    const before = toSkillDraft(name, old, [])
    await transaction.items.changeItem('skill', id, editor, () => ({
      files,
      title: skill.title === before.title ? draft.title : undefined,
      description: skill.description === before.description ? draft.description : undefined,
    }))
    return id
  })
}
