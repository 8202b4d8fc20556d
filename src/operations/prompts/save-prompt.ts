import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { contentField, descriptionField, noteField, promptTypeField, tagsField, titleField } from '../../library/fields.ts'
import type { Prompt } from '../../library/items.ts'
import { askedVisibility, type Visibility } from '../../library/visibility.ts'
import { defineOperation } from '../core/define-operation.ts'
import { hintsOutput } from '../core/filter-hints.ts'
import { filterText, ownerInput, refuseBothSpellings, requireOwner, visibilityInputs } from '../core/inputs.ts'
import { type Needs, requireUser } from '../core/procedure.ts'
import { toPromptRecord, wholePrompt, withOwner } from '../core/records.ts'
import { hintsOnSave } from '../items/save-hints.ts'

/** Whose a new item is, and who sees it: as asked, else as the owner's setting says. @throws AppError `not_found` for no team of the caller */
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

/** A new prompt, as callers give it. */
export const newPromptInput = z
  .object({
    title: titleField.describe('Short name people will search for'),
    content: contentField.describe('The prompt itself, kept exactly as given'),
    description: descriptionField.optional().describe('One sentence: what is it for?'),
    tags: tagsField.optional().describe('Tag names; new ones are created'),
    category: filterText.describe('Category; unknown ones are rejected with the valid list'),
    ...visibilityInputs,
    owner: ownerInput,
    type: promptTypeField.default('TEXT').describe('Kind of output the prompt produces'),
    note: noteField.optional().describe('Note for the version history'),
  })
  .superRefine(refuseBothSpellings)

/** Saves a new prompt for the caller, or for a team of theirs. @throws AppError */
export async function createPrompt(context: Needs<'items'>, input: z.infer<typeof newPromptInput>): Promise<Prompt> {
  const { userId } = requireUser(context.actor)
  const { ownerId, visibility } = await newOwnership(context, input)
  const { title, content, type, description = null, tags = [], category = null, note = null } = input
  return await context.store.items.createItem(
    { userId, ownerId, note },
    { kind: 'prompt', title, content, type, description, tags, category, visibility },
  )
}

export const savePrompt = defineOperation({
  name: 'save_prompt',
  title: 'Save a prompt',
  summary:
    'Save a new prompt to the library under your account, or for a team. Private unless you or your settings say otherwise. Write variables as ${name} or ${name:default}. Returns the record with its id and url.',
  scope: 'write',
  writes: true,
  cost: 5,
  surfaces: {
    mcp: { readOnly: false },
    rest: { method: 'POST', path: '/api/prompts', status: 201 },
    cli: { command: 'save-prompt', positional: [] },
  },
  input: newPromptInput,
  output: z.object({ success: z.literal(true), prompt: wholePrompt, ...hintsOutput }),
  async run(context: Needs<'items' | 'own', 'baseUrl'>, input) {
    const prompt = await createPrompt(context, input)
    return {
      success: true as const,
      prompt: await withOwner(context, prompt, toPromptRecord(prompt, context.baseUrl)),
      ...(await hintsOnSave(context, 'prompt', prompt.id)),
    }
  },
})
