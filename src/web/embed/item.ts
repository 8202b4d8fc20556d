import { type EmbedConfig, MAX_EMBED_PROMPT } from '../../domain/embed/config.ts'
import { SKILL_MD } from '../../domain/skills/skill.ts'
import { cutCharacters, isLongerThan } from '../../domain/text/characters.ts'
import { toAppError } from '../../errors.ts'
import type { CallOperation } from '../../operations/core/define-operation.ts'
import type { Output } from '../../operations/core/procedure.ts'
import { getPrompt, readName } from '../../operations/prompts/get-prompt.ts'
import { getSkill } from '../../operations/skills/get-skill.ts'

/** A prompt or a skill of the library as an embed shows it. */
export type EmbeddedItem = ReturnType<typeof describe>

/** Longest list of files, in characters: what a configuration may hold. */
const MAX_FILES_TEXT = 9_000

/**
 * Finds a prompt or skill visible to everyone, by id, or by slug if it is public; with `@label` or `@version` behind it, that version.
 * @throws AppError `not_found`, the same for what is private, deleted or was never there
 */
export async function findEmbeddedItem(call: CallOperation, ref: string): Promise<EmbeddedItem> {
  const { ref: named, ...asked } = readName(ref)
  const prompt = await call(getPrompt, { id: named, ...asked }).catch(nullWhenMissing)
  if (prompt) return describe('prompt', prompt, prompt.content, prompt.variables.length, {})
  const skill = await call(getSkill, { id: named, ...asked })
  const text = skill.files.find(({ filename }) => filename === SKILL_MD)?.content ?? ''
  const names = skill.files.map(({ filename }) => filename).join('\n')
  return describe('skill', skill, text, skill.files.length, {
    filetree: names.length > MAX_FILES_TEXT ? names.slice(0, names.lastIndexOf('\n', MAX_FILES_TEXT)) : names,
    showFiletree: true,
    diffFilename: SKILL_MD,
  })
}

type Found = Output<typeof getPrompt> | Output<typeof getSkill>

function describe(kind: 'prompt' | 'skill', found: Found, text: string, parts: number, around: EmbedConfig) {
  const { id, title, author, url, description, visibility, category } = found
  return {
    kind,
    id,
    description,
    /** Of skills that are public and of prompts alone: what a search engine may find. */
    isPublic: visibility === 'public',
    category,
    /** Different variables of a prompt; files of a skill. */
    parts,
    source: { title, author, url, isCut: isLongerThan(text, MAX_EMBED_PROMPT) },
    /** The fields of the item; an address can add others. */
    config: { prompt: cutCharacters(text, MAX_EMBED_PROMPT), ...around },
  }
}

/** null for an error that says that something is not there; others are thrown again. */
export function nullWhenMissing(thrown: unknown): null {
  if (toAppError(thrown).code === 'not_found') return null
  throw thrown
}
