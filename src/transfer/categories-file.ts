import { writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { categoryNameField } from '../domain/items/category-name.ts'
import type { Category } from '../domain/items/items.ts'
import { isSlug } from '../domain/items/slug.ts'
import { AppError } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'
import { readRegularFile } from './regular-file.ts'

/** Largest file of categories that is read, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024

const slugField = z.string().refine(isSlug)
const categoriesFile = z.array(z.object({ slug: slugField, name: categoryNameField, parent: slugField.nullable() }))

/** Writes the categories of an export: all, or those in `used` with their parents. */
export async function writeCategories(
  path: string,
  all: readonly Category[],
  used: ReadonlySet<string> | null,
  mode: number,
): Promise<void> {
  const parents = new Set(all.flatMap(({ slug, parent }) => (parent !== null && used?.has(slug) ? [parent] : [])))
  const written = used ? all.filter(({ slug }) => used.has(slug) || parents.has(slug)) : all
  await writeFile(path, `${JSON.stringify(written, null, 2)}\n`, { flush: true, mode })
}

/**
 * Creates the missing categories of an export; existing ones stay unchanged. A category whose parent is a child here becomes top-level.
 * @returns the slugs it created
 * @throws AppError `invalid_input` when the file is no export
 */
export async function importCategories(store: LibraryStore, path: string): Promise<string[]> {
  const bytes = await readRegularFile(path, MAX_BYTES)
  if (bytes === null) return []
  const wanted = parse(path, bytes)
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

function parse(path: string, bytes: Uint8Array): z.infer<typeof categoriesFile> {
  try {
    return categoriesFile.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch (error) {
    throw new AppError('invalid_input', `${path} is not a list of categories written by export.`, { cause: error })
  }
}
