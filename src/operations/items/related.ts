import { z } from 'zod'
import type { Item } from '../../library/items.ts'
import type { RelatedItem } from '../../library/search.ts'
import { defineOperation } from '../core/define-operation.ts'
import { collectionInput, refInput, requireItem } from '../core/inputs.ts'
import type { Needs } from '../core/procedure.ts'
import { itemUrl } from '../core/records.ts'

export const relatedRecord = z.object({
  id: z.string(),
  slug: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  author: z.string(),
  url: z.string(),
  similarity: z.number().min(0).max(1).describe('Likeness in meaning'),
  nearlySame: z.boolean().describe('A rewritten twin, or nearly'),
})

/** A related item as records have it. */
export function toRelatedRecord({ item, similarity, isNearlySame }: RelatedItem<Item>, baseUrl: string): z.infer<typeof relatedRecord> {
  return {
    id: item.id,
    slug: item.slug,
    title: item.title,
    description: item.description,
    author: item.author,
    url: itemUrl(baseUrl, item.kind, item),
    similarity: Math.round(similarity * 1000) / 1000,
    nearlySame: isNearlySame,
  }
}

export const relatedItems = defineOperation({
  name: 'related_items',
  title: 'Related items',
  summary: 'Prompts near a prompt in meaning, or skills near a skill, nearest first; none when nothing is near.',
  scope: null,
  cost: 3,
  surfaces: {
    mcp: { readOnly: true },
    rest: { method: 'GET', path: '/api/{collection}/{id}/related' },
    cli: { command: 'list-related', positional: ['collection', 'id'] },
  },
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
