import { caseFilesFault } from '../domain/evals/evals.ts'
import { toTags } from '../domain/items/filing.ts'
import type { ImportedTwin, ImportOrigin } from '../domain/items/item-access.ts'
import type { Item, ItemKind, Prompt, User } from '../domain/items/items.ts'
import { slugify } from '../domain/items/slug.ts'
import { refuseWhileHeld, type Visibility } from '../domain/items/visibility.ts'
import { ANONYMOUS, actorOf } from '../domain/people/actor.ts'
import { isSameBody, makeBody, type PromptBody } from '../domain/prompts/body.ts'
import type { PromptConfig } from '../domain/prompts/config.ts'
import type { Hold } from '../domain/service/transfer.ts'
import { type SkillFile, toFileContent } from '../domain/skills/skill.ts'
import { AppError } from '../errors.ts'
import { separateTests } from '../evals/holdouts.ts'
import type { LibraryStore } from '../storage/store.ts'
import type { People } from './export-lists.ts'
import { type Candidate, type EntryPlace, placeName } from './match-entries.ts'
import type { PromptDraft } from './prompt-file.ts'

/** The note of versions that an import writes. */
const IMPORT_NOTE = 'Imported'

/** An item an import created. */
export interface CreatedItem {
  readonly kind: ItemKind
  readonly id: string
  readonly title: string
  readonly owner: { readonly id: string; readonly username: string }
}

/** The rules of prompts that saves apply too. */
export interface PromptChecks {
  /** @throws AppError that names the schema which is none */
  config(config: PromptConfig | null | undefined): Promise<void>
  /** @param prompt as it is, or with an empty id as it is going to be made @throws AppError that says which part does not fit */
  parts(store: LibraryStore, body: PromptBody, prompt: Pick<Prompt, 'id' | 'ownerId' | 'visibility'> & { slug?: string }): Promise<void>
}

export interface ImportOptions {
  /** Default: none */
  readonly checks?: PromptChecks
  /** Owner of the imported items; undefined: as the file says. */
  readonly owner: string | undefined
  /** Visibility of entries that state none; undefined: the owner's setting. */
  readonly visibility: Visibility | undefined
  /** Says what would be done, and writes nothing. Default: false */
  readonly isDryRun?: boolean
  /** Leaves out a category that does not exist, instead of refusing its entry. Default: false */
  readonly leavesOutUnknownCategories?: boolean
  /** Told after each batch; what it throws ends the import. */
  readonly onProgress?: (read: number) => void
  /** Called with each item that was created. */
  readonly onCreated?: (item: CreatedItem) => void
  /** Called with the result of each entry, in the order in which they are done. */
  readonly onResult?: (result: EntryResult) => void
}

/** The result of an entry, in a dry run the one that it would have. */
export interface EntryResult {
  /** Its place among the entries, from 0. */
  readonly index: number
  readonly outcome: 'refused' | ImportOutcome['done']
  /** Why it was refused, or what else is to say. */
  readonly remarks: readonly string[]
  /** Of its item; null where there is none yet. */
  readonly itemId: string | null
}

/** The result of importing an entry, or what it would be. */
export interface ImportOutcome {
  readonly done: 'created' | 'updated' | 'unchanged' | 'kept'
  /** Of the item; null where it would be created. */
  readonly id: string | null
  readonly remark?: string | undefined
}

/** An entry that was checked, and the items that it may mean. */
export interface Prepared {
  readonly ownerId: string
  /** Of the item that an export of this library names; undefined: there is none. */
  readonly knownId: string | undefined
  readonly candidates: readonly Candidate[]
  /**
   * Imports it as one of the candidates, or as a new item, or says what an import would do.
   * @param place kept with the item. Undefined: what is kept stays
   */
  write(id: string | null, place: EntryPlace | undefined): Promise<ImportOutcome>
}

/** The surroundings of entries that are prepared. */
export interface Preparing {
  readonly store: LibraryStore
  readonly options: ImportOptions
  readonly people: People
  /** Whether no other entry took an item. */
  readonly isFree: (id: string) => boolean
  readonly categories: ReadonlySet<string>
  /** Where the entry stands. */
  readonly place: EntryPlace | undefined
}

