import { z } from 'zod'
import type { WalkPosition } from '../../domain/items/item-access.ts'
import type { Category, ItemKind, Prompt } from '../../domain/items/items.ts'
import type { ItemFilter } from '../../domain/items/search.ts'
import { type ChannelScope, parseScope } from '../../domain/skills/channel-scope.ts'
import { SKILL_MD, toFileContent } from '../../domain/skills/skill.ts'
import { parseQuery } from '../../search/analysis/query.ts'
import { defineOperation } from '../core/define-operation.ts'
import {
  collectionsInput,
  countSearch,
  filterText,
  filterType,
  limitInput,
  notFound,
  queryInput,
  refInput,
  searchBoth,
  toPage,
} from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'
import { itemUrl } from '../core/records.ts'
import { browsing, oneOf, toSearchRequest } from '../items/search-items.ts'

/** The contents of a scope. `reach` is `id` for an item that the scope's address names. */
interface ScopeFilter {
  readonly reach: 'list' | 'id'
  readonly filter: ItemFilter
}

/**
 * The items of a kind that a scope holds for the actor, by the scope's path.
 * @returns null for a path that is no scope, a scope of the other kind, and an item that the actor may not see
 */
async function findScope(context: Needs<'items'>, path: string, kind: ItemKind): Promise<ScopeFilter | null> {
  const scope = parseScope(path)
  const held = scope && (await findPart(context, scope, kind))
  return held && { ...held, filter: { ...held.filter, label: scope.label } }
}

async function findPart({ actor, store }: Needs<'items'>, scope: ChannelScope, kind: ItemKind): Promise<ScopeFilter | null> {
  const list = (filter: ItemFilter): ScopeFilter => ({ reach: 'list', filter })
  if (scope.kind === 'all') return list({})
  if (scope.kind === 'author') return list({ authors: [scope.name] })
  if (scope.kind === 'tag') return list({ allTags: [scope.name] })
  if (scope.kind === 'collection') return list({ collections: [scope.ref] })
  if (scope.kind === 'category') return list({ categories: [scope.name] })
  if (scope.kind !== kind) return null
  const item = await store.items.findItem(actor, kind, scope.ref)
  return item && { reach: 'id', filter: { ids: [item.id] } }
}

/** Items of one page: each skill has up to 512 files. */
const PAGE_SIZE = 200
/** Labels of a scope that the Git remote has branches of: each is a history to build. */
const MAX_SHARED_LABELS = 10

/** The skills a channel gives its caller: every channel renders this list, and has no visibility rule of its own. */
export const listSharedSkills = defineProcedure({
  scope: null,
  input: z.object({ scope: refInput.default(''), after: z.number().int().min(0).default(0) }),
  async run(context: Needs<'items'>, { scope, after }) {
    const held = await findScope(context, scope, 'skill')
    if (held) return await context.store.items.walkSharedSkills(context.actor, held.reach, held.filter, after, PAGE_SIZE)
    if (parseScope(scope)?.kind === 'skill') throw notFound('skill')
    return { skills: [], next: null }
  },
})

/** The log of visible changes that the Git remote's history is computed from: a page of items of one kind. */
export const listSharedChanges = defineProcedure({
  scope: null,
  input: z.object({ scope: refInput.default(''), kind: z.enum(['prompt', 'skill']), after: z.number().int().min(0).default(0) }),
  async run(context: Needs<'items'>, { scope, kind, after }) {
    const held = await findScope(context, scope, kind)
    if (!held) return { changes: [], next: null }
    const { label } = held.filter
    if (label !== undefined) {
      return await context.store.items.walkLabelChanges(context.actor, held.reach, kind, { ...held.filter, label }, after, PAGE_SIZE)
    }
    return await context.store.items.walkSharedChanges(context.actor, held.reach, kind, held.filter, after, PAGE_SIZE)
  },
})

