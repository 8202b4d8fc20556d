import { AppError } from '../errors.ts'
import { ANONYMOUS } from '../library/actor.ts'
import type { ItemKind, Prompt, User } from '../library/items.ts'
import type { ExportedTwin, ImportedTwin, KnownItem } from '../library/ports/items.ts'
import type { LibraryStore } from '../library/ports/store.ts'
import type { Hold } from '../library/ports/transfer.ts'
import { toTags } from '../library/tags.ts'
import { refuseWhileHeld, type Visibility } from '../library/visibility.ts'
import { createPeople, type People } from './people.ts'
import { type PromptDraft, type PromptRow, type PromptSource, readPromptFile } from './prompt-file.ts'
import { addRemark, emptyReport, type ImportReport } from './report.ts'

/** Entries written in one transaction: few enough that others who write wait a moment only. */
const BATCH_SIZE = 200
const IMPORT_NOTE = 'Imported'

/** An item an import created. */
export interface CreatedItem {
  readonly kind: ItemKind
  readonly id: string
  readonly title: string
  readonly owner: { readonly id: string; readonly username: string }
}

export interface ImportOptions {
  /** Owner of the imported items; undefined: as the file says. */
  readonly owner: string | undefined
  /** Visibility of entries that state none; undefined: the owner's setting. */
  readonly visibility: Visibility | undefined
  /** Says what would be done, and writes nothing. Default: false */
  readonly isDryRun?: boolean
  /** Leaves out a category that does not exist, instead of refusing its entry. Default: false */
  readonly leavesOutUnknownCategories?: boolean
  /** Told after each batch. */
  readonly onProgress?: (read: number) => void
  /** Called with each item that was created. */
  readonly onCreated?: (item: CreatedItem) => void
}

/** The twins already taken by an entry of this run: entries of one file with the same owner, author and title are several prompts. */
export type Claimed = Set<string>

/**
 * Imports the prompts of a file. Entries match existing items by owner, author and title: equal content is skipped, items edited here or in
 * the trash are kept, the rest is updated. Each batch is a transaction: reported items stay, and an interrupted run can be repeated.
 * @throws AppError `invalid_input` when the file or the owner cannot be used at all
 */
export async function importPrompts(
  store: LibraryStore,
  from: string | PromptSource,
  options: ImportOptions,
  people: People = createPeople(),
): Promise<ImportReport> {
  const report = emptyReport()
  const claimed: Claimed = new Set()
  if (options.owner !== undefined) await people.findOwner(store, options.owner)
  const categories = await readCategories(store)
  let batch: PromptRow[] = []
  const flush = async () => {
    const rows = batch
    batch = []
    await store.inTransaction(async (transaction) => {
      for (const row of rows) await importRow(transaction, row, options, people, claimed, categories, report)
    })
    options.onProgress?.(report.read)
  }
  for await (const row of readPromptFile(from)) {
    batch.push(row)
    if (batch.length >= BATCH_SIZE) await flush()
  }
  if (batch.length > 0) await flush()
  return report
}

async function importRow(
  store: LibraryStore,
  row: PromptRow,
  options: ImportOptions,
  people: People,
  claimed: Claimed,
  categories: ReadonlySet<string>,
  report: ImportReport,
): Promise<void> {
  report.read++
  const refuse = (reason: string) => {
    report.refused++
    addRemark(report, `Row ${row.number} refused: ${reason.replace(/\.$/, '')}.`)
  }
  if ('fault' in row) return refuse(row.fault)
  try {
    const outcome = await importPromptDraft(store, row.draft, options, people, claimed, categories)
    report[outcome.done]++
    if (outcome.remark) addRemark(report, `Row ${row.number} (${row.draft.title}): ${outcome.remark}.`)
    if (row.draft.remark) addRemark(report, `Row ${row.number} (${row.draft.title}): ${row.draft.remark}.`)
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'internal') throw error
    refuse(error.message)
  }
}

/** The result of importing an entry, or what it would be. */
export interface ImportOutcome {
  readonly done: 'created' | 'updated' | 'unchanged' | 'kept'
  /** Of the item; null where it would be created. */
  readonly id: string | null
  readonly remark?: string | undefined
}

/**
 * Imports one prompt, or says what an import would do.
 * @throws AppError `invalid_input` when the library refuses it
 */