/** The owner of an entry, the items that it may be, and what is written with it. */
export async function findTwins<K extends ItemKind>(
  { store, people, isFree, place }: Preparing,
  kind: K,
  ownerName: string,
  { title, id, slug, createdAt, updatedAt, held }: { readonly title: string } & Partial<Omit<ImportOrigin, 'authorId' | 'contributors'>>,
  contributors: readonly string[],
) {
  const owner = await people.findOwner(store, ownerName)
  const source = place && placeName(place)
  // The existing item that an entry of an export of this library names, whoever is its author here, unless another entry took it.
  const [author = owner.username, ...others] = contributors
  const known = id !== undefined && isFree(id) ? await store.items.findExported(kind, { ownerId: owner.id, id, title, author }) : null
  const by = known ? { authorId: known.authorId, others } : await people.findAuthor(store, owner, contributors)
  return {
    owner,
    source,
    knownId: known?.item.id,
    twins: known ? [known] : await store.items.findImported(kind, owner.id, by.authorId, title, source),
    editor: { userId: owner.id, note: IMPORT_NOTE },
    origin: { authorId: by.authorId, contributors: by.others, id, slug, createdAt, updatedAt, held },
  }
}

/** An item as an import finds it again, and what is done with it. */
interface Twins<T extends Item> extends Pick<Preparing, 'store' | 'options'> {
  readonly owner: User
  readonly knownId: string | undefined
  readonly twins: readonly ImportedTwin<T>[]
  /** Ids of those that the entry repeats. */
  readonly same: ReadonlySet<string>
  readonly remark: string | undefined
  /** Files with cases that are held out: they are kept beside the item. */
  readonly held: { readonly held: readonly SkillFile[]; readonly count: number }
  /** Checks what is about to be written, as the item or a new one. @throws AppError */
  check?(item: T | null): Promise<void>
  create(): Promise<T>
  change(id: string): Promise<unknown>
}

/** The candidates among twins, and how the entry is written. */
export function prepareTwins<T extends Item>(found: Twins<T>): Prepared {
  const { store, options, owner, knownId, twins, same, remark, held, check, create, change } = found
  const files = held.held.map(toFileContent)
  const fault = caseFilesFault(files)
  if (fault !== null) throw new AppError('invalid_input', `its held-out test cases ${fault}`)
  const writeAs = async (twin: ImportedTwin<T> | undefined): Promise<ImportOutcome> => {
    if (!twin) {
      await check?.(null)
      if (options.isDryRun) return { done: 'created', id: null, remark }
      const { kind, id, title } = await create()
      options.onCreated?.({ kind, id, title, owner })
      return { done: 'created', id, remark }
    }
    const { id, deletedAt } = twin.item
    if (deletedAt !== null) return { done: 'kept', id, remark: 'it is in the trash and stays there' }
    if (same.has(id)) return { done: 'unchanged', id, remark }
    if (twin.isEditedHere) return { done: 'kept', id, remark: 'it was edited here since its import and is kept' }
    await check?.(twin.item)
    if (!options.isDryRun) await change(id)
    return { done: 'updated', id, remark }
  }
  return {
    ownerId: owner.id,
    knownId,
    candidates: twins.map(({ item: { id }, source }) => ({ id, isEqual: same.has(id), ...(source === undefined ? {} : { source }) })),
    async write(wantedId, place) {
      const twin = twins.find(({ item }) => item.id === wantedId)
      const outcome = await writeAs(twin)
      const source = place && placeName(place)
      if (outcome.id !== null && source !== undefined && source !== twin?.source && !options.isDryRun)
        await store.items.keepImportSource(outcome.id, source)
      if (held.count === 0 || outcome.done === 'kept') return outcome
      if (outcome.id !== null && !options.isDryRun) await store.evals.writeCaseFiles(outcome.id, files, { replaces: false })
      const said = `${held.count} held-out test cases are kept beside it, and served to nobody with it`
      return { ...outcome, remark: outcome.remark === undefined ? said : `${outcome.remark}; ${said}` }
    },
  }
}

/**
 * Checks one prompt, and finds the items that it may mean.
 * @throws AppError `invalid_input` when the library refuses it
 */
