import { z } from 'zod'
import type { Collection } from '../../domain/items/collections.ts'
import { VISIBILITIES } from '../../domain/items/visibility.ts'
import { hasRight, TEAM_ROLES } from '../../domain/people/teams.ts'
import { AppError } from '../../errors.ts'
import { refInput } from '../core/inputs.ts'
import { when } from '../core/records.ts'

/** A collection in lists that models read. */
export const foundCollection = z.object({
  id: z.string(),
  slug: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  owner: z.string(),
  visibility: z.enum(VISIBILITIES),
  prompts: z.number().int().describe('Those you can see'),
  skills: z.number().int().describe('Those you can see'),
  url: z.string(),
})

/** A collection as the other surfaces show it. */
export const collectionRecord = foundCollection.extend({
  isOfTeam: z.boolean(),
  role: z.enum(TEAM_ROLES).nullable().describe('What you may do with it'),
  createdAt: when,
  version: z.number().int().nullable().describe('For baseVersion; null for those who may not change it'),
  updatedAt: when.nullable().describe('As version'),
})

export const collectionRef = refInput.describe('Id or slug of the collection')

/** The page of a collection. By id where the slug leads its owner alone. */
export function collectionUrl(baseUrl: string, { id, slug, visibility }: Pick<Collection, 'id' | 'slug' | 'visibility'>): string {
  return `${baseUrl}/collections/${visibility === 'unlisted' ? id : slug}`
}

export function toFoundCollection(collection: Collection, baseUrl: string): z.infer<typeof foundCollection> {
  const { id, slug, title, description, owner, visibility, counts } = collection
  const url = collectionUrl(baseUrl, collection)
  return { id, slug, title, description, owner, visibility, prompts: counts.prompt, skills: counts.skill, url }
}

export function toCollectionRecord(collection: Collection, baseUrl: string): z.infer<typeof collectionRecord> {
  const { isOfTeam, role, createdAt, version, updatedAt } = collection
  const ofEditors = hasRight(role, 'edit') ? { version, updatedAt } : { version: null, updatedAt: null }
  return { ...toFoundCollection(collection, baseUrl), isOfTeam, role, createdAt, ...ofEditors }
}

/** The same error for missing and invisible collections. */
export function noCollection(): AppError {
  return new AppError('not_found', 'Collection not found, or not visible to you. Check the id or slug.')
}
