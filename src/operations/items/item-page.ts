import { z } from 'zod'
import { toFileContent } from '../../library/skill.ts'
import { hasRight } from '../../library/teams.ts'
import { collectionUrl } from '../collections/collection-records.ts'
import { collectionInput, kindOf, notFound, refInput } from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'
import { itemUrl, toPromptWithVariables, toSkillRecord, withOwner } from '../core/records.ts'
import { readItemUsage } from '../usage.ts'
import { toRelatedRecord } from './related.ts'

/** Versions, related items and collections that the page of an item names. */
const SHOWN = { versions: 7, related: 5 }
const SHOWN_COLLECTIONS = 8

/** One full item, its newest versions, related items, where it was copied from, the collections it is in, and how it stands to you. */
export const showItemPage = defineProcedure({
  scope: null,
  input: z.object({ collection: collectionInput, id: refInput }),
  async run(context: Needs<'items' | 'collections' | 'usage', 'baseUrl' | 'clock' | 'isCounting'>, { collection, id }) {
    const { actor, store, baseUrl, count } = context
    const kind = kindOf(collection)
    const page = await store.items.readItemPage(actor, kind, id, SHOWN)
    if (!page) throw notFound(kind)
    const { item, versions, related, source, marks } = page
    count('read', item)
    const [collections, files, usage] = await Promise.all([
      store.collections.listHolding(actor, item.id, { among: null, limit: SHOWN_COLLECTIONS }),
      kind === 'skill' ? store.items.readSkillFiles(actor, item.id) : [],
      marks && hasRight(marks.role, 'see') ? readItemUsage(context, item.id) : null,
    ])
    const skill = async () => {
      if (item.kind === 'prompt') return null
      const { categorySlug: _, ...record } = await withOwner(context, item, toSkillRecord(item, baseUrl))
      return { ...record, files: files.map(toFileContent) }
    }
    return {
      prompt: item.kind === 'prompt' ? await withOwner(context, item, toPromptWithVariables(item, baseUrl)) : null,
      skill: await skill(),
      versions: [...versions],
      related: related.map((near) => toRelatedRecord(near, baseUrl)),
      source: source && { title: source.title, author: source.author, url: itemUrl(baseUrl, source.kind, source) },
      collections: collections.map((one) => ({
        id: one.id,
        title: one.title,
        visibility: one.visibility,
        url: collectionUrl(baseUrl, one),
      })),
      marks: marks && { ...marks },
      usage,
    }
  },
})