export async function preparePrompt(preparing: Preparing, draft: PromptDraft): Promise<Prepared> {
  const { store, options, categories } = preparing
  const ownerName = options.owner ?? draft.owner
  if (ownerName === undefined) throw new AppError('invalid_input', 'It names no owner; set one with --user')
  // Checked before anybody is made for its sake: a refused entry leaves no trace.
  toTags(draft.tags)
  const stated = statedVisibility(draft, options)
  const known = knownCategory(draft.category, categories, draft.isCategoryOptional ? { leavesOutUnknownCategories: true } : options)
  const { category, remark } = known
  const found = await findTwins(preparing, 'prompt', ownerName, draft, draft.contributors)
  const { owner, twins, editor, origin } = found
  const { title, content, messages, syntax, description, type, tags, slug } = draft
  const tests = separateTests(draft.config ?? {})
  const config = tests.count > 0 ? tests.shown : draft.config
  const fields = { title, content, messages, config, syntax, description, type, category, tags }
  const visibility = stated ?? owner.defaultVisibility
  return prepareTwins({
    ...preparing,
    ...found,
    same: new Set(twins.flatMap(({ item }) => (isSame(item, fields) ? [item.id] : []))),
    remark,
    held: tests,
    async check(item) {
      const made = { id: '', ownerId: owner.id, visibility, slug: slug ?? slugify(title) }
      await options.checks?.parts(store, makeBody(fields), item ?? made)
    },
    create: () => store.items.createItem(editor, { kind: 'prompt', ...fields, visibility }, origin),
    change: (id) => store.items.changeItem('prompt', id, editor, () => fields, origin),
  })
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

function isSame(
  prompt: Prompt,
  draft: Pick<PromptDraft, 'content' | 'messages' | 'config' | 'syntax' | 'type' | 'description' | 'category' | 'tags'>,
): boolean {
  return (
    isSameBody(prompt, draft) &&
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

/** Created items that are compared, how long that may take, and the prompts that strangers see in a library where it is done: its index is loaded. */
const MAX_COMPARED = 2_000
const MAX_MS = 5_000
const MAX_LIBRARY = 200_000
/** Pairs that are named. */
const MAX_NAMED = 5

/** Collects what an import creates, to be compared afterwards. */
export function collectCreated() {
  const items: CreatedItem[] = []
  const created = {
    items,
    count: 0,
    add(item: CreatedItem) {
      created.count++
      if (items.length < MAX_COMPARED) items.push(item)
    },
  }
  return created
}

/**
 * Says how many imported items nearly repeat others that their owners find, and names the first ones; null when none does. Reads the search
 * index, then takes about 2 ms an item; after `maxMs` milliseconds the others are not compared. More items than can be compared, or those of a
 * library whose index takes long to load, are not compared at all.
 */
export async function describeNearDuplicates(
  { items: reader, service }: Pick<LibraryStore, 'items' | 'service'>,
  created: ReturnType<typeof collectCreated>,
  maxMs = MAX_MS,
  maxLibrary = MAX_LIBRARY,
): Promise<string | null> {
  if (created.count === 0) return null
  if (created.count > MAX_COMPARED || (await reader.countPrompts(ANONYMOUS, {})) > maxLibrary) {
    const limits = `at most ${MAX_COMPARED.toLocaleString('en')} new items, in a library of at most ${maxLibrary.toLocaleString('en')}`
    return `The imported items were not compared with others: that is done for ${limits}.`
  }
  // Nothing is compared before the index is loaded.
  await service.loadSearch()
  const named: string[] = []
  const pairs = new Set<string>()
  let count = 0
  let compared = 0
  const endsAt = performance.now() + maxMs
  for (const { kind, id, title, owner } of created.items) {
    if (compared > 0 && performance.now() > endsAt) break
    compared++
    const known = await reader.findNearDuplicate(actorOf(owner, ['read']), kind, id)
    if (!known) continue
    count++
    const pair = [id, known.id].sort().join(' ')
    if (named.length < MAX_NAMED && !pairs.has(pair)) named.push(`"${title}" and "${known.title}"`)
    pairs.add(pair)
  }
  if (count === 0) return null
  const limit =
    created.count > compared ? ` Only the first ${compared === 1 ? 'created item was' : `${compared} created items were`} compared.` : ''
  const more = pairs.size > named.length ? `, and ${pairs.size - named.length} more` : ''
  const items = count === 1 ? '1 imported item is' : `${count} imported items are`
  return `${items} nearly the same as another: ${named.join(', ')}${more}.${limit}`
}
