import { z } from 'zod'
import { noteField } from '../../library/fields.ts'
import { applyFileChange, type FileChange, fromFileContent } from '../../library/skill.ts'
import { defineOperation } from '../core/define-operation.ts'
import { baseVersionInput, editorOf, notFound, refInput, requireEditable } from '../core/inputs.ts'
import { type Needs, requireUser } from '../core/procedure.ts'
import { fileInput } from './save-skill.ts'

const target = {
  skillId: refInput.describe('Id or slug of the skill'),
  filename: fileInput.shape.filename,
}
const about = { baseVersion: baseVersionInput, note: noteField.optional().describe('Note for the version history') }
const written = z.object({ ...target, content: fileInput.shape.content, encoding: fileInput.shape.encoding, ...about })
const output = z.object({ success: z.literal(true), skillId: z.string(), message: z.string(), files: z.array(z.string()) })

/** Applies one change to the files as they are at the moment of writing, so that edits made at once all survive. */
async function changeFiles(
  context: Needs<'items'>,
  input: { skillId: string; baseVersion?: number | undefined; note?: string | undefined },
  change: FileChange,
  message: string,
): Promise<z.infer<typeof output>> {
  const user = requireUser(context.actor)
  let before = 0
  const skill = await context.store.items.changeItem(
    'skill',
    input.skillId,
    { ...editorOf(user), note: input.note ?? null },
    (current, role) => {
      requireEditable(user, current, role, input.skillId, { baseVersion: input.baseVersion })
      before = current.version
      return { files: (files) => applyFileChange(files, change) }
    },
  )
  if (!skill) throw notFound('skill')
  const said = skill.version === before ? 'The file already has this content; nothing was saved.' : message
  return { success: true, skillId: skill.id, message: said, files: skill.files.map(({ filename }) => filename) }
}

export const addFileToSkill = defineOperation({
  name: 'add_file_to_skill',
  title: 'Add a file to a skill',
  summary: 'Add a new file to a skill you own. Fails with conflict if it already exists.',
  scope: 'write',
  writes: true,
  cost: 5,
  surfaces: {
    mcp: { readOnly: false, note: 'Use update_skill_file to replace it.' },
    rest: { method: 'POST', path: '/api/skills/{skillId}/files', status: 201 },
    cli: { command: 'add-file-to-skill', positional: ['skillId', 'filename'] },
  },
  input: written,
  output,
  run: (context, input) => changeFiles(context, input, { kind: 'add', file: fromFileContent(input, '') }, `Added ${input.filename}.`),
})

export const updateSkillFile = defineOperation({
  name: 'update_skill_file',
  title: 'Update a file of a skill',
  summary: 'Replace a file of a skill you own, including SKILL.md. Earlier versions keep the old content.',
  scope: 'write',
  writes: true,
  cost: 5,
  surfaces: {
    mcp: { readOnly: false, destructive: true, idempotent: true },
    rest: { method: 'PUT', path: '/api/skills/{skillId}/files/{filename}' },
    cli: { command: 'update-skill-file', positional: ['skillId', 'filename'] },
  },
  input: written,
  output,
  run: (context, input) => changeFiles(context, input, { kind: 'update', file: fromFileContent(input, '') }, `Updated ${input.filename}.`),
})

export const removeFileFromSkill = defineOperation({
  name: 'remove_file_from_skill',
  title: 'Remove a file from a skill',
  summary: 'Remove a file from a skill you own, except SKILL.md. Earlier versions keep the content.',
  scope: 'write',
  writes: true,
  cost: 5,
  surfaces: {
    mcp: { readOnly: false, destructive: true },
    rest: { method: 'DELETE', path: '/api/skills/{skillId}/files/{filename}' },
    cli: { command: 'remove-file-from-skill', positional: ['skillId', 'filename'] },
  },
  input: z.object({ ...target, ...about }),
  output,
  run: (context, input) => changeFiles(context, input, { kind: 'remove', filename: input.filename }, `Removed ${input.filename}.`),
})
