import { type EmbedConfig, MAX_EMBED_PROMPT } from '../../domain/embed/config.ts'
import { SKILL_MD } from '../../domain/skills/skill.ts'
import { cutCharacters, isLongerThan } from '../../domain/text/characters.ts'
import { type AppError, toAppError } from '../../errors.ts'
import type { CallOperation } from '../../operations/core/invoke.ts'
import { readName } from '../../operations/prompts/exposed-prompts.ts'
import { getPrompt } from '../../operations/prompts/get-prompt.ts'
import { getSkill } from '../../operations/skills/get-skill.ts'
import type { EmbedSource } from './box.tsx'

/** A prompt or a skill of the library as an embed shows it. */
export interface EmbeddedItem {
  readonly kind: 'prompt' | 'skill'
  readonly id: string
  readonly description: string | null
  /** Of skills that are public and of prompts alone: what a search engine may find. */
  readonly isPublic: boolean
  readonly category: string | null
  /** Different variables of a prompt; files of a skill. */
  readonly parts: number
  readonly source: EmbedSource
  /** The fields of the item; an address can add others. */
  readonly config: EmbedConfig
}

/** Longest list of files, in characters: what a configuration may hold. */
const MAX_FILES_TEXT = 9_000

/**
 * Finds a prompt or skill visible to everyone, by id, or by slug if it is public; with `@label` or `@version` behind it, that version.
 * @throws AppError `not_found`, the same for what is private, deleted or was never there
 */
export async function findEmbeddedItem(call: CallOperation, ref: string): Promise<EmbeddedItem> {
  const { ref: named, ...asked } = readName(ref)
  const prompt = await call(getPrompt, { id: named, ...asked }).catch(nullWhenMissing)
  if (prompt) {
    const { id, title, author, url, content, description, visibility, category, variables } = prompt
    return {
      kind: 'prompt',
      id,
      description,
      isPublic: visibility === 'public',
      category,
      parts: variables.length,
      source: { title, author, url, isCut: isLongerThan(content, MAX_EMBED_PROMPT) },
      config: { prompt: cutCharacters(content, MAX_EMBED_PROMPT) },
    }
  }
  const { id, title, author, url, files, description, visibility, category } = await call(getSkill, { id: named, ...asked })
  const text = files.find(({ filename }) => filename === SKILL_MD)?.content ?? ''
  const names = files.map(({ filename }) => filename).join('\n')
  return {
    kind: 'skill',
    id,
    description,
    isPublic: visibility === 'public',
    category,
    parts: files.length,
    source: { title, author, url, isCut: isLongerThan(text, MAX_EMBED_PROMPT) },
    config: {
      prompt: cutCharacters(text, MAX_EMBED_PROMPT),
      filetree: names.length > MAX_FILES_TEXT ? names.slice(0, names.lastIndexOf('\n', MAX_FILES_TEXT)) : names,
      showFiletree: true,
      diffFilename: SKILL_MD,
    },
  }
}

function nullWhenMissing(thrown: unknown): null {
  const error: AppError = toAppError(thrown)
  if (error.code === 'not_found') return null
  throw error
}
