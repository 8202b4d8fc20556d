import { z } from 'zod'
import type { Sealer } from '../../auth/sealer.ts'
import { checkedText, MAX_TAGS, PROMPT_TYPES } from '../../domain/items/fields.ts'
import { type Filing, filingOf, mergeFiling } from '../../domain/items/filing.ts'
import type { Editor, ItemChange, OwnerForItems } from '../../domain/items/item-access.ts'
import type { Item, ItemKind, ItemOf } from '../../domain/items/items.ts'
import type { ItemFilter, SearchRequest } from '../../domain/items/search.ts'
import { isVisible, type Visibility, visibilitySchema } from '../../domain/items/visibility.ts'
import { type Actor, withinOf } from '../../domain/people/actor.ts'
import { requireRight, type TeamRight, type TeamRole } from '../../domain/people/teams.ts'
import type { CountUse } from '../../domain/people/usage.ts'
import { isId } from '../../domain/text/addresses.ts'
import { isLongerThan } from '../../domain/text/characters.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { MAX_QUERY } from '../../search/analysis/query.ts'
import type { LibraryStore } from '../../storage/store.ts'
import { type Needs, requireUser, type UserActor } from './procedure.ts'

/** Most items that one call saves. */
export const MAX_SAVED = 500
/** Longest id, slug or filter value looked at; nothing stored is longer. */
const MAX_REF = 255

const short = checkedText((text) => (text.length > MAX_REF ? `must have at most ${MAX_REF} characters` : null))

/** An id or a slug. */
export const refInput = short

/** A search text. Anything may stand in it. */
export const queryInput = checkedText((text) => (isLongerThan(text, MAX_QUERY) ? `must have at most ${MAX_QUERY} characters` : null))

/** Counts a search with words in it. */
export function countSearch({ count }: { readonly count: CountUse }, query: string, found: number): void {
  if (query.trim() === '') return
  count('search')
  if (found === 0) count('empty_search')
}

export const limitInput = z.number().int().min(1).max(50).default(10)

/** How long an answer may be, as JSON. */
export const maxCharactersInput = z.number().int().min(1_000).max(1_000_000).optional()

/** A filter of a list: an empty text, or null, counts as left out, as a form or a model sends it. */
function filter<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (value === '' || value === null ? undefined : value), schema.optional()).optional()
}
export const filterType = filter(z.enum(PROMPT_TYPES))
export const filterText = filter(short)
const filterList = filter(z.array(short).max(50))
/** Collections that one list is narrowed to: what is in each is read for it. */
const MAX_COLLECTION_FILTERS = 10
/** The filter of lists by collections. */
export const collectionsInput = filter(z.array(short).max(MAX_COLLECTION_FILTERS)).describe('Collections, ids or slugs')

/** The filters of the lists of a connection. */
export const narrowing = {
  users: filterList.describe('Usernames of authors'),
  collections: collectionsInput,
  categories: filterList.describe('Categories, slugs or names, children included'),
  tags: filterList.describe('Tags, slugs or names'),
}

export function toNarrowing({ users, collections, categories, tags }: z.infer<z.ZodObject<typeof narrowing>>): ItemFilter | null {
  return (users ?? collections ?? categories ?? tags) ? { authors: users, collections, categories, anyTags: tags } : null
}

/** A list that must match as a whole: no item has more tags than this. */
export const allOfList = filter(z.array(short).max(MAX_TAGS))

/** Which kind of item, where both have the same operation: the word in the REST path. */
export const collectionInput = z.enum(['prompts', 'skills']).describe('prompts or skills')

/** One item, where both kinds have the same operation. */
export const itemTarget = { collection: collectionInput, id: refInput.describe('Id or slug') }

export function kindOf(collection: 'prompts' | 'skills'): 'prompt' | 'skill' {
  return collection === 'prompts' ? 'prompt' : 'skill'
}

/** The two spellings of visibility; only one may be given ({@link refuseBothSpellings}). */
export const visibilityInputs = {
  isPrivate: z
    .boolean()
    .optional()
    .describe("true: only the owner sees it; false: everyone. Default: the owner's setting (initially private)"),
  visibility: visibilitySchema.optional().describe('Instead of isPrivate; "members": everyone signed in; "unlisted": anyone with the id'),
}

/** The same where an item is changed. */
export const visibilityChanges = {
  ...visibilityInputs,
  isPrivate: visibilityInputs.isPrivate.describe('true: only the owner sees it; false: everyone. Default: unchanged'),
}

