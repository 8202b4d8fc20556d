import { z } from 'zod'
import { contentField, descriptionField, noteField, promptTypeField, tagsField, titleField } from '../../domain/items/fields.ts'
import { type ItemChange, visibilityFor } from '../../domain/items/item-access.ts'
import type { ItemKind, ItemOf } from '../../domain/items/items.ts'
import { askedVisibility, visibilitySchema } from '../../domain/items/visibility.ts'
import { hasRight, requireRight } from '../../domain/people/teams.ts'
import { type BodyFields, bodyOf, changeBody } from '../../domain/prompts/body.ts'
import { invalidInput } from '../../errors.ts'
import { defineOperation, itemWrite, wholeKeyWrite } from '../core/define-operation.ts'
import { checkHints, hintsOutput } from '../core/hints.ts'
import {
  applyBase,
  baseInput,
  baseVersionInput,
  editItem,
  itemTarget,
  kindOf,
  refInput,
  refuseBothSpellings,
  requireEditable,
  requireItem,
  requireOfKind,
  visibilityChanges,
} from '../core/inputs.ts'
import { type Needs, requireUser } from '../core/procedure.ts'
import { toWholePrompt, wholePrompt, withOwner } from '../core/records.ts'
import { checkConfig, checkParts, checkReach, inTurn } from '../prompts/compose.ts'
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
    return { success: true as const, prompt: record, version: prompt.version, ...(await checkHints(context, prompt)) }
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
    return { success: true as const, skill: record, version: skill.version, ...(await checkHints(context, skill)) }
  },
})

/** The effects of a transfer, shown before it. */
export const showTransfer = defineOperation({
  name: 'show_transfer',
  title: 'Show what a transfer changes',
  summary: 'Show who can receive an item, who else would then see it, and how many private versions the new owner would see.',
  scope: 'read',
  needsWholeKey: true,
  surfaces: { rest: 'GET /api/{collection}/{id}/transfer', cli: 'show-transfer collection id' },
  input: z.object(itemTarget),
  output: z.object({
    itemId: z.string(),
    title: z.string(),
    visibility: visibilitySchema,
    versions: z.number().int(),
    privateVersions: z.number().int().describe('Earlier versions that were private when they were written'),
    receivers: z
      .array(z.object({ name: z.string(), visibility: visibilitySchema.describe('Who else sees the item there') }))
      .describe('Teams you edit for; yourself, for an item of a team'),
  }),
  async run(context: Needs<'items' | 'ownership' | 'teams'>, input) {
    const { store } = context
    const { userId, username } = requireUser(context.actor)
    const { id: itemId, title, ownerId, visibility } = await requireItem(context, input)
    requireRight(await store.items.findRole(userId, ownerId), 'transfer', `transfer this ${kindOf(input.collection)}`)
    const teams = (await store.teams.listTeamsOf(userId)).filter(({ id, role }) => id !== ownerId && hasRight(role, 'edit'))
    const receivers = teams.map((team) => ({ name: team.name, visibility: visibilityFor(team, visibility) }))
    if (ownerId !== userId) receivers.unshift({ name: username, visibility })
    return { itemId, title, visibility, receivers, ...(await store.ownership.countVersions(itemId)) }
  },
})

export const transferItem = defineOperation({
  name: 'transfer_item',
  title: 'Transfer an item',
  summary:
    'Give an item you own to a team you edit for, or take one out of a team you maintain, for yourself or another team. Its addresses, versions and votes go along.',
  ...wholeKeyWrite,
  cost: 5,
  surfaces: { rest: 'POST /api/{collection}/{id}/transfer', cli: 'transfer-item collection id to' },
  input: z.object({
    ...itemTarget,
    to: z.string().max(64).describe('Name of the team, or your own'),
    leaveOutPrivate: z
      .boolean()
      .default(false)
      .describe('Delete earlier versions that were private for good; else the new owner sees them'),
    makePrivate: z.boolean().default(false).describe('Make it private where you may not publish for the team; else that is refused'),
  }),
  output: z.object({ success: z.literal(true), owner: z.string(), visibility: visibilitySchema }),
  async run(context: Needs<'items' | 'ownership'>, { to, leaveOutPrivate, makePrivate, ...input }) {
    const { userId } = requireUser(context.actor)
    const { id } = await requireItem(context, input)
    const wanted = { to, leavesOutPrivate: leaveOutPrivate, makesPrivate: makePrivate }
    return { success: true as const, ...(await context.store.ownership.transferItem(userId, kindOf(input.collection), id, wanted)) }
  },
})
