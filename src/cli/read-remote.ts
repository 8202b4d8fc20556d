import { z } from 'zod'
import { AppError } from '../errors.ts'
import { fromFileContent } from '../library/skill.ts'
import { VISIBILITIES, type Visibility } from '../library/visibility.ts'
import type { Invoke } from '../operations/core/invoke.ts'
import { fileRecord } from '../operations/core/records.ts'
import type { ImportEntry } from '../transfer/import-entries.ts'
import { toRemarkedDraft } from '../transfer/prompt-file.ts'
import { toSkillDraft } from '../transfer/skill-folder.ts'
import { waitForTurns } from '../transfer/wait-for-turns.ts'

const PER_PAGE = 100
/** Most pages of one list. */
const MAX_PAGES = 1_000

const item = z.object({
  id: z.string(),
  slug: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  author: z.string(),
  categorySlug: z.string().nullish(),
  tags: z.array(z.string()),
  // An answer that does not say it may be of a private item.
  visibility: z.enum(VISIBILITIES).catch('private'),
})
const prompt = item.extend({ content: z.string(), type: z.string(), contentTruncated: z.boolean().optional() })
const promptsPage = z.object({ prompts: z.array(prompt), totalPages: z.number() })
const skillsPage = z.object({ skills: z.array(item), totalPages: z.number() })
const wholePrompt = z.object({ content: z.string() })
const wholeSkill = z.object({ files: z.array(fileRecord) })

function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value)
  if (!read.success) throw new AppError('upstream_failed', 'The server answered in a form of another version of Commonplace.')
  return read.data
}

/**
 * Reads every prompt and skill that a key, or nobody, finds in the lists of another Commonplace. Votes, versions and addresses stay
 * there. Nothing becomes more public: what is public there gets the visibility of the import.
 * @throws AppError `upstream_failed`, and what the other server answers
 */
export async function* readRemote(remote: Invoke): AsyncGenerator<ImportEntry> {
  const invoke = waitForTurns(remote)
  // Oldest first: what is added meanwhile does not move the pages.
  const ask = { sort: 'oldest', perPage: PER_PAGE }
  for (let page = 1, pages = 1; page <= Math.min(pages, MAX_PAGES); page++) {
    const { prompts, totalPages } = parse(promptsPage, await invoke('list_prompts', { ...ask, page }))
    pages = totalPages
    for (const { id, slug, contentTruncated, categorySlug, visibility, ...listed } of prompts) {
      const content = contentTruncated ? parse(wholePrompt, await invoke('get_prompt', { id })).content : listed.content
      const made = toRemarkedDraft({ ...listed, content, category: categorySlug, visibility: atMost(visibility) }, [])
      yield 'fault' in made ? { name: slug, kind: null, fault: made.fault } : { name: slug, kind: 'prompt', draft: made.draft }
    }
  }
  for (let page = 1, pages = 1; page <= Math.min(pages, MAX_PAGES); page++) {
    const { skills, totalPages } = parse(skillsPage, await invoke('list_skills', { ...ask, page }))
    pages = totalPages
    for (const { id, slug, title, description, author, tags, categorySlug, visibility } of skills) {
      const files = parse(wholeSkill, await invoke('get_skill', { id })).files
      const known = { title, description, author, tags, category: categorySlug ?? null, visibility: atMost(visibility) }
      yield readSkill(slug, files, known)
    }
  }
}

/** The members of one library are other people than those of another. */
function atMost(visibility: Visibility): Visibility | undefined {
  if (visibility === 'public') return undefined
  return visibility === 'members' ? 'private' : visibility
}

function readSkill(
  slug: string,
  files: readonly z.infer<typeof fileRecord>[],
  known: NonNullable<Extract<ImportEntry, { kind: 'skill' }>['known']>,
): ImportEntry {
  try {
    const bytes = files.map((file) => fromFileContent(file, ''))
    return { name: slug, kind: 'skill', draft: { ...toSkillDraft(slug, bytes, []), remarks: [] }, known }
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'internal') throw error
    return { name: slug, kind: null, fault: error.message }
  }
}
