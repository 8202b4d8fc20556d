import { z } from 'zod'
import {
  contentField,
  descriptionField,
  MAX_DESCRIPTION,
  MAX_TITLE,
  noteField,
  promptTypeField,
  tagsField,
  titleField,
} from '../../domain/items/fields.ts'
import type { Item, Prompt, Skill } from '../../domain/items/items.ts'
import { askedVisibility, isWiderThan, type Visibility, visibilitySchema } from '../../domain/items/visibility.ts'
import { bodyOf, makeBody, messagesField } from '../../domain/prompts/body.ts'
import { configField } from '../../domain/prompts/config.ts'
import { pinParts } from '../../domain/prompts/parts.ts'
import { readFrontmatter } from '../../domain/skills/frontmatter.ts'
import { checkSkillFiles, decodeText, fromFileContent, SKILL_MD, type SkillFile } from '../../domain/skills/skill.ts'
import { cutAtWord, cutCharacters, showControls } from '../../domain/text/characters.ts'
import { AppError, invalidInput, toAppError } from '../../errors.ts'
import { defineOperation, findUnknown, itemWrite, withHint } from '../core/define-operation.ts'
import { checkHints, hintsOutput } from '../core/hints.ts'
import {
  editorOf,
  filterText,
  itemTarget,
  MAX_SAVED,
  ownerInput,
  refuseBothSpellings,
  requireItem,
  requireOwner,
  visibilityInputs,
} from '../core/inputs.ts'
import { createParser, defineWrite, type Needs, requireUser } from '../core/procedure.ts'
import { itemUrl, ownerOutput, skillRecord, toSkillRecord, toWholePrompt, wholePrompt, withOwner } from '../core/records.ts'
import { checkConfig, checkParts } from '../prompts/compose.ts'

/** The owner and visibility of a new item: as asked, else as the owner's setting says. @throws AppError `not_found` for no team of the caller */
export async function newOwnership(
  { actor, store }: Needs<'items'>,
  input: Parameters<typeof askedVisibility>[0] & { readonly owner?: string | undefined },
): Promise<{ ownerId: string; visibility: Visibility }> {
  const { userId, username, within } = requireUser(actor)
  const team = within && 'team' in within ? await store.items.findOwner(userId, { id: within.team }) : null
  const owner = input.owner === undefined && team ? team : await requireOwner(store, userId, input.owner ?? username)
  if (within && owner.id !== team?.id)
    throw new AppError('forbidden', 'This API key is narrowed, and cannot save anything outside of that.')
  return { ownerId: owner.id, visibility: askedVisibility(input) ?? owner.defaultVisibility }
}

/** Inputs of a prompt beside or instead of its text. */
export const bodyInputs = {
  messages: messagesField
    .optional()
    .meta({ items: { type: 'object' } })
    .describe('For a chat: {role: system|user|assistant, content} or {type: "placeholder", name}'),
  config: configField.nullish().describe('For programs: model, functions, schema of the answer'),
}

/** A new prompt, as callers give it. */
const newPromptInput = z
  .object({
    title: titleField.describe('Short name people will search for'),
    content: contentField.optional().describe('The prompt itself, kept exactly as given. Not needed with messages'),
    ...bodyInputs,
    description: descriptionField.optional().describe('One sentence: what is it for?'),
    tags: tagsField.optional().describe('Tag names; new ones are created'),
    category: filterText.describe('Category; unknown ones are rejected with the valid list'),
    ...visibilityInputs,
    owner: ownerInput,
    type: promptTypeField.default('TEXT').describe('Kind of output the prompt produces'),
    note: noteField.optional().describe('Note for the version history'),
  })
  .superRefine(refuseBothSpellings)
  // The interface requires content. Messages may replace it.
  .meta({ required: ['title', 'content'] })

/** Saves a new prompt for the caller, or for a team of theirs. @throws AppError */
async function createPrompt(context: Needs<'items', 'sealer'>, input: z.infer<typeof newPromptInput>): Promise<Prompt> {
  const { userId } = requireUser(context.actor)
  const { ownerId, visibility } = await newOwnership(context, input)
  const { title, content, messages, config, type, description = null, tags = [], category = null, note = null } = input
  if (content !== undefined && messages) throw invalidInput('content', 'Give content or messages, not both.')
  await checkConfig(config)
  await checkParts(context, makeBody({ content, messages }), { id: '', ownerId, visibility })
  return await context.store.items.createItem(
    { userId, ownerId, note },
    { kind: 'prompt', title, content, messages, config, type, description, tags, category, visibility },
  )
}

