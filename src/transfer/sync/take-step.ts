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
import { digestSkill } from './scan-folder.ts'
import { findPrompt, findSkill, type Run, readDraft, readPromptBytes, readSkillFiles, type SyncReport, saveState } from './sync-run.ts'
import { digestPrompt } from './synced-prompt.ts'
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
  const digest =
    item.kind === 'prompt' ? digestPrompt(await findPrompt(run, store, item.id)) : digestSkill((await findSkill(run, store, item.id)).files)
  if (digest !== item.digest) throw changedMeanwhile(path)
}

type Taken = Extract<SyncStep, { do: 'create-item' | 'update-item' }>

async function takePrompt(run: Run, step: Taken): Promise<void> {
  const { store, user, report, isDryRun, checks } = run
  const { path, entry, from } = step
  const bytes = await readPromptBytes(run, path, entry.digest)
  const editor = { userId: user.id, note: NOTE }
  const current = step.do === 'update-item' ? await findPrompt(run, store, step.item.id) : null
  const { title, content, messages, config, syntax, description, type, category, tags } = readDraft(run, path, bytes, current)
  const fields = { title, content, messages, config, syntax, description, type, category, tags }
  const visibility = visibilityOf(run, step)
  await checks?.config(config)
  const check = (to: LibraryStore) =>
    checks?.parts(to, makeBody(fields), current ?? { id: '', ownerId: user.id, visibility, slug: slugify(title) })
  if (isDryRun) await check(store)
  else {
    await store.inTransaction(async (transaction) => {
      let id: string
      if (step.do === 'update-item') {
        await requireUnchanged(run, transaction, step.item, path)
        await check(transaction)
        id = step.item.id
        await transaction.items.changeItem('prompt', id, editor, () => fields)
      } else {
        await check(transaction)
        id = (await transaction.items.createItem(editor, { kind: 'prompt', ...fields, visibility })).id
      }
      const saved = await findPrompt(run, transaction, id)
      const to = { path, itemId: id, digest: entry.digest, libraryDigest: digestPrompt(saved), version: saved.version }
      await saveState(run, from, to, transaction)
    })
  }
  noteTaken(report, step)
}

function visibilityOf({ user }: Run, step: Taken): Visibility {
  return step.do === 'create-item' && step.isPrivate ? 'private' : user.defaultVisibility
}

function noteTaken(report: SyncReport, { do: done, path }: Taken): void {
  if (done === 'create-item') report.created++
  else report.updated++
  report.changes.push(`${path}: ${done === 'create-item' ? 'new' : 'updated'} in the library.`)
}

async function takeSkill(run: Run, step: Taken): Promise<void> {
  const { store, user, report, isDryRun } = run
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
        await transaction.items.changeItem('skill', id, editor, () => ({
          files,
          title: skill.title === before.title ? draft.title : undefined,
          description: skill.description === before.description ? draft.description : undefined,
        }))
      } else {
        const { title, description } = draft
        const fields = { title, description, category: null, tags: [], files, visibility: visibilityOf(run, step) }
        id = (await transaction.items.createItem(editor, { kind: 'skill', ...fields })).id
      }
      const saved = await findSkill(run, transaction, id)
      const to = { path, itemId: id, digest: entry.digest, libraryDigest: digestSkill(saved.files), version: saved.skill.version }
      await saveState(run, from, to, transaction)
    })
  }
  noteTaken(report, step)
}
