import { z } from 'zod'
import { listedPrompt, promptRecord, skillRecord, variableRecord, versionRecord } from '../operations/records.ts'
import type { Site } from './site.ts'

/** What a page is made from: the service, the caller's operations, and what the address says. */
export interface PageRequest {
  readonly site: Site
  /** Calls an operation as the reader, and reads its answer. @throws AppError as the operation does */
  call<T>(name: string, input: Record<string, unknown>, answer: z.ZodType<T>): Promise<T>
  readonly path: string
  readonly query: URLSearchParams
  /** The part of the path that names the item. */
  readonly ref: string
}

const page = {
  total: z.number(),
  page: z.number(),
  perPage: z.number(),
  totalPages: z.number(),
  correctedQuery: z.string().optional(),
}

/** Answers of operations, as pages read them. */
export const listedPrompts = z.object({ prompts: z.array(listedPrompt), ...page })
export const listedSkills = z.object({ skills: z.array(skillRecord), ...page })
export const shownPrompt = promptRecord.extend({
  variables: z.array(variableRecord),
  versions: z.array(versionRecord.omit({ visibility: true })),
})
export const filledPrompt = z.object({ content: z.string() })
export const shownSkill = skillRecord.omit({ files: true, categorySlug: true }).extend({
  files: z.array(z.object({ filename: z.string(), content: z.string(), encoding: z.literal('base64').optional() })),
})
export const listedCategories = z.object({
  categories: z.array(
    z.object({ slug: z.string(), name: z.string(), parent: z.string().nullable(), prompts: z.number(), skills: z.number() }),
  ),
})
