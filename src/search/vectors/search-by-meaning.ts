import type { ItemReader, ItemWriter } from '../../library/ports/items.ts'
import type { EmbedQuery } from '../../library/ports/models.ts'
import type { SearchRequest } from '../../library/ports/search.ts'

/**
 * Adds a provider's query vector to searches by text. The provider is asked before the store is, and never inside a transaction: the
 * store that `inTransaction` gives has no vectors.
 */
export function searchByMeaning(items: ItemReader & ItemWriter, embedQuery: EmbedQuery): ItemReader & ItemWriter {
  const withVector = async (request: SearchRequest): Promise<SearchRequest> => {
    const hasWords = request.query !== null && request.query.words.length > 0
    return { ...request, vector: hasWords && request.text !== undefined ? await embedQuery(request.text) : null }
  }
  return {
    ...items,
    searchPrompts: async (actor, request) => await items.searchPrompts(actor, await withVector(request)),
    searchSkills: async (actor, request) => await items.searchSkills(actor, await withVector(request)),
    findSimilarPrompts: async (text, options) => await items.findSimilarPrompts(text, { ...options, vector: await embedQuery(text) }),
  }
}
