import { createHash } from 'node:crypto'
import { MAX_DESCRIPTION, MAX_TITLE } from '../../domain/items/fields.ts'
import type { Prompt } from '../../domain/items/items.ts'
import { describeBody, isSameBody } from '../../domain/prompts/body.ts'
import { messagesField, renderMessages } from '../../domain/prompts/messages.ts'
import { findFrontmatterFault, readFrontmatterFields, setFrontmatterFields } from '../../domain/skills/frontmatter.ts'
import { decodeText } from '../../domain/skills/skill.ts'
import { cutCharacters, isLongerThan } from '../../domain/text/characters.ts'
import { writePromptMarkdown } from '../../domain/text/prompt-markdown.ts'
import { AppError } from '../../errors.ts'
import { hasTags } from '../prepare-prompt.ts'
import { type PromptDraft, toPromptDraft } from '../prompt-file.ts'

/** The draft in a synced file. */
export type SyncedDraft = Pick<
  PromptDraft,
  'title' | 'content' | 'messages' | 'config' | 'syntax' | 'description' | 'type' | 'category' | 'tags'
>

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function toFiled(prompt: Prompt) {
  return { ...prompt, category: prompt.category?.slug ?? null, tags: prompt.tags.map((tag) => tag.name) }
}

/** Digest of a prompt as a file, which changes with everything that the file shows. */
export function digestPrompt(prompt: Prompt): string {
  return sha256(writePromptMarkdown(toFiled(prompt)))
}

/**
 * A prompt as its file.
 * @param before the text that it replaces, whose other frontmatter fields and comments stay
 * @param categories the slugs of all: one in `before` that is not among them was never taken, so it stays where the prompt has none
 */
export function writeSyncedPrompt(prompt: Prompt, before: string | null, categories: ReadonlySet<string>): string {
  const filed = toFiled(prompt)
  const { slug, title, description, type, author, category, tags, content } = filed
  const fields = {
    name: slug,
    title,
    description: description ?? undefined,
    type,
    author,
    ...(category === null && hasOwnCategory(before, categories) ? {} : { category: category ?? undefined }),
    tags: tags.length === 0 ? undefined : tags,
    messages: undefined,
    config: undefined,
    syntax: undefined,
    ...describeBody(filed),
  }
  const head = before === null ? null : setFrontmatterFields(before, fields)
  return head === null ? writePromptMarkdown(filed) : `${head}\n${content}`
}

function hasOwnCategory(text: string | null, categories: ReadonlySet<string>): boolean {
  const category = text === null ? null : readFrontmatterFields(text)?.fields['category']
  return typeof category === 'string' && category !== '' && !categories.has(category)
}

/** Longest values of fields, in characters. */
const LIMITS = { title: MAX_TITLE, description: MAX_DESCRIPTION, type: Number.POSITIVE_INFINITY, category: Number.POSITIVE_INFINITY }

/** Refuses what would be lost: the file would get the cut value when the library changes. */
function requireStorable(fields: Readonly<Record<string, unknown>>): void {
  const isText = (value: unknown) => typeof value === 'string' || typeof value === 'number'
  for (const [name, limit] of Object.entries(LIMITS)) {
    const value = fields[name]
    if (value === undefined || value === null) continue
    if (!isText(value)) throw new AppError('invalid_input', `its field "${name}" is not a text. Put it in quotes`)
    if (isLongerThan(String(value).trim(), limit)) {
      throw new AppError('invalid_input', `its field "${name}" has more than ${limit} characters, the limit`)
    }
  }
  const tags = fields['tags'] ?? []
  if (!isText(tags) && !(Array.isArray(tags) && tags.every(isText))) {
    throw new AppError('invalid_input', 'its field "tags" is neither a list of texts nor a text')
  }
}

/** Refuses a chat prompt's text that was edited: its messages are in the frontmatter, and the edit would be lost. @throws AppError `invalid_input` */
function refuseOtherText(content: string, messages: unknown, current: Prompt | null): void {
  const read = messagesField.safeParse(messages)
  if (!read.success || content.trim() === '') return
  if (content === renderMessages(read.data) || content === current?.content) return
  throw new AppError('invalid_input', 'its text was changed, but its messages are in the frontmatter. Change them there')
}

/**
 * Reads a synced file: the reverse of {@link writeSyncedPrompt}.
 * @param current the item, which gives what the file leaves out
 * @throws AppError `invalid_input` for a text that is no prompt, or says what cannot be stored as it is
 */
export function readSyncedPrompt(filename: string, bytes: Uint8Array, current: Prompt | null): SyncedDraft {
  const text = decodeText(bytes)
  if (text === null) throw new AppError('invalid_input', 'it is not UTF-8 text')
  const read = readFrontmatterFields(text)
  const fault = read === null ? findFrontmatterFault(text) : null
  if (fault !== null) throw new AppError('invalid_input', fault)
  const fields = read?.fields ?? {}
  requireStorable(fields)
  const content = read === null ? text : read.body.replace(/^\r?\n/, '')
  const heading = /^#[ \t]+(.+?)[ \t#]*$/m.exec(content.slice(0, 2_000))?.[1]
  const said = (name: string) => {
    const value = fields[name]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
  }
  const tags = fields['tags']
  const before = read === null ? current : null
  refuseOtherText(content, fields['messages'] ?? before?.messages, current)
  const title = said('title') ?? current?.title ?? heading ?? said('name') ?? filename.replace(/\.md$/i, '').replaceAll(/[-_]+/g, ' ')
  const made = toPromptDraft(
    {
      title: cutCharacters(title.trim(), MAX_TITLE),
      content,
      description: said('description') ?? before?.description ?? null,
      type: said('type') ?? current?.type,
      category: said('category') ?? before?.category?.slug ?? null,
      tags: Array.isArray(tags) ? tags.map(String) : (said('tags') ?? before?.tags.map((tag) => tag.name) ?? []),
      messages: fields['messages'] ?? before?.messages,
      config: fields['config'] ?? before?.config,
      syntax: fields['syntax'],
    },
    { syntax: current?.content === content ? current.syntax : 2 },
  )
  if ('fault' in made) throw new AppError('invalid_input', made.fault)
  return made.draft
}

/** Whether a file says what the item says. */
export function isSamePrompt(prompt: Prompt, draft: SyncedDraft): boolean {
  return (
    prompt.title === draft.title &&
    isSameBody(prompt, draft) &&
    prompt.description === draft.description &&
    prompt.type === draft.type &&
    (prompt.category?.slug ?? null) === draft.category &&
    hasTags(prompt, draft.tags)
  )
}
