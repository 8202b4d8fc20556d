import { z } from 'zod'
import { collectionInput, countSearch, filterType, toPage } from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'
import { toListedPrompt, toSkillRecord, withScores } from '../core/records.ts'
import { browsing, toCorrection, toSearchRequest } from '../prompts/list-prompts.ts'

/** A list with the counts its filters show, for the pages. Items of the other collection are none. */
export const browseItems = defineProcedure({
  scope: null,
  input: z.object({ ...browsing, collection: collectionInput, type: filterType }),
  async run(context: Needs<'items', 'baseUrl'>, { collection, type, ...input }) {
    const { actor, store, baseUrl } = context
    const isOfPrompts = collection === 'prompts'
    const request = { ...toSearchRequest({ ...input, ...(isOfPrompts && { type }) }), wantsFacets: true }
    const found = isOfPrompts
      ? { prompts: await store.items.searchItems(actor, 'prompt', request), skills: null }
      : { prompts: null, skills: await store.items.searchItems(actor, 'skill', request) }
    const { total, corrections, facets } = found.prompts ?? found.skills
    const { prompts, skills } = found
    if (input.page === 1) countSearch(context, input.q, total)
    return {
      prompts: prompts
        ? withScores(
            prompts.items.map((prompt) => toListedPrompt(prompt, baseUrl)),
            prompts.scores,
          )
        : [],
      skills: skills
        ? withScores(
            skills.items.map((skill) => toSkillRecord(skill, baseUrl)),
            skills.scores,
          )
        : [],
      facets: facets
        ? { types: [...facets.types], categories: [...facets.categories], tags: [...facets.tags], exact: facets.exact }
        : { types: [], categories: [], tags: [], exact: null },
      ...toPage(input, total),
      ...toCorrection(input.q, corrections),
    }
  },
})
