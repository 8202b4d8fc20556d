import { z } from 'zod'
import type { AppError } from '../errors.ts'
import { PROMPT_TYPES } from '../library/fields.ts'
import { listedPrompt, promptRecord, skillRecord, variableRecord, versionRecord } from '../operations/core/records.ts'
import type { Call } from './anonymous-call.ts'
import type { SentForm } from './forms.ts'
import type { Site } from './site.ts'

/** What a page is made from: the service, the caller's operations, and what the address says. */
export interface PageRequest {
  readonly site: Site
  /** Calls an operation as the reader, and reads its answer. @throws AppError as the operation does */
  readonly call: Call
  /** The same as nobody: for what is made for everybody. */
  readonly callAsNobody: Call
  readonly path: string
  readonly query: URLSearchParams
  /** Whom the request is counted for. */
  readonly caller: string
  /** A signal that is aborted when the reader leaves. */
  signal(): AbortSignal
  /** What the form that led here left for this page, given once; null when there is nothing. */
  takeFlash<T>(shape: z.ZodType<T>): T | null
  /** The part of the path that names the item. */
  readonly ref: string
  /** Another part of the path; empty when there is none. */
  param(name: string): string
  /** The form that was sent and refused, and why: the page shows both. */
  readonly sent: { readonly form: SentForm; readonly fault: AppError } | null
}

/**
 * What comes of a form: another page to go to, or a page that is shown this once. `cookies` are Set-Cookie headers; `flash` is for the page
 * that is gone to, which must be the form's own.
 */
type Outcome = { readonly cookies?: readonly string[] } & (
  | { readonly to: string; readonly flash?: unknown }
  | { readonly html: { toString(): string | Promise<string> } }
)

/** Does what a form asks for. What it throws is shown on the page the form was on. */
export type Action = (request: PageRequest & { readonly form: SentForm }) => Promise<Outcome>

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
export const listedVersions = z.object({ versions: z.array(versionRecord), nextBefore: z.number().nullable() })
export const shownVersion = versionRecord.extend({
  title: z.string(),
  description: z.string().nullable(),
  categorySlug: z.string().nullable(),
  tags: z.array(z.string()),
  type: z.enum(PROMPT_TYPES).nullable(),
  content: z.string().nullable(),
  files: z.array(z.object({ filename: z.string(), content: z.string(), encoding: z.literal('base64').optional() })).nullable(),
})
export const listedTags = z.object({ tags: z.array(z.object({ slug: z.string(), name: z.string(), count: z.number() })) })
export const listedCategories = z.object({
  categories: z.array(
    z.object({ slug: z.string(), name: z.string(), parent: z.string().nullable(), prompts: z.number(), skills: z.number() }),
  ),
})
/** How an item stands to the reader who is signed in. */
export const marks = z.object({
  id: z.string(),
  owner: z.string(),
  isOwner: z.boolean(),
  hasVoted: z.boolean(),
  version: z.number(),
  isFeatured: z.boolean(),
  isHeld: z.boolean(),
})

/** The page of a list an address asks for. What is no number becomes 0, which operations refuse. */
export function readPageNumber(query: URLSearchParams): number {
  const text = query.get('page') ?? '1'
  return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0
}