export const savePrompt = defineOperation({
  name: 'save_prompt',
  title: 'Save a prompt',
  summary:
    'Save a new prompt to the library under your account, or for a team. Private unless you or your settings say otherwise. Write variables as ${name} or ${name:default}. Returns the record with its id and url.',
  ...itemWrite,
  surfaces: { mcp: { readOnly: false }, rest: 'POST /api/prompts 201', cli: 'save-prompt' },
  input: newPromptInput,
  output: z.object({ success: z.literal(true), prompt: wholePrompt, ...hintsOutput }),
  async run(context: Needs<'items' | 'own' | 'checks', 'baseUrl' | 'sealer'>, input) {
    const prompt = await createPrompt(context, input)
    return {
      success: true as const,
      prompt: await withOwner(context, prompt, toWholePrompt(prompt, context.baseUrl)),
      ...(await hintsOnSave(context, prompt)),
    }
  },
})

/** A file in an input. */
export const fileInput = z.object({
  filename: z.string().describe('Relative path, such as references/api.md'),
  content: z.string().describe('Kept byte for byte'),
  encoding: z.literal('base64').optional().describe('Only for files other than UTF-8 text'),
  executable: z.boolean().optional().describe('Default: as it was, else whether it begins with #!'),
})

/** A skill as the tools that write one answer. */
export const savedSkill = skillRecord.omit({ author: true, votes: true, categorySlug: true, updatedAt: true }).extend(ownerOutput)

export function toSavedSkill(skill: Skill, baseUrl: string): z.infer<typeof savedSkill> {
  const { author: _a, votes: _v, categorySlug: _c, updatedAt: _u, ...saved } = toSkillRecord(skill, baseUrl)
  return saved
}

/** A new skill, as callers give it. */
const newSkillInput = z
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
async function createSkill(context: Needs<'items'>, input: z.infer<typeof newSkillInput>): Promise<Skill> {
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
  ...itemWrite,
  cost: 10,
  surfaces: {
    mcp: { readOnly: false, note: 'Add more files later with add_file_to_skill.' },
    rest: 'POST /api/skills 201',
    cli: 'save-skill',
  },
  input: newSkillInput,
  output: z.object({ success: z.literal(true), skill: savedSkill, ...hintsOutput }),
  async run(context: Needs<'items' | 'own' | 'checks', 'baseUrl'>, input) {
    const skill = await createSkill(context, input)
    const record = await withOwner(context, skill, toSavedSkill(skill, context.baseUrl))
    return { success: true as const, skill: record, ...(await hintsOnSave(context, skill)) }
  },
})

/** Hints about a saved item: what the check says, which one it nearly repeats, where the caller finds that, and how many words search passes over. */
async function hintsOnSave(context: Needs<'items' | 'own' | 'checks', 'baseUrl'>, item: Item): Promise<{ hints?: string[] }> {
  const { actor, store, baseUrl, onFault } = context
  const { kind, id } = item
  const { hints = [] } = await checkHints(context, item)
  try {
    const known = await store.items.findNearDuplicate(actor, kind, id)
    if (known) hints.push(`Nearly the same as ${showControls(known.title)} (${itemUrl(baseUrl, kind, known)}).`)
    const leftOut = await store.own.countLeftOut(id)
    if (leftOut > 0)
      hints.push(`Search does not find this by ${leftOut} of its words: its owner's share of them is used up (QUOTA_PER_OWNER).`)
  } catch (error) {
    // The item is saved, whatever happens here.
    onFault?.(error)
  }
  return hints.length > 0 ? { hints } : {}
}

/** Items that are written at the same time: they share a commit, and others get their turn after each. */
const AT_ONCE = 50

const outcome = z.object({
  index: z.number().int().describe('Place in the list that was sent, from 0'),
  id: z.string().optional(),
  slug: z.string().optional(),
  visibility: visibilitySchema.optional(),
  url: z.string().optional(),
  error: z.string().optional().describe('Code of the error, where this one was not saved'),
  message: z.string().optional().describe('Why it was not'),
  hints: hintsOutput.hints.describe('What was ignored in it'),
})
const output = z.object({ saved: z.number().int(), refused: z.number().int(), results: z.array(outcome) })

