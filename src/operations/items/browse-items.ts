import { z } from 'zod'
import { defineOperation, type Needs } from '../core/define-operation.ts'
import { collectionInput, countSearch, filterType, pageOutputs, toPage } from '../core/inputs.ts'
import { listedPrompt, listedSkill, toListedPrompt, toSkillRecord, withScores } from '../core/records.ts'
import { browsing, correctionOutput, toCorrection, toSearchRequest } from '../prompts/list-prompts.ts'

const count = z.number().int()
/** See `Facets` in `library/ports/search.ts`. */
const facets = z.object({
  types: z.array(z.object({ type: z.string(), count })),
  categories: z.array(z.object({ slug: z.string(), count })),
  tags: z.array(z.object({ slug: z.string(), name: z.string(), count })),
  exact: count.nullable(),
})

/** A list with the counts its filters show, for the pages. Items of the other collection are none. */
export const browseItems = defineOperation({
  name: 'browse_items',
  title: 'Browse items',
  summary: 'One page of prompts or skills, as list_prompts and list_skills give it, with counts of the result by type, category and tag.',
  scope: null,
  cost: 3,
  surfaces: {},
  input: z.object({ ...browsing, collection: collectionInput, type: filterType }),
  output: z.object({ prompts: z.array(listedPrompt), skills: z.array(listedSkill), facets, ...pageOutputs, ...correctionOutput }),
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
