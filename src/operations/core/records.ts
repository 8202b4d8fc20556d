import { z } from 'zod'
import { extendRecord, shareOnce } from '../../cache/answer-cache.ts'
import { MAX_LISTED_CONTENT, PROMPT_TYPES } from '../../domain/items/fields.ts'
import type { Item, Prompt, Skill, Version } from '../../domain/items/items.ts'
import type { HitScore } from '../../domain/items/search.ts'
import { VISIBILITIES } from '../../domain/items/visibility.ts'
import { privateReaderId } from '../../domain/people/actor.ts'
import { describeBody, messageField, type PromptBody } from '../../domain/prompts/body.ts'
import { cutCharacters, escapeControlsInJson, escapedLength, isHighSurrogate, isLongerThan } from '../../domain/text/characters.ts'
import { deriveDescription } from '../../domain/text/excerpts.ts'
import type { Needs } from './procedure.ts'

/** A record with a text in it that may be cut. */
interface WithContent {
  readonly content: string
  readonly contentTruncated?: boolean | undefined
}

const MARK = JSON.stringify({ contentTruncated: true }).length - 1

/** Length of a value as JSON in an answer to a model, where control characters are escaped. */
function jsonCharacters(value: unknown): number {
  return escapeControlsInJson(JSON.stringify(value)).length
}

const measure = shareOnce((record: WithContent, _: null) => {
  const content = jsonCharacters(record.content) - 2
  return { content, rest: jsonCharacters(record) - content }
})

/**
 * Cuts the contents of records so that an answer with all of them fits: short contents stay whole, and the others share the room that is
 * left equally. Where even empty contents are too long together, the answer is longer than the budget: no record is left out.
 * @param around characters of the answer beside the records
 * @param budget characters of the answer as JSON
 * @param cut how a content is cut to a length as JSON. Default: {@link cutJsonText}
 */
export function fitContents<T extends WithContent>(
  records: readonly T[],
  around: number,
  budget: number,
  cut: (record: T, characters: number) => string = ({ content }, characters) => cutJsonText(content, characters),
): (T | (T & { contentTruncated: true }))[] {
  const lengths = records.map((record) => measure(record, null))
  const rest = lengths.reduce((sum, one) => sum + one.rest, around)
  if (rest + lengths.reduce((sum, one) => sum + one.content, 0) <= budget) return [...records]
  const share = fairShare(
    lengths.map(({ content }) => content),
    budget - rest,
  )
  return records.map((record, place) => {
    const { content = 0 } = lengths[place] ?? {}
    if (content <= share) return record
    // A record that says already that it was cut takes no more room for saying so.
    const room = record.contentTruncated ? share : share - MARK
    return { ...record, content: room > 0 ? cut(record, room) : '', contentTruncated: true as const }
  })
}

/** The length up to which texts of these lengths may be kept, so that they take at most `room` together (max-min fairness). */
function fairShare(lengths: readonly number[], room: number): number {
  let left = Math.max(0, room)
  for (const [place, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (lengths.length - place))
    if (length > share) return share
    left -= length
  }
  return Number.POSITIVE_INFINITY
}

/** The longest beginning of a text that takes at most `characters` as JSON, without the quotes. */
export function cutJsonText(text: string, characters: number): string {
  let left = characters
  let end = 0
  while (end < text.length) {
    left -= escapedLength(text.charCodeAt(end))
    if (left < 0) break
    end++
  }
  // Half of a pair is no character.
  return text.slice(0, end > 0 && end < text.length && isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end)
}

/** A moment, by ISO 8601. */
export const when = z.string().meta({ format: 'date-time' })

/** The fields that prompt and skill records share. */
export const itemRecord = z.object({
  id: z.string(),
  slug: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  author: z.string(),
  category: z.string().nullable(),
  tags: z.array(z.string()),
  votes: z.number().int(),
  createdAt: when,
  labels: z.array(z.string()).optional().describe('Labels that everybody sees who sees the item; absent without any'),
})

const fullItem = {
  categorySlug: z.string().nullable(),
  updatedAt: when,
  visibility: z.enum(VISIBILITIES),
  isPrivate: z.boolean(),
  url: z.string(),
}
const type = z.enum(PROMPT_TYPES)
const derivedDescription = z.string().optional().describe('Where description is null: the first sentences of the text; no write accepts it')

/** How well a record fits the query it was found by. */
const hitFields = {
  score: z.number().min(0).max(1).optional().describe('How well it fits the query'),
  approximate: z.literal(true).optional().describe('Only similar: it does not hold most of the rare words of the query'),
}