/** An object-level check for {@link visibilityInputs}. */
export function refuseBothSpellings(
  input: { isPrivate?: boolean | undefined; visibility?: string | undefined },
  issues: z.RefinementCtx,
): void {
  if (input.isPrivate !== undefined && input.visibility !== undefined) {
    issues.addIssue({ code: 'custom', path: ['visibility'], message: 'and isPrivate cannot be combined; give one' })
  }
}

/** The editor of a change, with the restriction of their key. */
export function editorOf({ userId, within }: UserActor): Pick<Editor, 'userId' | 'within'> {
  return { userId, within }
}

/** The owner of a new item, or of the items that are meant. */
export const ownerInput = filterText.describe('Name of a team you are in. Default: yourself')

/** Somebody whose items the user has a role over, by name. @throws AppError `not_found` */
export async function requireOwner(store: Pick<LibraryStore, 'items'>, userId: string, name: string): Promise<OwnerForItems> {
  const owner = await store.items.findOwner(userId, { name })
  if (!owner) throw new AppError('not_found', `You are in no team named "${name.slice(0, MAX_REF)}".`)
  return owner
}

/** The owner that is meant, with the caller's role: the caller, or the team of this name. @throws AppError `not_found` */
export async function requireOwnerOrSelf(
  { actor, store }: Pick<Needs<'items'>, 'actor' | 'store'>,
  name: string | undefined,
): Promise<Pick<OwnerForItems, 'id' | 'role'>> {
  const { userId } = requireUser(actor)
  return name === undefined ? { id: userId, role: 'maintainer' } : await requireOwner(store, userId, name)
}

/** A text that an empty one takes away. */
export function clearable<T extends z.ZodType<string, string>>(field: T) {
  return z.union([z.literal(''), field]).optional()
}

/** The stored form of a {@link clearable} text; undefined where it stays. */
export function toCleared(text: string | undefined): string | null | undefined {
  return text === undefined ? undefined : text || null
}

/** Opens a sealed cursor. @throws AppError `invalid_input` */
export function openCursor<T>(sealer: Sealer, purpose: string, cursor: string, schema: z.ZodType<T>): T {
  const position = schema.safeParse(JSON.parse(sealer.open(purpose, cursor) ?? 'null'))
  if (!position.success) throw invalidInput('cursor', 'cursor is invalid.')
  return position.data
}

/** The version an edit was made on; a stale one is refused. */
export const baseVersionInput = z
  .number()
  .int()
  .min(1)
  .optional()
  .describe('Version the edit is based on; fails with conflict if it is no longer the newest')

/** Where an item is filed. */
export const filingInput = z.object({ tags: z.array(refInput).max(MAX_TAGS), category: refInput.nullable(), visibility: visibilitySchema })

/** Where the item was filed when an edit began, see {@link mergeFiling}. */
export const baseInput = filingInput
  .optional()
  .describe('Tags, category slug and visibility as you read them: of these, only what you change is written')

/** A change of an item with {@link baseInput} taken into account. @throws AppError as {@link mergeFiling} */
export function applyBase<Change extends { readonly [Field in keyof Filing]?: Filing[Field] | undefined }>(
  base: Filing | undefined,
  change: Change,
  current: Item,
): Change {
  if (!base) return change
  const { tags, category, visibility } = change
  const wanted = { ...(tags && { tags }), ...(category !== undefined && { category }), ...(visibility && { visibility }) }
  return { ...change, tags: undefined, category: undefined, visibility: undefined, ...mergeFiling(base, wanted, filingOf(current)) }
}

export const pageInputs = {
  page: z.number().int().min(1).max(1_000_000).default(1),
  perPage: z.number().int().min(1).max(100).default(24),
}

/** The part of a list that a page shows. */
export function toLimits({ page, perPage }: { page: number; perPage: number }): { limit: number; offset: number } {
  return { limit: perPage, offset: (page - 1) * perPage }
}

/** A page's frame. @throws AppError `invalid_input` for a page beyond the last */
export function toPage({ page, perPage }: { page: number; perPage: number }, total: number) {
  const totalPages = Math.ceil(total / perPage)
  const last = Math.max(1, totalPages)
  if (page > last) throw invalidInput('page', `page ${page} does not exist; the last page is ${last}.`)
  return { total, page, perPage, totalPages }
}

