import { basename, join } from 'node:path'
import { slugify } from '../../domain/items/slug.ts'
import type { Visibility } from '../../domain/items/visibility.ts'
import { makeBody } from '../../domain/prompts/body.ts'
import { AppError } from '../../errors.ts'
import type { LibraryStore } from '../../storage/store.ts'
import { lstatIfThere } from '../regular-file.ts'
import { toSkillDraft } from '../skill-folder.ts'
import { comparePrompt, compareSkill } from './compare-sides.ts'
import { kindOf, type SyncedItem, type SyncStep } from './plan-sync.ts'
import { findPrompt, findSkill, type Run, readDraft, readPromptBytes, readSkillFiles, saveState } from './sync-run.ts'
import { changedMeanwhile } from './write-file.ts'
import { removeFromFolder, writeOut } from './write-out.ts'

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
