import { basename } from 'node:path'
import { AppError } from '../errors.ts'
import type { LibraryStore } from '../library/ports.ts'
import type { SkillFile } from '../library/skill.ts'
import type { Visibility } from '../library/visibility.ts'
import { claimTwin, hasTags, type ImportOptions } from './import-prompts.ts'
import { createPeople, type People } from './people.ts'
import { addRemark, emptyReport, type ImportReport } from './report.ts'
import { findSkillFolders, readSkillFolder } from './skill-folder.ts'

/** What is known of a skill beside its folder: what an export or the starter library wrote down. */
export interface SkillMetadata {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
  readonly category?: string | null | undefined
  readonly tags?: readonly string[] | undefined
  readonly owner?: string | undefined
  readonly author?: string | undefined
  readonly contributors?: readonly string[] | undefined
  readonly visibility?: Visibility | undefined
  readonly id?: string | undefined
  readonly slug?: string | undefined
  readonly createdAt?: string | undefined
  readonly updatedAt?: string | undefined
}

/**
 * Imports every skill below a folder, each in a transaction of its own; found again as prompts are.
 * @param metadata by the name of the skill's folder
 * @throws AppError `invalid_input` when the folder or the owner cannot be used at all
 */
export async function importSkills(
  store: LibraryStore,
  folder: string,
  options: ImportOptions,
  metadata: ReadonlyMap<string, SkillMetadata> = new Map(),
  people: People = createPeople(),
): Promise<ImportReport> {
  const report = emptyReport()
  if (options.owner !== undefined) await people.findOwner(store, options.owner)
  const claimed = new Set<string>()
  const folders = await findSkillFolders(folder)
  if (folders.length === 0) throw new AppError('invalid_input', `${folder} has no skill in it: no folder with a SKILL.md.`)
  for (const path of folders) {
    report.read++
    const name = basename(path)
    try {
      report[await importSkill(store, path, options, metadata.get(name) ?? {}, people, claimed, report)]++
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'internal') throw error
      report.refused++
      addRemark(report, `Skill ${name} refused: ${error.message.replace(/\.$/, '')}.`)
    }
    options.onProgress?.(report.read)
  }
  return report
}

async function importSkill(
  store: LibraryStore,
  path: string,
  options: ImportOptions,
  known: SkillMetadata,
  people: People,
  claimed: Set<string>,
  report: ImportReport,
): Promise<'created' | 'updated' | 'unchanged' | 'kept'> {
  const draft = await readSkillFolder(path)
  const remark = (text: string) => addRemark(report, `Skill ${basename(path)}: ${text}.`)
  for (const text of draft.remarks) remark(text)
  const ownerName = options.owner ?? known.owner
  if (ownerName === undefined) throw new AppError('invalid_input', 'it names no owner; give one with --user')
  const fields = {
    title: known.title ?? draft.title,
    description: known.description === undefined ? draft.description : known.description,
    category: known.category ?? null,
    tags: known.tags ?? [],
    files: draft.files,
  }
  const owner = await people.findOwner(store, ownerName)
  const { authorId, others } = await people.findAuthor(store, owner, [
    ...(known.author ? [known.author] : []),
    ...(known.contributors ?? []),
  ])
  return await store.inTransaction(async (transaction) => {
    const origin = {
      authorId,
      contributors: others,
      id: known.id,
      slug: known.slug,
      createdAt: known.createdAt,
      updatedAt: known.updatedAt,
    }
    const editor = { userId: owner.id, note: 'Imported' }
    const readFiles = (skillId: string) =>
      transaction.readSkillFiles({ kind: 'user', userId: owner.id, username: owner.username, scopes: new Set(['read']) }, skillId)
    const twins = await transaction.findImported('skill', owner.id, authorId, fields.title)
    const same = new Set<string>()
    for (const { item } of twins) {
      const isSame =
        item.description === fields.description &&
        (item.category?.slug ?? null) === fields.category &&
        hasTags(item, fields.tags) &&
        haveSameBytes(await readFiles(item.id), draft.files)
      if (isSame) same.add(item.id)
    }
    const twin = claimTwin(twins, claimed, (item) => same.has(item.id))
    if (!twin) {
      const visibility = known.visibility ?? options.visibility ?? owner.defaultVisibility
      claimed.add((await transaction.createSkill(editor, { ...fields, visibility }, origin)).id)
      return 'created'
    }
    if (twin.item.deletedAt !== null) {
      remark('it is in the trash and stays there')
      return 'kept'
    }
    if (same.has(twin.item.id)) return 'unchanged'
    if (twin.isEditedHere) {
      remark('it was edited here since its import and is kept')
      return 'kept'
    }
    await transaction.changeSkill(twin.item.id, editor, () => fields, origin)
    return 'updated'
  })
}

function haveSameBytes(a: readonly SkillFile[], b: readonly SkillFile[]): boolean {
  if (a.length !== b.length) return false
  const byName = new Map(b.map((file) => [file.filename, file.bytes]))
  return a.every((file) => {
    const other = byName.get(file.filename)
    return other !== undefined && Buffer.compare(file.bytes, other) === 0
  })
}
