import { z } from 'zod'
import { descriptionField, tagsField, titleField } from '../domain/items/fields.ts'
import { toTags } from '../domain/items/filing.ts'
import type { ImportedTwin } from '../domain/items/item-access.ts'
import type { Skill } from '../domain/items/items.ts'
import { actorOf } from '../domain/people/actor.ts'
import { isSameFile, type SkillFile } from '../domain/skills/skill.ts'
import { AppError } from '../errors.ts'
import { separateHoldouts } from '../evals/holdouts.ts'
import type { SkillMetadata } from './export-lists.ts'
import { findTwins, hasTags, knownCategory, type Prepared, type Preparing, prepareTwins, statedVisibility } from './prepare-prompt.ts'
import type { SkillDraft } from './skill-folder.ts'

/**
 * Checks one skill, and finds the items that it may mean.
 * @param known metadata from an index, beside its files
 * @throws AppError `invalid_input` when the library refuses it
 */
export async function prepareSkill(
  preparing: Preparing,
  draft: Pick<SkillDraft, 'title' | 'description' | 'files'>,
  known: SkillMetadata,
): Promise<Prepared> {
  const { store, options, isFree, categories } = preparing
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
  const contributors = [...(known.author ? [known.author] : []), ...(known.contributors ?? [])]
  const found = await findTwins(preparing, 'skill', ownerName, { ...known, title: fields.title }, contributors)
  const { owner, twins, source, editor, origin } = found
  const isSame = async ({ item }: ImportedTwin<Skill>) =>
    item.description === fields.description &&
    (item.category?.slug ?? null) === fields.category &&
    hasTags(item, fields.tags) &&
    haveSameBytes(await store.items.readSkillFiles(actorOf(owner, ['read']), item.id), parted.shown)
  const same = new Set<string>()
  // An equal one from the same place settles it: the files of the others need not be read.
  for (const twin of twins.toSorted((one, other) => Number(other.source === source) - Number(one.source === source))) {
    if (isFree(twin.item.id) && (await isSame(twin))) same.add(twin.item.id)
    if (source !== undefined && twin.source === source && same.has(twin.item.id)) break
  }
  return prepareTwins({
    ...preparing,
    ...found,
    same,
    remark,
    held: parted,
    create: () => store.items.createItem(editor, { kind: 'skill', ...fields, visibility: stated ?? owner.defaultVisibility }, origin),
    change: (id) => store.items.changeItem('skill', id, editor, () => fields, origin),
  })
}

const skillFields = z.object({ title: titleField, description: descriptionField.nullable(), tags: tagsField })

/** Holds an index to the limits a save is held to, before anybody is made for its sake. @throws AppError `invalid_input` naming the field */
function checkFields(fields: { title: string; description: string | null; tags: readonly string[] }): void {
  const issue = skillFields.safeParse(fields).error?.issues[0]
  if (issue) throw new AppError('invalid_input', `${String(issue.path[0])} ${issue.message}`)
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
