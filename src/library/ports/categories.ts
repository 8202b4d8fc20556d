import type { Actor } from '../actor.ts'
import type { Category } from '../items.ts'
import type { SearchResult } from './search.ts'

/** The categories and tags of items. */
export interface CategoryStore {
  /** Categories with the number of items of either kind the actor sees in them, children not counted in. */
  listCategories(actor: Actor): Promise<(Category & { readonly prompts: number; readonly skills: number })[]>
  listTags(actor: Actor, page: { limit: number; offset: number }): Promise<SearchResult<{ slug: string; name: string; count: number }>>
  /** @throws AppError `conflict` when the slug is taken, `invalid_input` for a parent that is none */
  createCategory(category: Category): Promise<void>
  /** False when there is none. */
  renameCategory(slug: string, name: string): Promise<boolean>
  /** To the end of those below `parent`, or of the first level. False when there is none. @throws AppError `invalid_input` for a parent that cannot be one */
  moveCategory(slug: string, parent: string | null): Promise<boolean>
  /**
   * Puts the items of a category, and the categories below it, into another, and removes it. All or nothing.
   * @returns how many items; null without the category
   * @throws AppError `invalid_input` for a target that is none, `conflict` when categories would stand on a third level
   */
  mergeCategory(slug: string, into: string): Promise<number | null>
  /** False when there is none. @throws AppError `conflict` while items or categories are in it */
  deleteCategory(slug: string): Promise<boolean>
}
