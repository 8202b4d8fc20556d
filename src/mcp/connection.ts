import type { ToolProfile } from '../operations/core/define-operation.ts'

/** A filter of the prompts and skills a connection lists (the URL's `users`, `collections`, `categories`, `tags`). */
export interface ListFilter {
  readonly users?: readonly string[]
  readonly collections?: readonly string[]
  readonly categories?: readonly string[]
  readonly tags?: readonly string[]
}

/**
 * What the address of a connection asks for: comma-separated values of `users`, `collections`, `categories` and `tags`, where an empty parameter counts as
 * absent and a part of the path wins, and `profile`.
 */
export function readConnection(
  search: string,
  params: Readonly<Record<string, string>>,
): { readonly filter: ListFilter; readonly profile?: ToolProfile } {
  const query = new URLSearchParams(search)
  const values = (name: string) =>
    query
      .getAll(name)
      .flatMap((text) => text.split(','))
      .map((value) => value.trim())
      .filter((value) => value !== '')
  const { user, collected, category, tag } = params
  const users = user === undefined ? values('users') : [user]
  const collections = collected === undefined ? values('collections') : [collected]
  const categories = category === undefined ? values('categories') : [category]
  const tags = tag === undefined ? values('tags') : [tag]
  return {
    filter: {
      ...(users.length > 0 ? { users } : {}),
      ...(collections.length > 0 ? { collections } : {}),
      ...(categories.length > 0 ? { categories } : {}),
      ...(tags.length > 0 ? { tags } : {}),
    },
    ...(query.get('profile') === 'chatgpt' ? { profile: 'chatgpt' } : {}),
  }
}
