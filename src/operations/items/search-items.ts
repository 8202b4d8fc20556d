import { z } from 'zod'
import { shareOnce } from '../../cache/answer-cache.ts'
import type { Item, ItemKind } from '../../domain/items/items.ts'
import { labelName } from '../../domain/items/labels.ts'
import type { Facets, SearchRequest } from '../../domain/items/search.ts'
import { isId } from '../../domain/text/addresses.ts'
import { correctQuery, damerauLevenshtein, parseQuery } from '../../search/analysis/query.ts'
import type { LibraryStore } from '../../storage/store.ts'
import { defineOperation } from '../core/define-operation.ts'
import { hintsFor, hintsOutput, withLanguages } from '../core/hints.ts'
import {
  allOfList,
  collectionInput,
  collectionsInput,
  countSearch,
  filterText,
  filterType,
  kindOf,
  limitInput,
  maxCharactersInput,
  pageInputs,
  pageOutputs,
  queryInput,
  refInput,
  searchBoth,
  toLimits,
  toPage,
} from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'
import {
  chatOutputs,
  fitPrompts,
  foundPrompt,
  foundSkill,
  listedPrompt,
  listedSkill,
  toFoundPrompt,
  toFoundSkill,
  toItemLists,
  toPlainPrompt,
  withScores,
} from '../core/records.ts'

const query = queryInput.describe('Words to look for; any text is safe')
const limit = limitInput.describe('Maximum number of results')
/** The filters of a search. */
const narrowing = {
  category: filterText.describe('Category, including subcategories'),
  tag: filterText.describe('Tag'),
  collections: collectionsInput,
}
type SearchInput = z.infer<z.ZodObject<typeof narrowing>> & { query: string; limit: number; type?: string | undefined }

/** The best hits of one kind, best first, with what a caller may have got wrong. */
async function findBest<K extends ItemKind>(context: Needs<'categories' | 'items'>, kind: K, input: SearchInput) {
  const tags = oneOf(input.tag)
  const { items, scores } = await context.store.items.searchItems(context.actor, kind, {
    query: parseQuery(input.query),
    text: input.query,
    filter: { type: input.type, collections: input.collections, categories: oneOf(input.category), anyTags: tags },
    sort: 'relevance',
    limit: input.limit,
    offset: 0,
  })
  countSearch(context, input.query, items.length)
  const filterHints = await hintsFor(context, items.length, { category: input.category, tags })
  return { items, scores, hints: await withLanguages(context, scores, input.query, filterHints) }
}

export const searchPrompts = defineOperation({
  name: 'search_prompts',
  title: 'Search prompts',
  summary:
    'Find prompts by words in their title, description, tags or text, best match first; an empty query lists the newest. An API key includes your private prompts.',
  scope: null,
  cost: 3,
  surfaces: {
    mcp: { readOnly: true, hasBudget: true, note: 'Use get_prompt with an id or slug from the result to fill in its variables.' },
    rest: 'GET /api/search/prompts',
    cli: 'search query',
  },
  input: z.object({
    query,
    limit,
    type: filterType.describe('Only prompts with this kind of output'),
    ...narrowing,
    maxCharacters: maxCharactersInput.describe('Longest answer as JSON: contents are cut to fit, metadata never'),
  }),
  output: z.object({ query: z.string(), count: z.number().int(), prompts: z.array(foundPrompt), ...hintsOutput }),
  async run(context: Needs<'categories' | 'items', 'baseUrl'>, input) {
    const { items, scores, hints } = await findBest(context, 'prompt', input)
    const records = items.map((prompt) => toFoundPrompt(prompt, context.baseUrl))
    const frame = { query: input.query, count: items.length }
    const budget = input.maxCharacters
    const prompts = budget === undefined ? withScores(records, scores) : fitPrompts(records, scores, frame, budget)
    return { ...frame, prompts, ...hints }
  },
})

