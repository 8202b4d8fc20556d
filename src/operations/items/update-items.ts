import { z } from 'zod'
import { contentField, descriptionField, noteField, promptTypeField, tagsField, titleField } from '../../domain/items/fields.ts'
import type { ItemChange } from '../../domain/items/item-access.ts'
import type { ItemKind, ItemOf } from '../../domain/items/items.ts'
import { askedVisibility } from '../../domain/items/visibility.ts'
import { type BodyFields, bodyOf, changeBody } from '../../domain/prompts/body.ts'
import { invalidInput } from '../../errors.ts'
import { checkHints, withCheckHints } from '../check/check-hints.ts'
import { defineOperation, itemWrite } from '../core/define-operation.ts'
import { hintsOutput } from '../core/filter-hints.ts'
import {
  applyBase,
  baseInput,
  baseVersionInput,
  editItem,
  refInput,
  refuseBothSpellings,
  requireEditable,
  requireOfKind,
  visibilityChanges,
} from '../core/inputs.ts'
import { type Needs, requireUser } from '../core/procedure.ts'
import { toWholePrompt, wholePrompt, withOwner } from '../core/records.ts'
import { checkConfig } from '../prompts/check-config.ts'
import { checkParts, checkReach, inTurn } from '../prompts/compose.ts'
import { bodyInputs, savedSkill, toSavedSkill } from './save-items.ts'

/** The end of changes of both kinds. */
const aboutChange = {
  slug: refInput.optional().describe('New slug; the old one redirects here'),
  ...visibilityChanges,
  baseVersion: baseVersionInput,
  base: baseInput,
  note: noteField.optional().describe('Note for the version history'),
}
type Wanted = z.infer<z.ZodObject<typeof aboutChange>> & Omit<ItemChange, 'files' | 'visibility'> & { readonly id: string }

/** Changes fields of an item; those that are left out stay. @throws AppError */
async function changeFields<K extends ItemKind>(context: Needs<'items'>, kind: K, input: Wanted): Promise<ItemOf<K>> {
  const { id, baseVersion, base, note = null, isPrivate, visibility, ...fields } = input
  const asked = askedVisibility({ isPrivate, visibility })
  const change: ItemChange = { ...fields, ...(asked ? { visibility: asked } : {}) }
  if (Object.values(change).every((value) => value === undefined)) throw invalidInput('', 'Nothing to update; give at least one field.')
  return await editItem(context, kind, id, { note, baseVersion }, (current) => applyBase(base, change, current))
}

/** Checks what a change means for the parts of a prompt, and for those that it is a part of. @throws AppError */
async function checkComposition(
  context: Needs<'items', 'sealer'>,
  { id, ...change }: BodyFields & Parameters<typeof askedVisibility>[0] & { readonly id: string },
): Promise<void> {
  const visibility = askedVisibility(change)
  if (visibility === null && change.content === undefined && change.messages === undefined) return
  const user = requireUser(context.actor)
  const prompt = await requireOfKind(context, 'prompt', id)
  // The write compares the version that the change is made on.
  requireEditable(user, prompt, await context.store.items.findRole(user.userId, prompt.ownerId), id)
  if (change.content !== undefined || change.messages !== undefined)
    await checkParts(context, changeBody(bodyOf(prompt), change), { ...prompt, ...(visibility && { visibility }) })
  if (visibility) await checkReach(context, { ...prompt, ...changeBody(bodyOf(prompt), change) }, visibility)
}

export const updatePrompt = defineOperation({
  name: 'update_prompt',
  title: 'Update a prompt',
  summary: 'Change fields of a prompt you own; omitted fields stay. A change of the text saves a new version; earlier versions are kept.',
  ...itemWrite,
  surfaces: {
    mcp: { readOnly: false, destructive: true, idempotent: true, note: 'Without base, tags replace those others added meanwhile.' },
    rest: 'PATCH /api/prompts/{id}',
    cli: 'update-prompt id',
  },
  input: z
    .object({
      id: refInput.describe('Id or slug of the prompt'),
      title: titleField.optional().describe('New title'),
      content: contentField.optional().describe('New full text'),
      ...bodyInputs,
      description: descriptionField.nullable().optional().describe('New description; null removes it'),
      tags: tagsField.optional().describe('All tags; omitted ones are removed'),
      category: refInput.nullable().optional().describe('Category; null removes it'),
      type: promptTypeField.optional().describe('Kind of output the prompt produces'),
      ...aboutChange,
    })
    .superRefine(refuseBothSpellings),
  output: z.object({ success: z.literal(true), prompt: wholePrompt, version: z.number().int(), ...hintsOutput }),
  async run(context: Needs<'items' | 'checks' | 'inTransaction', 'baseUrl' | 'sealer'>, input) {
    await checkConfig(input.config)
    const isComposed = JSON.stringify([input.content, input.messages]).includes('${>') || askedVisibility(input) !== null
    const prompt = await inTurn(context, isComposed, async (store) => {
      await checkComposition({ ...context, store }, input)
      return await changeFields({ ...context, store }, 'prompt', input)
    })
    const record = await withOwner(context, prompt, toWholePrompt(prompt, context.baseUrl))
    return withCheckHints({ success: true as const, prompt: record, version: prompt.version }, await checkHints(context, prompt))
  },
})

export const updateSkill = defineOperation({
  name: 'update_skill',
  title: 'Update a skill',
  summary:
    'Change the title, description, tags, category, slug or visibility of a skill you own; omitted fields stay. Files are changed one by one.',
  ...itemWrite,
  surfaces: { rest: 'PATCH /api/skills/{id}', cli: 'update-skill id' },
  input: z
    .object({
      id: refInput.describe('Id or slug of the skill'),
      title: titleField.optional(),
      description: descriptionField.nullable().optional(),
      tags: tagsField.optional(),
      category: refInput.nullable().optional(),
      ...aboutChange,
    })
    .superRefine(refuseBothSpellings),
  output: z.object({ success: z.literal(true), skill: savedSkill, version: z.number().int(), ...hintsOutput }),
  async run(context: Needs<'items' | 'checks', 'baseUrl'>, input) {
    const skill = await changeFields(context, 'skill', input)
    const record = await withOwner(context, skill, toSavedSkill(skill, context.baseUrl))
    return withCheckHints({ success: true as const, skill: record, version: skill.version }, await checkHints(context, skill))
  },
})