export async function importPromptDraft(
  store: LibraryStore,
  draft: PromptDraft,
  options: ImportOptions,
  people: People,
  claimed: Claimed,
  categories: ReadonlySet<string>,
): Promise<ImportOutcome> {
  const ownerName = options.owner ?? draft.owner
  if (ownerName === undefined) throw new AppError('invalid_input', 'It names no owner; set one with --user')
  // Checked before anybody is made for its sake: a refused entry leaves no trace.
  toTags(draft.tags)
  const stated = statedVisibility(draft, options)
  const { category, remark } = knownCategory(
    draft.category,
    categories,
    draft.isCategoryOptional ? { leavesOutUnknownCategories: true } : options,
  )
  const owner = await people.findOwner(store, ownerName)
  const known = await findKnown(owner, draft, draft.contributors, claimed, (item) => store.items.findExported('prompt', item))
  const { authorId, others } = known ?? (await people.findAuthor(store, owner, draft.contributors))
  const fields = {
    title: draft.title,
    content: draft.content,
    description: draft.description,
    type: draft.type,
    category,
    tags: draft.tags,
  }
  const { id, slug, createdAt, updatedAt, held } = draft
  const origin = { authorId, contributors: others, id, slug, createdAt, updatedAt, held }
  const twins = known ? [known] : await store.items.findImported('prompt', owner.id, authorId, draft.title)
  const twin = claimTwin(twins, claimed, (prompt) => isSame(prompt, fields))
  const editor = { userId: owner.id, note: IMPORT_NOTE }
  if (!twin) {
    if (options.isDryRun) return { done: 'created', id: null, remark }
    const visibility = stated ?? owner.defaultVisibility
    const created = await store.items.createPrompt(editor, { ...fields, visibility }, origin)
    claimed.add(created.id)
    options.onCreated?.({ kind: 'prompt', id: created.id, title: created.title, owner })
    return { done: 'created', id: created.id, remark }
  }
  const found = twin.item.id
  if (twin.item.deletedAt !== null) return { done: 'kept', id: found, remark: 'it is in the trash and stays there' }
  if (isSame(twin.item, fields)) return { done: 'unchanged', id: found, remark }
  if (twin.isEditedHere) return { done: 'kept', id: found, remark: 'it was edited here since its import' }
  if (!options.isDryRun) await store.items.changePrompt(found, editor, () => fields, origin)
  return { done: 'updated', id: found, remark }
}

/**
 * The visibility of an entry before the owner's default applies; held entries are unlisted.
 * @throws AppError `forbidden` for entries that are both held and public
 */
export function statedVisibility(
  { visibility, held }: { readonly visibility?: Visibility | undefined; readonly held?: Hold | undefined },
  options: ImportOptions,
): Visibility | undefined {
  if (!held) return visibility ?? options.visibility
  if (visibility) refuseWhileHeld(true, visibility)
  return visibility ?? 'unlisted'
}

/** The slugs of all categories, for {@link checkCategory}. */
export async function readCategories(store: LibraryStore): Promise<Set<string>> {
  return new Set((await store.categories.listCategories(ANONYMOUS)).map((category) => category.slug))
}

/** The category of an entry; one that does not exist may be left out, with a remark. @throws AppError `invalid_input` listing the valid slugs */
export function knownCategory(
  category: string | null,
  categories: ReadonlySet<string>,
  { leavesOutUnknownCategories = false }: Pick<ImportOptions, 'leavesOutUnknownCategories'>,
): { readonly category: string | null; readonly remark: string | undefined } {
  if (category === null || categories.has(category)) return { category, remark: undefined }
  if (leavesOutUnknownCategories) {
    return { category: null, remark: `the category "${category.slice(0, 80)}" does not exist and was left out` }
  }
  const valid = [...categories].toSorted().join(', ')
  throw new AppError('invalid_input', `category "${category.slice(0, 80)}" does not exist; use one of: ${valid}`)
}

/** The existing item that an entry of an export of this library names, whoever is its author here, unless another entry took it. */
export async function findKnown<T extends { readonly id: string }>(
  owner: User,
  { id, title }: { readonly id?: string | undefined; readonly title: string },
  contributors: readonly string[],
  claimed: ReadonlySet<string>,
  find: (item: KnownItem) => Promise<ExportedTwin<T> | null>,
): Promise<(ExportedTwin<T> & { readonly others: readonly string[] }) | null> {
  if (id === undefined || claimed.has(id)) return null
  const [author = owner.username, ...others] = contributors
  const twin = await find({ ownerId: owner.id, id, title, author })
  return twin && { ...twin, others }
}

/** The existing item of an entry: an equal one, else the first unused one. */
export function claimTwin<T extends { readonly id: string }>(
  twins: readonly ImportedTwin<T>[],
  claimed: Set<string>,
  isTheSame: (item: T) => boolean,
): ImportedTwin<T> | undefined {
  const free = twins.filter((twin) => !claimed.has(twin.item.id))
  const twin = free.find((candidate) => isTheSame(candidate.item)) ?? free[0]
  if (twin) claimed.add(twin.item.id)
  return twin
}

function isSame(prompt: Prompt, draft: Pick<PromptDraft, 'content' | 'type' | 'description' | 'category' | 'tags'>): boolean {
  return (
    prompt.content === draft.content &&
    prompt.type === draft.type &&
    prompt.description === draft.description &&
    (prompt.category?.slug ?? null) === draft.category &&
    hasTags(prompt, draft.tags)
  )
}

/** Whether an item carries just these tags, whatever their spelling. */
export function hasTags(item: { readonly tags: readonly { readonly slug: string }[] }, names: readonly string[]): boolean {
  const wanted = toTags(names).map((tag) => tag.slug)
  return wanted.length === item.tags.length && wanted.every((slug, index) => item.tags[index]?.slug === slug)
}
