import { basename, relative } from 'node:path'
import { AppError } from '../errors.ts'
import { descriptionField, tagsField, titleField } from '../library/fields.ts'
import type { LibraryStore } from '../library/ports/store.ts'
import type { Hold } from '../library/ports/transfer.ts'
import { isSameFile, type SkillFile } from '../library/skill.ts'
import { toTags } from '../library/tags.ts'
import type { Visibility } from '../library/visibility.ts'
import {
  type Claimed,
  claimTwin,
  findKnown,
  hasTags,
  type ImportOptions,
  type ImportOutcome,
  knownCategory,
  readCategories,
  statedVisibility,
} from './import-prompts.ts'
import { createPeople, type People } from './people.ts'
import { addRemark, emptyReport, type ImportReport } from './report.ts'
import { findSkillFolders, readSkillFolder, type SkillDraft } from './skill-folder.ts'

/** Metadata of a skill outside its folder, from an export or the starter library. */
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
  readonly held?: Hold | undefined
}

/**
 * Imports every skill below a folder, each in its own transaction; matched like prompts.
 * @param metadata index data of each skill, by its path below `folder`; skills missing there are refused. Null: no index
 * @throws AppError `invalid_input` when the folder or the owner cannot be used at all
 */
export async function importSkills(
  store: LibraryStore,
  folder: string,
  options: ImportOptions,
  metadata: ReadonlyMap<string, SkillMetadata> | null = null,
  people: People = createPeople(),
): Promise<ImportReport> {
  const report = emptyReport()
  const misspelled: string[] = []
  const folders = await findSkillFolders(folder, (path) => {
    misspelled.push(`Skipped ${relative(folder, path)}: the file must be spelled SKILL.md.`)
  })
  if (folders.length === 0) {
    throw new AppError('invalid_input', [`No skill found in ${folder}: no folder has a SKILL.md.`, ...misspelled].join(' '))
  }
  for (const remark of misspelled) addRemark(report, remark)
  if (options.owner !== undefined) await people.findOwner(store, options.owner)
  const claimed = new Set<string>()
  const categories = await readCategories(store)
  for (const path of folders) {
    report.read++
    const name = relative(folder, path) || basename(path)
    try {
      const known = metadata?.get(name)
      if (metadata && !known) throw new AppError('invalid_input', 'it is not in the index')
      const draft = await readSkillFolder(path, { isExport: known?.title !== undefined })
      const remark = (text: string) => addRemark(report, `Skill ${basename(path)}: ${text}.`)
      for (const text of draft.remarks) remark(text)
      const outcome = await importSkillDraft(store, draft, options, known ?? {}, people, claimed, categories)
      report[outcome.done]++
      if (outcome.remark) remark(outcome.remark)
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'internal') throw error
      report.refused++
      addRemark(report, `Skill ${name} refused: ${error.message.replace(/\.$/, '')}.`)
    }
    options.onProgress?.(report.read)
  }
  return report
}

/**
 * Imports one skill in a transaction, or says what an import would do.
 * @param known metadata from an index, beside its files
 * @throws AppError `invalid_input` when the library refuses it
 */
export async function importSkillDraft(
  store: LibraryStore,
  draft: Pick<SkillDraft, 'title' | 'description' | 'files'>,
  options: ImportOptions,
  known: SkillMetadata,
  people: People,
  claimed: Claimed,
  categories: ReadonlySet<string>,
): Promise<ImportOutcome> {
  const ownerName = options.owner ?? known.owner
  if (ownerName === undefined) throw new AppError('invalid_input', 'it names no owner; set one with --user')
  const { category, remark } = knownCategory(known.category ?? null, categories, options)
  const fields = {
    title: known.title ?? draft.title,
    description: known.description === undefined ? draft.description : known.description,
    category,
    tags: known.tags ?? [],
    files: draft.files,
  }
  checkFields(fields)
  const stated = statedVisibility(known, options)
  const owner = await people.findOwner(store, ownerName)
  const contributors = [...(known.author ? [known.author] : []), ...(known.contributors ?? [])]
  const exported = await findKnown(owner, { id: known.id, title: fields.title }, contributors, claimed, (item) =>
    store.items.findExported('skill', item),
  )
  const { authorId, others } = exported ?? (await people.findAuthor(store, owner, contributors))
  const write = async (transaction: LibraryStore): Promise<ImportOutcome> => {
    const origin = {
      authorId,
      contributors: others,
      id: known.id,
      slug: known.slug,
      createdAt: known.createdAt,
      updatedAt: known.updatedAt,
      held: known.held,
    }
    const editor = { userId: owner.id, note: 'Imported' }
    const readFiles = (skillId: string) =>
      transaction.items.readSkillFiles({ kind: 'user', userId: owner.id, username: owner.username, scopes: new Set(['read']) }, skillId)
    const twins = exported ? [exported] : await transaction.items.findImported('skill', owner.id, authorId, fields.title)
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
      if (options.isDryRun) return { done: 'created', id: null, remark }
      const visibility = stated ?? owner.defaultVisibility
      const created = await transaction.items.createSkill(editor, { ...fields, visibility }, origin)
      claimed.add(created.id)
      options.onCreated?.({ kind: 'skill', id: created.id, title: created.title, owner })
      return { done: 'created', id: created.id, remark }
    }
    const found = twin.item.id
    if (twin.item.deletedAt !== null) return { done: 'kept', id: found, remark: 'it is in the trash and stays there' }
    if (same.has(found)) return { done: 'unchanged', id: found, remark }
    if (twin.isEditedHere) return { done: 'kept', id: found, remark: 'it was edited here since its import and is kept' }
    if (!options.isDryRun) await transaction.items.changeSkill(found, editor, () => fields, origin)
    return { done: 'updated', id: found, remark }
  }
  return options.isDryRun ? await write(store) : await store.inTransaction(write)
}

/** Holds an index to the limits a save is held to, before anybody is made for its sake. @throws AppError `invalid_input` naming the field */
function checkFields(fields: { title: string; description: string | null; tags: readonly string[] }): void {
  const checks = [
    ['title', titleField.safeParse(fields.title)],
    ['description', descriptionField.nullable().safeParse(fields.description)],
    ['tags', tagsField.safeParse(fields.tags)],
  ] as const
  for (const [name, check] of checks) {
    if (!check.success) throw new AppError('invalid_input', `${name} ${check.error.issues[0]?.message}`)
  }
  toTags(fields.tags)
}

function haveSameBytes(a: readonly SkillFile[], b: readonly SkillFile[]): boolean {
  if (a.length !== b.length) return false
  const byName = new Map(b.map((file) => [file.filename, file]))
  return a.every((file) => {
    const other = byName.get(file.filename)
    return other !== undefined && isSameFile(other, file)
  })
}
