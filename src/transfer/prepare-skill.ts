import { descriptionField, tagsField, titleField } from '../domain/items/fields.ts'
import type { ImportedTwin } from '../domain/items/item-access.ts'
import type { Skill } from '../domain/items/items.ts'
import { toTags } from '../domain/items/tags.ts'
import type { Visibility } from '../domain/items/visibility.ts'
import type { Hold } from '../domain/service/transfer.ts'
import { isSameFile, type SkillFile } from '../domain/skills/skill.ts'
import { AppError } from '../errors.ts'
import { separateHoldouts } from '../evals/read-cases.ts'
import type { LibraryStore } from '../storage/store.ts'
import { type EntryPlace, placeName } from './match-entries.ts'
import type { People } from './people.ts'
import {
  findKnown,
  hasTags,
  IMPORT_NOTE,
  type ImportOptions,
  knownCategory,
  type Prepared,
  prepareTwins,
  statedVisibility,
} from './prepare-prompt.ts'
import type { SkillDraft } from './skill-folder.ts'

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
 * Checks one skill, and finds the items that it may mean.
 * @param known metadata from an index, beside its files
 * @throws AppError `invalid_input` when the library refuses it
 */
export async function prepareSkill(
  store: LibraryStore,
  draft: Pick<SkillDraft, 'title' | 'description' | 'files'>,
  options: ImportOptions,
  known: SkillMetadata,
  people: People,
  isFree: (id: string) => boolean,
  categories: ReadonlySet<string>,
  place: EntryPlace | undefined,
): Promise<Prepared> {
  const ownerName = options.owner ?? known.owner
  if (ownerName === undefined) throw new AppError('invalid_input', 'it names no owner; set one with --user')
  const { category, remark } = knownCategory(known.category ?? null, categories, options)
  const parted = separateHoldouts(draft.files)
  const fields = {
    title: known.title ?? draft.title,
    description: known.description === undefined ? draft.description : known.description,
    category,
    tags: known.tags ?? [],
    files: parted.shown,
  }
  checkFields(fields)
  const stated = statedVisibility(known, options)
  const owner = await people.findOwner(store, ownerName)
  const contributors = [...(known.author ? [known.author] : []), ...(known.contributors ?? [])]
  const exported = await findKnown(owner, { id: known.id, title: fields.title }, contributors, isFree, (item) =>
    store.items.findExported('skill', item),
  )
  const { authorId, others } = exported ?? (await people.findAuthor(store, owner, contributors))
  const { id, slug, createdAt, updatedAt, held } = known
  const origin = { authorId, contributors: others, id, slug, createdAt, updatedAt, held }
  const editor = { userId: owner.id, note: IMPORT_NOTE }
  const reader = { kind: 'user', userId: owner.id, username: owner.username, scopes: new Set(['read'] as const) } as const
  const source = place && placeName(place)
  const twins = exported ? [exported] : await store.items.findImported('skill', owner.id, authorId, fields.title, source)
  const isSame = async ({ item }: ImportedTwin<Skill>) =>
    item.description === fields.description &&
    (item.category?.slug ?? null) === fields.category &&
    hasTags(item, fields.tags) &&
    haveSameBytes(await store.items.readSkillFiles(reader, item.id), parted.shown)
  const same = new Set<string>()
  // An equal one from the same place settles it: the files of the others need not be read.
  for (const twin of twins.toSorted((one, other) => Number(other.source === source) - Number(one.source === source))) {
    if (isFree(twin.item.id) && (await isSame(twin))) same.add(twin.item.id)
    if (source !== undefined && twin.source === source && same.has(twin.item.id)) break
  }
  return prepareTwins(exported?.item.id, {
    store,
    options,
    owner,
    twins,
    same,
    remark,
    held: parted,
    create: () => store.items.createItem(editor, { kind: 'skill', ...fields, visibility: stated ?? owner.defaultVisibility }, origin),
    change: (found) => store.items.changeItem('skill', found, editor, () => fields, origin),
  })
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
