import { z } from 'zod'
import { invalidInput } from '../../errors.ts'
import { descriptionField, noteField, tagsField, titleField } from '../../library/fields.ts'
import { askedVisibility } from '../../library/visibility.ts'
import { defineOperation } from '../core/define-operation.ts'
import {
  applyBase,
  baseInput,
  baseVersionInput,
  editorOf,
  notFound,
  refInput,
  refuseBothSpellings,
  requireEditable,
  visibilityChanges,
} from '../core/inputs.ts'
import { type Needs, requireUser } from '../core/procedure.ts'
import { withOwner } from '../core/records.ts'
import { savedSkill, toSavedSkill } from './save-skill.ts'

export const updateSkill = defineOperation({
  name: 'update_skill',
  title: 'Update a skill',
  summary:
    'Change the title, description, tags, category, slug or visibility of a skill you own; omitted fields stay. Files are changed one by one.',
  scope: 'write',
  writes: true,
  cost: 5,
  surfaces: { rest: { method: 'PATCH', path: '/api/skills/{id}' }, cli: { command: 'update-skill', positional: ['id'] } },
  input: z
    .object({
      id: refInput.describe('Id or slug of the skill'),
      title: titleField.optional(),
      description: descriptionField.nullable().optional(),
      tags: tagsField.optional(),
      category: refInput.nullable().optional(),
      slug: refInput.optional().describe('New slug; the old one redirects here'),
      ...visibilityChanges,
      baseVersion: baseVersionInput,
      base: baseInput,
      note: noteField.optional().describe('Note for the version history'),
    })
    .superRefine(refuseBothSpellings),
  output: z.object({ success: z.literal(true), skill: savedSkill, version: z.number().int() }),
  async run(context: Needs<'items', 'baseUrl'>, input) {
    const { actor, store, baseUrl } = context
    const user = requireUser(actor)
    const { id, baseVersion, base, note, isPrivate, visibility, ...fields } = input
    const asked = askedVisibility({ isPrivate, visibility })
    const change = { ...fields, ...(asked ? { visibility: asked } : {}) }
    if (Object.values(change).every((value) => value === undefined)) throw invalidInput('', 'Nothing to update; give at least one field.')
    const skill = await store.items.changeItem('skill', id, { ...editorOf(user), note: note ?? null }, (current, role) => {
      requireEditable(user, current, role, id, { baseVersion })
      const merged = applyBase(base, change, current)
      requireEditable(user, current, role, id, { visibility: merged.visibility })
      return merged
    })
    if (!skill) throw notFound('skill')
    const record = await withOwner(context, skill, toSavedSkill(skill, baseUrl))
    return { success: true as const, skill: record, version: skill.version }
  },
})