export const searchSkills = defineOperation({
  name: 'search_skills',
  title: 'Search skills',
  summary:
    'Find Agent Skills (folders of instructions and files) by words in their title, description, tags or text files, best match first; an empty query lists the newest. Returns file names only.',
  scope: null,
  cost: 3,
  surfaces: { mcp: { readOnly: true, note: 'Read a skill with get_skill.' }, rest: 'GET /api/search/skills', cli: 'search-skills query' },
  input: z.object({ query, limit, ...narrowing }),
  output: z.object({ query: z.string(), count: z.number().int(), skills: z.array(foundSkill), ...hintsOutput }),
  async run(context: Needs<'categories' | 'items', 'baseUrl'>, input) {
    const { items, scores, hints } = await findBest(context, 'skill', input)
    const skills = items.map((skill) => toFoundSkill(skill, context.baseUrl))
    return { query: input.query, count: items.length, skills: withScores(skills, scores), ...hints }
  },
})

/** A single filter value as the store's list of alternatives. */
export function oneOf(value: string | undefined): string[] | undefined {
  return value === undefined ? undefined : [value]
}

/** The filters, order and page of a list of items. */
export const browsing = {
  q: queryInput.default('').describe('Search text; empty lists everything'),
  ...pageInputs,
  category: filterText.describe('Category slug or name, including subcategories'),
  tag: allOfList.describe('Tag slugs or names, separated by commas; all must match'),
  author: filterText.describe('Username of the author'),
  collections: collectionsInput,
  label: labelName.optional().describe('Only items with this label'),
  sort: z.enum(['relevance', 'newest', 'oldest', 'votes']).optional().describe('Default: relevance with q, else newest'),
}
type ListInput = z.infer<z.ZodObject<typeof browsing>> & { type?: string | undefined }

const listOutputs = {
  ...pageOutputs,
  correctedQuery: z.string().optional().describe('The corrected query that was searched, if words are not in the library'),
}

/** A list's input as the store takes it. */
export function toSearchRequest(input: ListInput): SearchRequest {
  return {
    query: parseQuery(input.q),
    text: input.q,
    filter: {
      type: input.type,
      collections: input.collections,
      categories: oneOf(input.category),
      allTags: input.tag,
      authors: oneOf(input.author),
      label: input.label,
    },
    sort: input.sort ?? 'relevance',
    ...toLimits(input),
  }
}

const NO_FACETS: Facets = { types: [], categories: [], tags: [], exact: null }

/** A page of items of one kind as lists show them, with its frame. */
async function findPage<K extends ItemKind>(context: Needs<'items', 'baseUrl'>, kind: K, input: ListInput, wantsFacets = false) {
  const { actor, store, baseUrl } = context
  const request = { ...toSearchRequest(input), wantsFacets }
  const found = await store.items.searchItems(actor, kind, request)
  if (input.page === 1) countSearch(context, input.q, found.total)
  const corrected = correctQuery(input.q, found.corrections)
  const frame = { ...toPage(input, found.total), ...(corrected === null ? {} : { correctedQuery: corrected }) }
  const { prompts, skills } = toItemLists(found.items, baseUrl)
  return { prompts: withScores(prompts, found.scores), skills: withScores(skills, found.scores), facets: found.facets, frame }
}

/** Prompts of one answer by label. */
const MAX_LABELLED = 2_000

/** Everything at a label as its versions there have it. The same object again while nothing changed, so that its bytes are made once. */
async function listLabelled(context: Needs<'items', 'baseUrl'>, input: ListInput & { readonly label: string }) {
  const { label, page } = input
  const filter = { ...toSearchRequest(input).filter, label }
  const listed = await context.store.items.listAtLabel(context.actor, filter, MAX_LABELLED, (page - 1) * MAX_LABELLED)
  return toLabelledPage(listed, JSON.stringify([context.baseUrl, label, page]))
}

const toLabelledPage = shareOnce(({ items, total }: Awaited<ReturnType<LibraryStore['items']['listAtLabel']>>, around: string) => {
  const [baseUrl = '', label, page] = JSON.parse(around)
  const prompts = items.map(({ item, version }) => ({ ...toPlainPrompt(item, baseUrl), label, version }))
  return { prompts, ...toPage({ page, perPage: MAX_LABELLED }, total) }
})

