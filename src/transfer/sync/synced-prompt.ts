import { createHash } from 'node:crypto'
import { AppError } from '../../errors.ts'
import { cutCharacters } from '../../library/characters.ts'
import { MAX_TITLE } from '../../library/fields.ts'
import { readFrontmatterFields, setFrontmatterFields } from '../../library/frontmatter.ts'
import type { Prompt } from '../../library/items.ts'
import { writePromptMarkdown } from '../../library/prompt-markdown.ts'
import { decodeText } from '../../library/skill.ts'
import { hasTags } from '../import-prompts.ts'
import { type PromptDraft, toPromptDraft } from '../prompt-file.ts'

/** What a synced file says of its prompt. */
export type SyncedDraft = Pick<PromptDraft, 'title' | 'content' | 'description' | 'type' | 'category' | 'tags'>

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
 */
export function writeSyncedPrompt(prompt: Prompt, before: string | null): string {
  const filed = toFiled(prompt)
  const { slug, title, description, type, author, category, tags, content } = filed
  const fields = {
    name: slug,
    title,
    description: description ?? undefined,
    type,
    author,
    category: category ?? undefined,
    tags: tags.length === 0 ? undefined : tags,
  }
  const head = before === null ? null : setFrontmatterFields(before, fields)
  return head === null ? writePromptMarkdown(filed) : `${head}\n${content}`
}

/**
 * Reads a synced file: the reverse of {@link writeSyncedPrompt}.
 * @param current the item, which gives what the file leaves out
 * @throws AppError `invalid_input` for a text that is no prompt
 */
export function readSyncedPrompt(filename: string, bytes: Uint8Array, current: Prompt | null): SyncedDraft {
  const text = decodeText(bytes)
  if (text === null) throw new AppError('invalid_input', 'it is not UTF-8 text')
  const read = readFrontmatterFields(text)
  const fields = read?.fields ?? {}
  const content = read === null ? text : read.body.replace(/^\r?\n/, '')
  const heading = /^#[ \t]+(.+?)[ \t#]*$/m.exec(content.slice(0, 2_000))?.[1]
  const said = (name: string) => {
    const value = fields[name]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
  }
  const tags = fields['tags']
  const before = read === null ? current : null
  const title = said('title') ?? current?.title ?? heading ?? said('name') ?? filename.replace(/\.md$/i, '').replaceAll(/[-_]+/g, ' ')
  const made = toPromptDraft({
    title: cutCharacters(title.trim(), MAX_TITLE),
    content,
    description: said('description') ?? before?.description ?? null,
    type: said('type') ?? current?.type,
    category: said('category') ?? before?.category?.slug ?? null,
    tags: Array.isArray(tags) ? tags.map(String) : (said('tags') ?? before?.tags.map((tag) => tag.name) ?? []),
  })
  if ('fault' in made) throw new AppError('invalid_input', made.fault)
  return made.draft
}

/** Whether a file says what the item says. */
export function isSamePrompt(prompt: Prompt, draft: SyncedDraft): boolean {
  return (
    prompt.title === draft.title &&
    prompt.content === draft.content &&
    prompt.description === draft.description &&
    prompt.type === draft.type &&
    (prompt.category?.slug ?? null) === draft.category &&
    hasTags(prompt, draft.tags)
  )
}
