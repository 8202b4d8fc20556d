import type { ToolProfile } from '../operations/core/define-operation.ts'

/** A filter of the prompts and skills a connection lists (the URL's `users`, `collections`, `categories`, `tags`). */
export interface ListFilter {
  readonly users?: readonly string[]
  readonly collections?: readonly string[]
  readonly categories?: readonly string[]
  readonly tags?: readonly string[]
}

/**
 * The lists that the address of a connection asks for: comma-separated values of `users`, `collections`, `categories` and `tags`, where an empty parameter counts as
 * absent and a part of the path wins, and `profile`.
 */
export function readConnection(
  search: string,
  params: Readonly<Record<string, string>>,
): { readonly filter: ListFilter; readonly profile?: ToolProfile } {
  const query = new URLSearchParams(search)
  const read = (name: keyof ListFilter, given: string | undefined): ListFilter => {
    const texts = query.getAll(name).flatMap((text) => text.split(','))
    const values = given === undefined ? texts.map((text) => text.trim()).filter((text) => text !== '') : [given]
    return values.length > 0 ? { [name]: values } : {}
  }
  const { user, collected, category, tag } = params
  return {
    filter: { ...read('users', user), ...read('collections', collected), ...read('categories', category), ...read('tags', tag) },
    ...(query.get('profile') === 'chatgpt' ? { profile: 'chatgpt' } : {}),
  }
}