/** Labels that a scope's items have, those of most items first. */
export const listSharedLabels = defineProcedure({
  scope: null,
  input: z.object({ scope: refInput.default('') }),
  async run(context: Needs<'items'>, { scope }) {
    const counts = new Map<string, number>()
    for (const kind of ['prompt', 'skill'] as const) {
      const held = await findScope(context, scope, kind)
      const found = held ? await context.store.items.countLabels(context.actor, held.reach, kind, held.filter, MAX_SHARED_LABELS) : []
      for (const { name, items } of found) counts.set(name, (counts.get(name) ?? 0) + items)
    }
    const byItems = [...counts].toSorted(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
    return { labels: byItems.slice(0, MAX_SHARED_LABELS).map(([name]) => name) }
  },
})

/** The bytes of a skill's files, of one of its versions where one is named, for channels: the visibility rule is applied again. */
export const readSharedFiles = defineProcedure({
  scope: null,
  input: z.object({ id: refInput, filename: z.string().optional(), version: z.number().int().optional() }),
  async run({ actor, store }: Needs<'items'>, { id, filename, version }) {
    if (version !== undefined) {
      const all = (await store.items.findVersion(actor, id, version))?.files ?? []
      const files = filename === undefined ? all : all.filter((file) => file.filename === filename)
      if (files.length === 0) throw notFound('skill')
      return { files: [...files] }
    }
    const file = filename?.isWellFormed() ? await store.items.readSkillFile(actor, id, filename) : null
    const files = filename === undefined ? await store.items.readSkillFiles(actor, id) : file ? [file] : []
    if (files.length === 0) throw notFound('skill')
    return { files }
  },
})

/** Most versions of one call. */
const MAX_VERSIONS = 100

/** The texts and files of entries of the log, or of moves of a label: the visibility rule is applied again. */
export const readSharedVersions = defineProcedure({
  scope: null,
  input: z.object({ changes: z.array(z.number().int().min(1)).max(MAX_VERSIONS), label: z.string().optional() }),
  run: async ({ actor, store }: Needs<'items'>, { changes, label }) => ({
    versions: await (label === undefined ? store.items.readSharedVersions : store.items.readLabelVersions)(actor, changes),
  }),
})

/** The answer to `npx skills find`; the names and the shape are its own. */
export const findSkills = defineOperation({
  name: 'find_skills',
  title: 'Find skills to install',
  summary:
    'Search skills in the form of `npx skills find`: with the environment variable SKILLS_API_URL set to this service, it searches here.',
  scope: null,
  cost: 3,
  surfaces: { rest: 'GET /api/search' },
  input: z.object({
    q: queryInput.default('').describe('Words to look for; any text is safe'),
    limit: limitInput.default(20).describe('Maximum number of results'),
    owner: filterText.describe('Username of the author'),
  }),
  output: z.object({
    skills: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        source: z.string().describe('What to install it from; add @ and the name'),
        installs: z.number().int().describe('Always 0: installs are not counted in public'),
      }),
    ),
  }),
  async run(context: Needs<'items', 'baseUrl'>, { q, limit, owner }) {
    const { actor, store, baseUrl } = context
    const { items } = await store.items.searchItems(actor, 'skill', {
      query: parseQuery(q),
      text: q,
      filter: { authors: oneOf(owner) },
      sort: 'relevance',
      limit,
      offset: 0,
    })
    countSearch(context, q, items.length)
    const ids = items.map(({ id }) => id)
    const { skills } = await store.items.walkSharedSkills(actor, 'list', { ids }, 0, limit)
    const shared = new Map(skills.map((skill) => [skill.id, skill]))
    return {
      skills: ids.flatMap((id) => {
        const skill = shared.get(id)
        // Clients install only what follows the specification.
        if (!skill || skill.described.fault !== null) return []
        const source = `${baseUrl}/skills/${skill.isPublic ? skill.slug : id}`
        return [{ id, name: skill.channelName ?? skill.described.name, source, installs: 0 }]
      }),
    }
  },
})

const position: z.ZodType<WalkPosition> = z.object({ createdAt: z.string(), order: z.number().int() })

/** One page of prompts whole: lists elsewhere cut long contents. */
export const listWholePrompts = defineProcedure({
  scope: null,
  input: z.object({ ...browsing, type: filterType }),
  async run(context: Needs<'categories' | 'items'>, input) {
    const { actor, store } = context
    const { items, total } = await store.items.searchItems(actor, 'prompt', toSearchRequest(input))
    if (input.page === 1) countSearch(context, input.q, total)
    return { prompts: await toWholes(context, items), ...toPage(input, total) }
  },
})

