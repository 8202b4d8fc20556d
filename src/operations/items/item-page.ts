import { z } from 'zod'
import { toCheckNote } from '../../domain/check/findings.ts'
import { PROMPT_TYPES, versionNumber } from '../../domain/items/fields.ts'
import type { FullVersion, Item, Prompt } from '../../domain/items/items.ts'
import type { RelatedItem } from '../../domain/items/search.ts'
import { hasRight } from '../../domain/people/teams.ts'
import { toFileContent } from '../../domain/skills/skill.ts'
import { AppError } from '../../errors.ts'
import { collectionUrl } from '../collections/collections.ts'
import { defineOperation } from '../core/define-operation.ts'
import {
  baseVersionInput,
  collectionInput,
  editorOf,
  itemTarget,
  kindOf,
  notFound,
  refInput,
  requireEditable,
  requireItem,
} from '../core/inputs.ts'
import { defineProcedure, type Needs, requireUser } from '../core/procedure.ts'
import {
  chatOutputs,
  fileRecord,
  itemRecord,
  itemUrl,
  toChat,
  toPromptWithVariables,
  toSkillRecord,
  toVersionRecord,
  versionRecord,
  withOwner,
} from '../core/records.ts'
import { TREND, toTrendPoint } from '../evals/cases.ts'
import { checkParts, composePrompt, hasParts, inTurn } from '../prompts/compose.ts'
import { readItemUsage } from '../usage.ts'
import { seenLabels } from './labels.ts'

export const relatedRecord = itemRecord.pick({ id: true, slug: true, title: true, description: true, author: true }).extend({
  url: z.string(),
  similarity: z.number().min(0).max(1).describe('Likeness in meaning'),
  nearlySame: z.boolean().describe('A rewritten twin, or nearly'),
})

/** A related item as records have it. */
function toRelatedRecord({ item, similarity, isNearlySame }: RelatedItem<Item>, baseUrl: string): z.infer<typeof relatedRecord> {
  const { id, slug, title, description, author, kind } = item
  const likeness = { similarity: Math.round(similarity * 1000) / 1000, nearlySame: isNearlySame }
  return { id, slug, title, description, author, url: itemUrl(baseUrl, kind, item), ...likeness }
}

export const relatedItems = defineOperation({
  name: 'related_items',
  title: 'Related items',
  summary: 'Prompts near a prompt in meaning, or skills near a skill, nearest first; none when nothing is near.',
  scope: null,
  cost: 3,
  surfaces: { mcp: { readOnly: true }, rest: 'GET /api/{collection}/{id}/related', cli: 'list-related collection id' },
  input: z.object({
    collection: collectionInput.describe('Kind of the item'),
    id: refInput.describe('Id or slug'),
    limit: z.number().int().min(1).max(20).default(5).describe('Maximum number of items'),
  }),
  output: z.object({ items: z.array(relatedRecord) }),
  async run(context: Needs<'items', 'baseUrl'>, { limit, ...input }) {
    const { kind, id } = await requireItem(context, input)
    const related = await context.store.items.findRelated(context.actor, kind, id, limit)
    return { items: related.map((near) => toRelatedRecord(near, context.baseUrl)) }
  },
})

/** A prompt with its parts put in; as it is written, and why, where that cannot be. */
async function tryToCompose(context: Needs<'items', 'sealer'>, prompt: Prompt): Promise<{ prompt: Prompt; fault: string | null }> {
  try {
    return { prompt: await composePrompt(context, prompt), fault: null }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { prompt, fault: error.message }
  }
}

/** Versions, related items and collections that the page of an item names. */
const SHOWN = { versions: 7, related: 5 }
const SHOWN_COLLECTIONS = 8

/** One full item, its newest versions, related items, where it was copied from, the collections it is in, and how it stands to you. */
export const showItemPage = defineProcedure({
  scope: null,
  input: z.object({ collection: collectionInput, id: refInput }),
  async run(
    context: Needs<'items' | 'collections' | 'usage' | 'checks' | 'evals', 'baseUrl' | 'clock' | 'isCounting' | 'sealer'>,
    { collection, id },
  ) {
    const { actor, store, baseUrl, count } = context
    const kind = kindOf(collection)
    const page = await store.items.readItemPage(actor, kind, id, SHOWN)
    if (!page) throw notFound(kind)
    const { item, versions, related, source, marks } = page
    count('read', item)
    const isOwn = marks !== null && hasRight(marks.role, 'see')
    const [collections, files, usage, usedBy, composed, verdicts, blocked, trend] = await Promise.all([
      store.collections.listHolding(actor, item.id, { among: null, limit: SHOWN_COLLECTIONS }),
      kind === 'skill' ? store.items.readSkillFiles(actor, item.id) : [],
      isOwn ? readItemUsage(context, item.id) : null,
      kind === 'prompt' ? store.items.listDependants(actor, item.id, SHOWN_COLLECTIONS) : [],
      item.kind === 'prompt' ? tryToCompose(context, item) : null,
      store.checks.readVerdicts([item.id]),
      marks && marks.version > marks.servedVersion ? store.checks.judgeItem(item.id, marks.version) : null,
      isOwn ? store.evals.listTrend(item.id, TREND) : [],
    ])
    const skill = async () => {
      if (item.kind === 'prompt') return null
      const { categorySlug: _, ...record } = await withOwner(context, item, toSkillRecord(item, baseUrl))
      return { ...record, files: files.map(toFileContent) }
    }
    return {
      /** With its parts put in. */
      prompt: composed && (await withOwner(context, item, toPromptWithVariables(composed.prompt, baseUrl))),
      partsFault: composed?.fault ?? null,
      usedBy: usedBy.map((one) => ({ title: one.title, url: itemUrl(baseUrl, one.kind, one) })),
      skill: await skill(),
      versions: [...versions],
      labels: seenLabels(item, marks?.role ?? null).map(({ name, targets }) => ({ name, targets: [...targets] })),
      related: related.map((near) => toRelatedRecord(near, baseUrl)),
      source: source && { title: source.title, author: source.author, url: itemUrl(baseUrl, source.kind, source) },
      collections: collections.map((one) => {
        const { id, title, visibility } = one
        return { id, title, visibility, url: collectionUrl(baseUrl, one) }
      }),
      marks: marks && { ...marks },
      /** Counts of the findings of the version that is served; undefined: it was not checked yet. */
      check: toCheckNote(verdicts.get(item.id), item.version),
      /** Rules that keep the newest version from others, for those who see it. */
      blockedBy: blocked && [...new Set(blocked.blocking.map(({ rule }) => rule))],
      usage,
      /** Pass rates over versions, for those who own it. */
      tests: trend.map(toTrendPoint),
    }
  },
})

