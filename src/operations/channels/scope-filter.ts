import { parseScope } from '../../library/channel-scope.ts'
import type { ItemKind } from '../../library/items.ts'
import type { ItemFilter } from '../../library/search.ts'
import type { Needs } from '../core/procedure.ts'

/** What a scope holds. `reach` is `id` for an item that the scope's address names. */
export interface ScopeFilter {
  readonly reach: 'list' | 'id'
  readonly filter: ItemFilter
}

/**
 * The items of a kind that a scope holds for the actor, by the scope's path.
 * @returns null for a path that is no scope, a scope of the other kind, and an item that the actor may not see
 */
export async function findScope({ actor, store }: Needs<'items'>, path: string, kind: ItemKind): Promise<ScopeFilter | null> {
  const scope = parseScope(path)
  if (!scope) return null
  switch (scope.kind) {
    case 'all':
      return { reach: 'list', filter: {} }
    case 'author':
      return { reach: 'list', filter: { authors: [scope.name] } }
    case 'tag':
      return { reach: 'list', filter: { allTags: [scope.name] } }
    case 'collection':
      return { reach: 'list', filter: { collections: [scope.ref] } }
    case 'category':
      return { reach: 'list', filter: { categories: [scope.name] } }
    default: {
      if (scope.kind !== kind) return null
      const item = await store.items.findItem(actor, kind, scope.ref)
      return item && { reach: 'id', filter: { ids: [item.id] } }
    }
  }
}
