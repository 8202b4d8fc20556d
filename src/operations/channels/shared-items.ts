import { z } from 'zod'
import type { ItemKind } from '../../domain/items/items.ts'
import type { ItemFilter } from '../../domain/items/search.ts'
import { type ChannelScope, parseScope } from '../../domain/skills/channel-scope.ts'
import { parseQuery } from '../../search/analysis/query.ts'
import { defineOperation } from '../core/define-operation.ts'
import { countSearch, filterText, limitInput, notFound, queryInput, refInput } from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'
import { oneOf } from '../items/search-items.ts'

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
