import { z } from 'zod'
import { toCheckNote } from '../../domain/check/policy.ts'
import type { Item, Prompt } from '../../domain/items/items.ts'
import type { RelatedItem } from '../../domain/items/search.ts'
import { hasRight } from '../../domain/people/teams.ts'
import { toFileContent } from '../../domain/skills/skill.ts'
import { AppError } from '../../errors.ts'
import { collectionUrl } from '../collections/collection-records.ts'
import { defineOperation } from '../core/define-operation.ts'
import { collectionInput, kindOf, notFound, refInput, requireItem } from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'
import { itemRecord, itemUrl, toPromptWithVariables, toSkillRecord, withOwner } from '../core/records.ts'
import { TREND, toTrendPoint } from '../evals/trend.ts'
import { composePrompt } from '../prompts/compose.ts'
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
