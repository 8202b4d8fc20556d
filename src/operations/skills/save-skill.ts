import { z } from 'zod'
import { cutAtWord } from '../../library/characters.ts'
import { descriptionField, MAX_DESCRIPTION, noteField, tagsField, titleField } from '../../library/fields.ts'
import { readFrontmatter } from '../../library/frontmatter.ts'
import type { Skill } from '../../library/items.ts'
import { checkSkillFiles, decodeText, fromFileContent, SKILL_MD, type SkillFile } from '../../library/skill.ts'
import { VISIBILITIES } from '../../library/visibility.ts'
import { defineOperation } from '../core/define-operation.ts'
import { hintsOutput } from '../core/filter-hints.ts'
import { filterText, ownerInput, refuseBothSpellings, visibilityInputs } from '../core/inputs.ts'
import { type Needs, requireUser } from '../core/procedure.ts'
import { itemUrl, ownerOutput, withOwner } from '../core/records.ts'
import { hintsOnSave } from '../items/save-hints.ts'
import { newOwnership } from '../prompts/save-prompt.ts'

/** A file in an input. */
export const fileInput = z.object({
  filename: z.string().describe('Relative path, such as references/api.md'),
  content: z.string().describe('Kept byte for byte'),
  encoding: z.literal('base64').optional().describe('Only for files other than UTF-8 text'),
  executable: z.boolean().optional().describe('Default: as it was, else whether it begins with #!'),
})

/** A skill as the tools that write one answer. */
export const savedSkill = z.object({
  id: z.string(),
  slug: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  visibility: z.enum(VISIBILITIES),
  isPrivate: z.boolean(),
  createdAt: z.string().meta({ format: 'date-time' }),
  tags: z.array(z.string()),
  category: z.string().nullable(),
  files: z.array(z.string()),
  url: z.string(),
  ...ownerOutput,
})

export function toSavedSkill(skill: Skill, baseUrl: string): z.infer<typeof savedSkill> {
  return {
    id: skill.id,
    slug: skill.slug,
    title: skill.title,
    description: skill.description,
    visibility: skill.visibility,
    isPrivate: skill.visibility === 'private',
    createdAt: skill.createdAt,
    tags: skill.tags.map((tag) => tag.name),
    category: skill.category?.name ?? null,
    files: skill.files.map(({ filename }) => filename),
    url: itemUrl(baseUrl, 'skill', skill),
  }
}

/** A new skill, as callers give it. */
export const newSkillInput = z
  .object({
    title: titleField.describe('Short name people will search for'),
    files: z.array(fileInput).describe('All files; must include SKILL.md'),
    description: descriptionField.optional().describe('What it does and when to use it. Default: the one in SKILL.md'),
    tags: tagsField.optional().describe('Tag names; new ones are created'),
    category: filterText.describe('Category slug; unknown ones are rejected with the valid list'),
    ...visibilityInputs,
    owner: ownerInput,
    note: noteField.optional().describe('Note for the version history'),
  })
  .superRefine(refuseBothSpellings)

/** The description in SKILL.md, as an import takes it; null without one. */
function describeFiles(files: readonly SkillFile[]): string | null {
  const skillMd = files.find(({ filename }) => filename === SKILL_MD)
  const { description } = readFrontmatter((skillMd && decodeText(skillMd.bytes)) ?? '', null)
  return description?.trim() ? cutAtWord(description.replaceAll('\0', ' ').toWellFormed().trim(), MAX_DESCRIPTION) : null
}

/** Saves a new skill for the caller, or for a team of theirs. @throws AppError */
export async function createSkill(context: Needs<'items'>, input: z.infer<typeof newSkillInput>): Promise<Skill> {
  const { userId } = requireUser(context.actor)
  const { ownerId, visibility } = await newOwnership(context, input)
  const files = input.files.map((file, index) => fromFileContent(file, `files[${index}].`))
  checkSkillFiles(files)
  const { title, tags = [], category = null, note = null } = input
  const description = input.description ?? describeFiles(files)
  return await context.store.items.createItem(
    { userId, ownerId, note },
    { kind: 'skill', title, files, description, tags, category, visibility },
  )
}

export const saveSkill = defineOperation({
  name: 'save_skill',
  title: 'Save a skill',
  summary:
    'Save a new Agent Skill: a set of files with SKILL.md (YAML frontmatter with name and description, then instructions) at its root. Private unless you or your settings say otherwise.',
  scope: 'write',
  writes: true,
  cost: 10,
  surfaces: {
    mcp: { readOnly: false, note: 'Add more files later with add_file_to_skill.' },
    rest: { method: 'POST', path: '/api/skills', status: 201 },
    cli: { command: 'save-skill', positional: [] },
  },
  input: newSkillInput,
  output: z.object({ success: z.literal(true), skill: savedSkill, ...hintsOutput }),
  async run(context: Needs<'items' | 'own', 'baseUrl'>, input) {
    const skill = await createSkill(context, input)
    const record = await withOwner(context, skill, toSavedSkill(skill, context.baseUrl))
    return { success: true as const, skill: record, ...(await hintsOnSave(context, 'skill', skill.id)) }
  },
})