/** A prompt as every surface shows it (contract, "Prompt record"). */
export const promptRecord = itemRecord.extend({ derivedDescription, content: z.string(), type, ...fullItem })

/** Which team owns an item, in what is answered of one alone. */
export const ownerOutput = { owner: z.string().optional().describe('The team that owns it, where you are in it') }

/** Fields of a whole prompt beside its content. */
export const chatOutputs = {
  messages: z.array(messageField).optional().describe('Of a chat prompt, whose content shows them as one text'),
  config: z.record(z.string(), z.unknown()).optional().describe('What programs need beside the text'),
  syntax: z.literal([1, 2]).optional().describe('Where it matters. 2: \\${name} is no variable, and ${> slug} is a part'),
}

export function toChat(body: PromptBody | null) {
  if (!body) return {}
  const { messages, ...more } = describeBody(body)
  return { ...more, ...(messages && { messages: [...messages] }) }
}

/** A prompt by itself. */
export const wholePrompt = promptRecord.extend({ ...chatOutputs, ...ownerOutput })

/** A prompt in a list: its content is cut at 20,000 characters, and says so. */
export const listedPrompt = promptRecord.extend({ contentTruncated: z.boolean().optional(), ...hitFields })

/** A prompt as search_prompts shows it: the specification's fields, slug and url. */
export const foundPrompt = itemRecord.extend({
  derivedDescription,
  content: z.string(),
  type,
  url: z.string(),
  contentTruncated: z.boolean().optional(),
  ...hitFields,
})

/** A skill without its files' contents. */
export const skillRecord = itemRecord.extend({ ...fullItem, files: z.array(z.string()) })

/** A skill in a list. */
export const listedSkill = skillRecord.extend(hitFields)

/** A skill as search_skills shows it. */
export const foundSkill = itemRecord.extend({
  files: z.array(z.string()),
  characters: z.number().int().describe('Of all files, as UTF-8 bytes: how long get_skill answers'),
  url: z.string(),
  ...hitFields,
})

/** A skill's file as JSON carries it. */
export const fileRecord = z.object({
  filename: z.string(),
  content: z.string(),
  encoding: z.literal('base64').optional(),
  executable: z.boolean().optional().describe('Only where it is not what #! says'),
})

const findings = z.number().int()
/** Counts of the check's findings, accepted ones apart. */
export const checkNote = z
  .object({ ruleSet: findings, high: findings, medium: findings, low: findings, waived: findings })
  .describe('Findings of the check; check_item lists them')

/** A variable of a prompt. */
export const variableRecord = z.object({ name: z.string(), required: z.boolean(), default: z.string().optional() })

/** A version in a list. */
export const versionRecord = z.object({
  version: z.number().int(),
  note: z.string().nullable(),
  author: z.string(),
  createdAt: when,
  visibility: z.enum(VISIBILITIES),
})

/** The page of an item. By id where the slug leads only its owner. */
export function itemUrl(baseUrl: string, kind: 'prompt' | 'skill', item: Pick<Item, 'id' | 'slug' | 'visibility'>): string {
  return `${baseUrl}/${kind}s/${item.visibility === 'unlisted' ? item.id : item.slug}`
}

/** The fields of every record of an item. */
function toCommon(item: Prompt | Skill, baseUrl: string) {
  const { id, slug, title, description, author, category, tags, votes, createdAt } = item
  const names = { category: category?.name ?? null, tags: tags.map(({ name }) => name) }
  const labels = item.labels.filter(({ isShared }) => isShared).map((label) => label.name)
  const url = itemUrl(baseUrl, item.kind, item)
  return { id, slug, title, description, author, ...names, votes, createdAt, url, ...(labels.length > 0 && { labels }) }
}

/** Further fields of records, but for those of a search. */
function toFull({ category, updatedAt, visibility }: Prompt | Skill) {
  return { categorySlug: category?.slug ?? null, updatedAt, visibility, isPrivate: visibility === 'private' }
}

/** The fields of every record of a prompt, but for its content. */
function toFoundFields(prompt: Prompt, baseUrl: string) {
  const derived = prompt.description === null ? deriveDescription(prompt.content, prompt.title) : null
  return { ...toCommon(prompt, baseUrl), ...(derived === null ? {} : { derivedDescription: derived }), type: prompt.type }
}

