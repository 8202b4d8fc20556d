import { writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { categoryNameField } from '../domain/items/category-name.ts'
import { isSlug } from '../domain/items/slug.ts'
import { DEFAULT_VISIBILITIES, VISIBILITIES } from '../domain/items/visibility.ts'
import { displayNameField } from '../domain/people/account.ts'
import { teamDescriptionField } from '../domain/people/teams.ts'
import type { ExportedTeam, Hold } from '../domain/service/transfer.ts'
import { AppError } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'
import { readRegularFile } from './regular-file.ts'

/** Largest list that is read, in bytes, and largest index of skills. */
const MAX_BYTES = 16 * 1024 * 1024
const MAX_INDEX_BYTES = 256 * 1024 * 1024

const slugField = z.string().refine(isSlug)
const categoriesList = z.array(z.object({ slug: slugField, name: categoryNameField, parent: slugField.nullable() }))
const teamsList = z.array(
  z.object({
    name: z.string(),
    displayName: displayNameField.nullable(),
    description: teamDescriptionField.nullable(),
    newItems: z.enum(DEFAULT_VISIBILITIES),
  }),
)
const skillMetadata = z.object({
  title: z.string().optional(),
  description: z.string().nullable().optional(),
  category: z.string().nullable().optional(),
  tags: z.array(z.string()).optional(),
  owner: z.string().optional(),
  author: z.string().optional(),
  contributors: z.array(z.string()).optional(),
  visibility: z.enum(VISIBILITIES).optional(),
  id: z.string().optional(),
  slug: z.string().optional(),
  createdAt: z.iso.datetime().optional(),
  updatedAt: z.iso.datetime().optional(),
})
const hold = { heldAt: z.iso.datetime().optional(), heldFrom: z.literal('public').nullable().optional() }
const skillsIndex = z.array(skillMetadata.extend({ folder: z.string(), ...hold }))

/** Metadata of a skill outside its folder, from an export or the starter library. */
export type SkillMetadata = Readonly<z.infer<typeof skillMetadata>> & { readonly held?: Hold | undefined }
/** The entries of the index of skills. */
export type SkillsIndex = z.infer<typeof skillsIndex>
/** Teams by name in lower case. */
export type ExportedTeams = ReadonlyMap<string, ExportedTeam>

/** Writes a list of an export. */
export async function writeList(path: string, list: readonly unknown[], mode: number): Promise<void> {
  await writeFile(path, `${JSON.stringify(list, null, 2)}\n`, { flush: true, mode })
}

/** Reads a list of an export; null where there is none. @throws AppError `invalid_input` when the file is no export */
async function readList<T>(path: string, what: string, schema: z.ZodType<T>, maxBytes = MAX_BYTES): Promise<T | null> {
  const bytes = await readRegularFile(path, maxBytes)
  if (bytes === null) return null
  try {
    return schema.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch (error) {
    throw new AppError('invalid_input', `${path} is not a list of ${what} written by export.`, { cause: error })
  }
}

/**
 * Creates the missing categories of an export; existing ones stay unchanged. A category whose parent is a child here becomes top-level.
 * @returns the slugs it created
 * @throws AppError `invalid_input` when the file is no export
 */
export async function importCategories(store: LibraryStore, path: string): Promise<string[]> {
  const wanted = await readList(path, 'categories', categoriesList)
  if (wanted === null) return []
  return await store.inTransaction(async (transaction) => {
    const parents = new Map((await transaction.transfer.exportCategories()).map(({ slug, parent }) => [slug, parent]))
    const made: string[] = []
    for (const { slug, name, parent } of wanted) {
      if (parents.has(slug)) continue
      const category = { slug, name, parent: parent !== null && parents.get(parent) === null ? parent : null }
      await transaction.categories.createCategory(category)
      parents.set(slug, category.parent)
      made.push(slug)
    }
    return made
  })
}

/**
 * Reads which owners of an export are teams.
 * @returns null for an export of an earlier version, which does not say
 * @throws AppError `invalid_input` when the file is no export
 */
export async function readTeams(path: string): Promise<ExportedTeams | null> {
  const teams = await readList(path, 'teams', teamsList)
  return teams && new Map(teams.map((team) => [team.name.toLowerCase(), team]))
}

/** Reads the index of skills, by their folders; empty where there is none. @throws AppError `invalid_input` when the file is no export */
export async function readSkillsIndex(path: string): Promise<Map<string, SkillMetadata>> {
  const index = (await readList(path, 'skills', skillsIndex, MAX_INDEX_BYTES)) ?? []
  return new Map(
    index.map(({ folder, heldAt, heldFrom = null, ...entry }) => [
      folder,
      heldAt === undefined ? entry : { ...entry, held: { at: heldAt, from: heldFrom } },
    ]),
  )
}