/** The frame's fields in an output schema. */
export const pageOutputs = { total: z.number().int(), page: z.number().int(), perPage: z.number().int(), totalPages: z.number().int() }

/** The same error for missing and invisible items, so that it reveals nothing. */
export function notFound(kind: 'prompt' | 'skill'): AppError {
  return new AppError('not_found', `${kind === 'prompt' ? 'Prompt' : 'Skill'} not found, or not visible to you. Check the id or slug.`)
}

/** An item of a kind that the caller sees. @throws AppError `not_found` */
export async function requireOfKind<K extends ItemKind>({ actor, store }: Needs<'items'>, kind: K, ref: string): Promise<ItemOf<K>> {
  const item = await store.items.findItem(actor, kind, ref)
  if (!item) throw notFound(kind)
  return item
}

/** Searches the items of both kinds. */
export async function searchBoth({ actor, store }: Needs<'items'>, request: SearchRequest) {
  return await Promise.all([store.items.searchItems(actor, 'prompt', request), store.items.searchItems(actor, 'skill', request)])
}

/** The same of any kind, by the word for it. */
export function requireItem(
  context: Needs<'items'>,
  { collection, id }: { readonly collection: 'prompts' | 'skills'; readonly id: string },
): Promise<Item> {
  return requireOfKind(context, kindOf(collection), id)
}

/** Keeps a key that is narrowed to collections from showing anything to more people. @throws AppError `forbidden` */
export function refuseWidening(actor: Actor, visibility: Visibility | undefined): void {
  const within = withinOf(actor)
  if (!within || !('collections' in within) || visibility === undefined || visibility === 'private') return
  throw new AppError(
    'forbidden',
    'This API key is narrowed to collections, and cannot change who sees something, but for making it private.',
  )
}

/**
 * Refuses an edit by anybody without the right to it; for use inside the store's transaction, on the current state.
 * A key may not edit what it may not read: the answer to an edit shows the item.
 * @param role the caller's over the item's owner
 * @param asked.baseVersion the version the edit was made on
 * @param asked.visibility the visibility it asks for
 * @param asked.right default: `edit`
 * @throws AppError `not_found` when the caller may not even see it, `forbidden` without the right, `conflict` when `baseVersion` is stale
 */
export function requireEditable(
  actor: UserActor,
  item: Item,
  role: TeamRole | null,
  ref: string,
  asked: { readonly baseVersion?: number | undefined; readonly visibility?: Visibility | undefined; readonly right?: TeamRight } = {},
): void {
  const { baseVersion, visibility = item.visibility, right = 'edit' } = asked
  if (!isVisible(actor, item, role, isId(ref) ? 'id' : 'slug')) throw notFound(item.kind)
  requireRight(role, right, `${right === 'delete' ? 'delete' : 'change'} this ${item.kind}`)
  // A change is one of the newest version, and shows it.
  if (item.version === item.blockedVersion && !actor.scopes.has('read'))
    throw new AppError('forbidden', `This API key may not read the newest version of this ${item.kind}, which the check blocks.`)
  if (visibility !== item.visibility) {
    requireRight(role, 'publish', `change who sees this ${item.kind}`)
    refuseWidening(actor, visibility)
  }
  // A version that the check blocks is the newest for those who edit.
  const newest = item.blockedVersion ?? item.version
  if (baseVersion !== undefined && baseVersion !== newest) {
    throw new AppError('conflict', `This ${item.kind} is now at version ${newest}, not ${baseVersion}. Read it again and repeat the edit.`)
  }
}

/**
 * Changes an item, by the rules for what it is and for what it becomes.
 * @param decide gives the change of the item as it is
 * @throws AppError `not_found`, and as {@link requireEditable}
 */
export async function editItem<K extends ItemKind>(
  { actor, store }: Pick<Needs<'items'>, 'actor' | 'store'>,
  kind: K,
  ref: string,
  { baseVersion, ...editor }: Pick<Editor, 'note' | 'makesVersion'> & { readonly baseVersion?: number | undefined },
  decide: (current: Item) => ItemChange,
): Promise<ItemOf<K>> {
  const user = requireUser(actor)
  const item = await store.items.changeItem(kind, ref, { ...editorOf(user), ...editor }, (current, role) => {
    requireEditable(user, current, role, ref, { baseVersion })
    const change = decide(current)
    requireEditable(user, current, role, ref, { visibility: change.visibility })
    return change
  })
  if (!item) throw notFound(kind)
  return item
}