/** A prompt as its version has it, without a description that is derived from the text: for programs that take many at once. */
export function toPlainPrompt(prompt: Prompt, baseUrl: string) {
  return { ...toCommon(prompt, baseUrl), type: prompt.type, content: prompt.content, ...toFull(prompt), ...toChat(prompt) }
}

function toPromptRecord(prompt: Prompt, baseUrl: string): z.infer<typeof promptRecord> {
  return { ...toFoundFields(prompt, baseUrl), content: prompt.content, ...toFull(prompt) }
}

/** A prompt by itself, nothing put in. */
export function toWholePrompt(prompt: Prompt, baseUrl: string) {
  return { ...toPromptRecord(prompt, baseUrl), ...toChat(prompt) }
}

/** A record with the name of the team that owns the item, for its members. Others see the author alone. */
export async function withOwner<T extends object>(
  { actor, store }: Needs<'items'>,
  { ownerId }: Pick<Item, 'ownerId'>,
  record: T,
): Promise<T & { owner?: string }> {
  const readerId = privateReaderId(actor)
  const team = readerId === null || readerId === ownerId ? null : await store.items.findOwner(readerId, { id: ownerId })
  return team ? extendRecord(record, { owner: team.name }) : record
}

/** A prompt with its variables, nothing put in. */
export const toPromptWithVariables = shareOnce((prompt: Prompt, baseUrl: string) => ({
  ...toWholePrompt(prompt, baseUrl),
  variables: [...prompt.variables],
}))

/** The content as lists show it. */
function cutContent(content: string): { content: string; contentTruncated?: true } {
  if (!isLongerThan(content, MAX_LISTED_CONTENT)) return { content }
  return { content: cutCharacters(content, MAX_LISTED_CONTENT), contentTruncated: true }
}

export const toListedPrompt = shareOnce((prompt: Prompt, baseUrl: string): z.infer<typeof listedPrompt> => {
  return { ...toPromptRecord(prompt, baseUrl), ...cutContent(prompt.content) }
})

export const toFoundPrompt = shareOnce((prompt: Prompt, baseUrl: string): z.infer<typeof foundPrompt> => {
  return { ...toFoundFields(prompt, baseUrl), ...cutContent(prompt.content) }
})

export const toSkillRecord = shareOnce((skill: Skill, baseUrl: string): z.infer<typeof skillRecord> => {
  return { ...toCommon(skill, baseUrl), ...toFull(skill), files: skill.files.map(({ filename }) => filename) }
})

/** Items of both kinds, as lists of one kind each. */
export function toItemLists(items: readonly Item[], baseUrl: string) {
  return {
    prompts: items.flatMap((item) => (item.kind === 'prompt' ? [toListedPrompt(item, baseUrl)] : [])),
    skills: items.flatMap((item) => (item.kind === 'skill' ? [toSkillRecord(item, baseUrl)] : [])),
  }
}

export const toFoundSkill = shareOnce((skill: Skill, baseUrl: string): z.infer<typeof foundSkill> => {
  const characters = skill.files.reduce((sum, { size }) => sum + size, 0)
  return { ...toCommon(skill, baseUrl), files: skill.files.map(({ filename }) => filename), characters }
})

/** Records with how well each fits; as they are when there are no scores. */
export function withScores<T extends object>(
  records: readonly T[],
  scores: readonly HitScore[],
): (T & { score?: number; approximate?: true })[] {
  return records.map((record, place) => {
    const hit = scores[place]
    return hit ? extendRecord(record, toHitFields(hit)) : record
  })
}

function toHitFields({ score, isApproximate }: HitScore): { score: number; approximate?: true } {
  return { score, ...(isApproximate && { approximate: true as const }) }
}

/**
 * Found prompts with their scores, their contents cut so that the answer takes at most `budget` characters as JSON.
 * @param frame the answer's other fields
 */
export function fitPrompts(
  prompts: readonly z.infer<typeof foundPrompt>[],
  scores: readonly HitScore[],
  frame: object,
  budget: number,
): z.infer<typeof foundPrompt>[] {
  const hits = scores.reduce((sum, hit) => sum + JSON.stringify(toHitFields(hit)).length - 1, 0)
  const around = jsonCharacters({ ...frame, prompts: [] }) + Math.max(0, prompts.length - 1) + hits
  return withScores(fitContents(prompts, around, budget), scores)
}

export function toVersionRecord({ version, note, author, createdAt, visibility }: Version): z.infer<typeof versionRecord> {
  return { version, note, author, createdAt, visibility }
}