export const listPrompts = defineOperation({
  name: 'list_prompts',
  title: 'List prompts',
  summary:
    'Search and browse prompts in pages, with exact totals. Content over 20,000 characters is cut (contentTruncated). With label alone, up to 2,000 prompts as their versions at that label have them, whole.',
  scope: null,
  cost: 3,
  surfaces: { rest: 'GET /api/prompts', cli: 'list-prompts' },
  input: z.object({ ...browsing, type: filterType }),
  output: z.object({
    prompts: z.array(listedPrompt.extend({ ...chatOutputs, label: z.string().optional(), version: z.number().int().optional() })),
    ...listOutputs,
    ...hintsOutput,
  }),
  async run(context: Needs<'categories' | 'items', 'baseUrl'>, input) {
    if (input.label !== undefined && input.q === '') return await listLabelled(context, { ...input, label: input.label })
    const { prompts, frame } = await findPage(context, 'prompt', input)
    return { prompts, ...frame, ...(await hintsFor(context, frame.total, { category: input.category, tags: input.tag })) }
  },
})

export const listSkills = defineOperation({
  name: 'list_skills',
  title: 'List skills',
  summary: 'Search and browse skills in pages, with exact totals. Lists file names only.',
  scope: null,
  cost: 3,
  surfaces: { rest: 'GET /api/skills', cli: 'list-skills' },
  input: z.object(browsing),
  output: z.object({ skills: z.array(listedSkill), ...listOutputs, ...hintsOutput }),
  async run(context: Needs<'categories' | 'items', 'baseUrl'>, input) {
    const { skills, frame } = await findPage(context, 'skill', input)
    return { skills, ...frame, ...(await hintsFor(context, frame.total, { category: input.category, tags: input.tag })) }
  },
})

/** A list with the counts its filters show, for the pages. Items of the other collection are none. */
export const browseItems = defineProcedure({
  scope: null,
  input: z.object({ ...browsing, collection: collectionInput, type: filterType }),
  async run(context: Needs<'items', 'baseUrl'>, { collection, type, ...input }) {
    const kind = kindOf(collection)
    const wanted = { ...input, ...(kind === 'prompt' && { type }) }
    const { facets, frame, ...items } = await findPage(context, kind, wanted, true)
    return { ...items, facets: facets ?? NO_FACETS, ...frame }
  },
})

/** Items of each kind that are compared, best match first. */
const COMPARED = 20
const MAX_NEAR = 5
/** Mistyped characters in a slug, and the least length of one that was cut or has more behind it. */
const MAX_EDITS = 2
const MIN_START = 8

/** Items of lists whose slug is close to an address that leads nowhere: mistyped, cut, or with something behind it. */
export const nearAddresses = defineProcedure({
  scope: null,
  input: z.object({ ref: refInput }),
  async run(context: Needs<'items'>, { ref }) {
    const wanted = ref.toLowerCase()
    const query = parseQuery(wanted.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim())
    if (isId(ref) || query === null) return { items: [] }
    const request = { query, filter: {}, sort: 'relevance', limit: COMPARED, offset: 0 } as const
    const found = (await searchBoth(context, request)).flatMap(({ items }): readonly Item[] => items)
    const items = found.map(({ kind, slug, title }) => ({ collection: kind === 'prompt' ? ('prompts' as const) : 'skills', slug, title }))
    return { items: items.filter(({ slug }) => isNear(slug, wanted)).slice(0, MAX_NEAR) }
  },
})

function isNear(slug: string, wanted: string): boolean {
  const [short, long] = slug.length < wanted.length ? [slug, wanted] : [wanted, slug]
  if (short.length >= MIN_START && long.startsWith(short)) return true
  return short.length > MAX_EDITS && damerauLevenshtein(slug, wanted, MAX_EDITS) <= MAX_EDITS
}
