import { AppError, invalidInput } from '../../errors.ts'
import { MAX_TAGS } from './fields.ts'
import type { Item, Tag } from './items.ts'
import { slugifyTag } from './slug.ts'
import type { Visibility } from './visibility.ts'

/** Where an item is found, and by whom. It is no part of its versions: the newest one says what it is now. */
export interface Filing {
  /** Names. */
  readonly tags: readonly string[]
  /** A slug. */
  readonly category: string | null
  readonly visibility: Visibility
}

export function filingOf(item: Pick<Item, 'tags' | 'category' | 'visibility'>): Filing {
  return { tags: item.tags.map(({ name }) => name), category: item.category?.slug ?? null, visibility: item.visibility }
}

function areSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((tag, place) => tag === other[place])
}

export function isSameFiling(one: Filing, other: Filing): boolean {
  return one.category === other.category && one.visibility === other.visibility && areSame(one.tags, other.tags)
}

/** The tags of an item after some came and others went. @throws AppError `invalid_input` for too many */
export function changeTags(tags: readonly string[], added: readonly string[], removed: readonly string[]): string[] {
  const [gone, there] = [new Set(removed.map(slugifyTag)), new Set(tags.map(slugifyTag))]
  const next = [...tags.filter((tag) => !gone.has(slugifyTag(tag))), ...added.filter((tag) => !there.has(slugifyTag(tag)))]
  if (next.length > MAX_TAGS) throw new AppError('invalid_input', `It would have ${next.length} tags; the limit is ${MAX_TAGS}.`)
  return next
}

/** The fields that an edit and others made something else of since it began. */
export function findClashes(
  base: Filing,
  wanted: { readonly category?: string | null; readonly visibility?: string },
  current: Filing,
): ('category' | 'visibility')[] {
  return (['category', 'visibility'] as const).filter((field) => {
    const [was, mine, theirs] = [base[field], wanted[field], current[field]]
    return mine !== undefined && mine !== was && mine !== theirs && theirs !== was
  })
}

/**
 * The filing of an item after an edit, when others may have filed it elsewhere since the edit began. What the edit left as it was
 * stays as the others made it; tags that each added or removed are added and removed.
 * @param base what it was when the edit began
 * @param wanted fields that are left out stay
 * @throws AppError `conflict` where both changed the category or the visibility, each in its details; `invalid_input` for too many tags
 */
export function mergeFiling(base: Filing, wanted: Partial<Filing>, current: Filing): Partial<Filing> {
  const details = findClashes(base, wanted, current).map((field) => ({
    path: field,
    message: `Somebody else changed the ${field} meanwhile: it is ${current[field] ?? 'none'} now.`,
  }))
  if (details.length > 0) {
    const message = [...details.map((detail) => detail.message), 'Read it again and repeat the edit.'].join(' ')
    throw new AppError('conflict', message, { details })
  }
  const { tags } = wanted
  const slugs = (names: readonly string[]) => names.map(slugifyTag)
  const isMine = tags !== undefined && !areSame(slugs(tags), slugs(base.tags))
  const isTheirs = !areSame(slugs(current.tags), slugs(base.tags))
  const without = (all: readonly string[], others: readonly string[]) => {
    const left = new Set(slugs(others))
    return all.filter((tag) => !left.has(slugifyTag(tag)))
  }
  const merged = isMine && isTheirs ? changeTags(current.tags, without(tags, base.tags), without(base.tags, tags)) : tags
  const pick = (field: 'category' | 'visibility'): Partial<Filing> =>
    wanted[field] === base[field] || wanted[field] === current[field] ? {} : { [field]: wanted[field] }
  return { ...(isMine ? { tags: merged } : {}), ...pick('category'), ...pick('visibility') }
}

/**
 * Tag names as an item carries them: names of one slug merged under the first spelling, order kept.
 * @throws AppError `invalid_input` for a name that has no letter or digit
 */
export function toTags(names: readonly string[]): Tag[] {
  const tags = new Map<string, Tag>()
  for (const [index, written] of names.entries()) {
    const name = written.normalize('NFC').trim().replace(/\s+/gu, ' ')
    const slug = slugifyTag(name)
    if (slug === '') throw invalidInput(`tags[${index}]`, `tags[${index}] has no letter or digit and could not be searched; use words.`)
    if (!tags.has(slug)) tags.set(slug, { name, slug })
  }
  return [...tags.values()]
}

/**
 * An edit put together with changes that were saved since it began, field by field.
 * @param base the fields that the edit began with
 * @returns null when both changed the same field, each in another way
 */
export function mergeFields<T extends Readonly<Record<string, unknown>>>(base: T, mine: T, theirs: T): T | null {
  const merged: Record<string, unknown> = { ...theirs }
  for (const name of Object.keys(mine)) {
    if (mine[name] === base[name] || mine[name] === theirs[name]) continue
    if (theirs[name] !== base[name]) return null
    merged[name] = mine[name]
  }
  return merged as T
}