/** Saves each of some items, and answers each for itself: one that is refused, or fails, leaves the others. */
async function saveEach<Input>(
  { baseUrl, onFault }: Needs<never, 'baseUrl'>,
  { schema, parse }: { readonly schema: z.ZodObject; parse(raw: unknown): Input },
  items: readonly unknown[],
  save: (item: Input) => Promise<Item>,
): Promise<z.infer<typeof output>> {
  const saveOne = async (raw: unknown, index: number): Promise<z.infer<typeof outcome>> => {
    try {
      const item = await save(parse(raw))
      const { id, slug, visibility, kind } = item
      return withHint({ index, id, slug, visibility, url: itemUrl(baseUrl, kind, item) }, findUnknown(schema, raw))
    } catch (error) {
      const { code, message } = toAppError(error)
      // Those before it are saved, and must be answered.
      if (code === 'internal') onFault?.(error)
      return withHint({ index, error: code, message }, findUnknown(schema, raw))
    }
  }
  const results: z.infer<typeof outcome>[] = []
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map((item, place) => saveOne(item, at + place)))))
    const fault = results.find(({ error }) => error === 'unavailable')
    if (!fault) continue
    // Each of the others would wait as long as these did.
    while (results.length < items.length) results.push({ ...fault, index: results.length })
    break
  }
  const refused = results.filter(({ error }) => error !== undefined).length
  return { saved: results.length - refused, refused, results }
}

const PROMPTS = { schema: newPromptInput, parse: createParser(newPromptInput) }
const SKILLS = { schema: newSkillInput, parse: createParser(newSkillInput) }
const manyItems = z.array(z.record(z.string(), z.unknown())).min(1).max(MAX_SAVED)

export const savePrompts = defineOperation({
  name: 'save_prompts',
  title: 'Save many prompts',
  summary: `Save up to ${MAX_SAVED} new prompts in one call, each as POST /api/prompts takes it. Each is answered for itself, in the order sent: one that is refused leaves the others.`,
  ...itemWrite,
  surfaces: { rest: 'POST /api/prompts/batch' },
  input: z.object({ prompts: manyItems.describe('Prompts, as POST /api/prompts takes them') }),
  output,
  run: async (context: Needs<'items', 'baseUrl' | 'sealer'>, { prompts }) =>
    await saveEach(context, PROMPTS, prompts, (prompt) => createPrompt(context, prompt)),
})

export const saveSkills = defineOperation({
  name: 'save_skills',
  title: 'Save many skills',
  summary: `Save up to ${MAX_SAVED} new skills in one call, each as POST /api/skills takes it. Each is answered for itself, in the order sent: one that is refused leaves the others.`,
  ...itemWrite,
  cost: 10,
  surfaces: { rest: 'POST /api/skills/batch' },
  input: z.object({ skills: manyItems.describe('Skills, as POST /api/skills takes them') }),
  output,
  run: async (context: Needs<'items', 'baseUrl'>, { skills }) =>
    await saveEach(context, SKILLS, skills, (skill) => createSkill(context, skill)),
})

const target = z.object(itemTarget)
/** Ends the title of a copy of one's own item: two of one title are easily mixed up. */
const COPY = ' (copy)'

function titleOfCopy({ title, ownerId }: Item, userId: string): string {
  return ownerId === userId ? cutCharacters(title, MAX_TITLE - COPY.length) + COPY : title
}

/** Save a copy of an item you can see under your account, with all files of a skill. Private unless your settings say otherwise. */
export const copyItem = defineWrite({
  scope: 'account',
  input: target,
  async run(context: Needs<'items', 'baseUrl'>, input) {
    const { actor, store, baseUrl } = context
    const user = requireUser(actor)
    const source = await requireItem(context, input)
    const { ownerId, visibility: usual } = await newOwnership(context, {})
    // A copy of somebody else's item reaches nobody whom the item does not.
    const isWider = source.ownerId !== user.userId && isWiderThan(usual, source.visibility)
    const visibility = isWider ? 'private' : usual
    const editor = { ...editorOf(user), note: null, copies: source.id }
    const fields = {
      title: titleOfCopy(source, user.userId),
      description: source.description,
      category: source.category?.slug ?? null,
      tags: source.tags.map(({ name }) => name),
      visibility,
    }
    const copy =
      source.kind === 'prompt'
        ? await store.items.createItem(editor, {
            kind: 'prompt',
            ...fields,
            ...(source.ownerId === ownerId ? bodyOf(source) : pinParts(bodyOf(source))),
            type: source.type,
          })
        : await store.items.createItem(editor, { kind: 'skill', ...fields, files: await store.items.readSkillFiles(actor, source.id) })
    return { id: copy.id, url: itemUrl(baseUrl, copy.kind, copy) }
  },
})