/** Every prompt whole, in parts: a part begins where the last one ended, whatever was written between them. */
export const walkWholePrompts = defineProcedure({
  scope: null,
  input: z.object({
    order: z.enum(['newest', 'oldest']).default('newest'),
    collections: collectionsInput,
    after: position.nullable().default(null),
    limit: z.number().int().min(1).max(100).default(100),
  }),
  async run(context: Needs<'categories' | 'items'>, { order, collections, after, limit }) {
    const { prompts, next } = await context.store.items.walkWholePrompts(context.actor, { collections }, order, after, limit)
    return { prompts: await toWholes(context, prompts), next }
  },
})

async function toWholes({ actor, store }: Needs<'categories'>, prompts: readonly Prompt[]) {
  const categories = new Map((await store.categories.listCategories(actor)).map((category) => [category.slug, category]))
  return prompts.map((prompt) => toWhole(prompt, categories))
}

/** A prompt with what the clients of prompts.chat show of it. */
function toWhole(prompt: Prompt, categories: ReadonlyMap<string, Category>) {
  const { id, slug, title, description, content, type, author, contributors, category, tags, votes, createdAt, updatedAt } = prompt
  const parent = categories.get(categories.get(category?.slug ?? '')?.parent ?? '')
  const named = category && { slug: category.slug, name: category.name, parent: parent ? { slug: parent.slug, name: parent.name } : null }
  const plain = { id, slug, title, description, content, type, author, votes, createdAt, updatedAt }
  return { ...plain, contributors: [...contributors], category: named, tags: tags.map((tag) => ({ name: tag.name, slug: tag.slug })) }
}

/** Most results of each kind. */
const LIMIT = 10

const result = z.object({ id: z.string(), title: z.string(), url: z.string() })

/** One of the two tools that ChatGPT looks for where connectors are limited to search and fetch; the shapes are its own. */
export const search = defineOperation({
  name: 'search',
  title: 'Search the library',
  summary: 'Search prompts and Agent Skills by words or by what they are for, best match first. Read a result with fetch.',
  scope: null,
  cost: 6,
  surfaces: { mcp: { readOnly: true, profile: 'chatgpt' } },
  input: z.object({ query: queryInput.describe('Words to look for; any text is safe') }),
  output: z.object({ results: z.array(result) }),
  async run(context: Needs<'items', 'baseUrl'>, { query }) {
    const request = { query: parseQuery(query), text: query, filter: {}, sort: 'relevance' as const, limit: LIMIT, offset: 0 }
    const [prompts, skills] = await searchBoth(context, request)
    countSearch(context, query, prompts.items.length + skills.items.length)
    const hits = [prompts, skills].flatMap(({ items, scores }) => items.map((item, place) => ({ item, score: scores[place]?.score ?? 0 })))
    return {
      results: hits
        .toSorted((one, other) => other.score - one.score)
        .map(({ item }) => ({ id: item.id, title: item.title, url: itemUrl(context.baseUrl, item.kind, item) })),
    }
  },
})

/** The other tool of ChatGPT: a prompt, or the SKILL.md of a skill. */
export const fetchItem = defineOperation({
  name: 'fetch',
  title: 'Fetch a result',
  summary: 'The text of a prompt, or SKILL.md of a skill with the names of its other files, by an id from search.',
  scope: null,
  cost: 2,
  surfaces: { mcp: { readOnly: true, profile: 'chatgpt' } },
  input: z.object({ id: refInput.describe('Id of a result') }),
  output: result.extend({ text: z.string(), metadata: z.record(z.string(), z.string()) }),
  async run({ actor, store, baseUrl, count }: Needs<'items', 'baseUrl'>, { id }) {
    const prompt = await store.items.findItem(actor, 'prompt', id)
    const item = prompt ?? (await store.items.findItem(actor, 'skill', id))
    if (!item) throw notFound('prompt')
    count('read', item)
    const file = item.kind === 'skill' ? await store.items.readSkillFile(actor, item.id, SKILL_MD) : null
    return {
      id: item.id,
      title: item.title,
      url: itemUrl(baseUrl, item.kind, item),
      text: item.kind === 'prompt' ? item.content : file ? toFileContent(file).content : '',
      metadata: {
        kind: item.kind,
        author: item.author,
        ...(item.category && { category: item.category.name }),
        ...(item.tags.length > 0 && { tags: item.tags.map(({ name }) => name).join(', ') }),
        ...(item.kind === 'skill' && { files: item.files.map(({ filename }) => filename).join(', ') }),
      },
    }
  },
})