const versionInput = versionNumber.describe('Number of the version')

async function findVersion(context: Needs<'items'>, itemId: string, number: number): Promise<FullVersion> {
  const version = await context.store.items.findVersion(context.actor, itemId, number)
  if (!version) throw new AppError('not_found', `Version ${number} not found, or not visible to you.`)
  return version
}

export const listVersions = defineOperation({
  name: 'list_versions',
  title: 'List versions',
  summary: 'The history of a prompt or skill, newest first. Owners see all versions, others those saved while public.',
  scope: null,
  surfaces: { rest: 'GET /api/{collection}/{id}/versions', cli: 'list-versions collection id' },
  input: z.object({
    ...itemTarget,
    before: versionNumber.optional().describe('Only versions below this number'),
    limit: z.number().int().min(1).max(100).default(50),
  }),
  output: z.object({
    versions: z.array(versionRecord),
    nextBefore: z.number().int().nullable().describe('Pass as before for the next page; null at the end'),
  }),
  async run(context: Needs<'items'>, input) {
    const item = await requireItem(context, input)
    const limits = { before: input.before ?? null, limit: input.limit + 1 }
    const versions = await context.store.items.listVersions(context.actor, item.id, limits)
    const page = versions.slice(0, input.limit)
    return { versions: page.map(toVersionRecord), nextBefore: versions.length > input.limit ? (page.at(-1)?.version ?? null) : null }
  },
})

export const getVersion = defineOperation({
  name: 'get_version',
  title: 'Get a version',
  summary: 'One version of a prompt (content) or of a skill (every file), as it was saved.',
  scope: null,
  surfaces: { rest: 'GET /api/{collection}/{id}/versions/{version}', cli: 'get-version collection id version' },
  input: z.object({ ...itemTarget, version: versionInput }),
  output: versionRecord.extend({
    title: z.string(),
    description: z.string().nullable(),
    categorySlug: z.string().nullable(),
    tags: z.array(z.string()),
    type: z.enum(PROMPT_TYPES).nullable(),
    content: z.string().nullable().describe("A prompt's text; null for skills"),
    ...chatOutputs,
    files: z.array(fileRecord).nullable().describe("A skill's files; null for prompts"),
  }),
  async run(context: Needs<'items'>, input) {
    const item = await requireItem(context, input)
    const version = await findVersion(context, item.id, input.version)
    const { title, description, category: categorySlug, tags, type, body, files } = version
    const fields = { title, description, categorySlug, tags: [...tags], type, content: body?.content ?? null }
    return { ...toVersionRecord(version), ...fields, ...toChat(body), files: files ? files.map(toFileContent) : null }
  },
})

export const restoreVersion = defineOperation({
  name: 'restore_version',
  title: 'Restore a version',
  summary: 'Restore an older version of an item you own as the newest one. Visibility does not change; no version is lost.',
  scope: 'write',
  writes: true,
  surfaces: { rest: 'POST /api/{collection}/{id}/versions/{version}/restore', cli: 'restore-version collection id version' },
  input: z.object({ ...itemTarget, version: versionInput, baseVersion: baseVersionInput }),
  output: z.object({
    success: z.literal(true),
    id: z.string(),
    version: z.number().int(),
    lostCategory: z.string().optional().describe('Slug of the category of that version, if it was removed since. The item then has none.'),
  }),
  async run(context: Needs<'items' | 'inTransaction', 'sealer'>, input) {
    const user = requireUser(context.actor)
    const item = await requireItem(context, input)
    requireEditable(user, item, await context.store.items.findRole(user.userId, item.ownerId), input.id)
    const old = await findVersion(context, item.id, input.version)
    const editor = { ...editorOf(user), note: `Restored version ${old.version}`, restores: old.version }
    const { title, description, tags, category } = old
    const content = item.kind === 'prompt' ? { type: old.type ?? item.type, ...old.body } : { files: old.files ?? undefined }
    const restored = await inTurn(context, old.body !== null && hasParts(old.body), async (store) => {
      if (old.body) await checkParts({ ...context, store }, old.body, item)
      return await store.items.changeItem(item.kind, item.id, editor, (current, role) => {
        requireEditable(user, current, role, input.id, { baseVersion: input.baseVersion })
        return { title, description, tags, category, ...content }
      })
    })
    if (!restored) throw notFound(item.kind)
    const lostCategory = restored.category === null ? old.category : null
    return { success: true as const, id: restored.id, version: restored.version, ...(lostCategory === null ? {} : { lostCategory }) }
  },
})
