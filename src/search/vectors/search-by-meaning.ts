import type { EmbedQuery, LibraryStore } from '../../library/ports.ts'

/**
 * A store whose searches by text also go by what a provider says the text means. The provider is asked before the store is, and never
 * inside a transaction: what `inTransaction` hands out is the store as it was.
 */
export function searchByMeaning(store: LibraryStore, embedQuery: EmbedQuery): LibraryStore {
  const vectorOf = async (text: string | undefined) => (text === undefined ? null : await embedQuery(text))
  return {
    ...store,
    async searchPrompts(actor, request) {
      const vector = request.query && request.query.words.length > 0 ? await vectorOf(request.text) : null
      return await store.searchPrompts(actor, { ...request, vector })
    },
    async searchSkills(actor, request) {
      const vector = request.query && request.query.words.length > 0 ? await vectorOf(request.text) : null
      return await store.searchSkills(actor, { ...request, vector })
    },
    findSimilarPrompts: async (text, options) => await store.findSimilarPrompts(text, { ...options, vector: await vectorOf(text) }),
  }
}
