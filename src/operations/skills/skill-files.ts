import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { noteField } from '../../domain/items/fields.ts'
import { takeSteps } from '../../domain/service/running-work.ts'
import {
  applyFileChange,
  checkSkillFiles,
  type FileChange,
  fromFileContent,
  listSkillFiles,
  type SkillFile,
  toFileContent,
} from '../../domain/skills/skill.ts'
import { MAX_ARCHIVE_BYTES, readSkillArchiveInSteps } from '../../domain/skills/skill-archive.ts'
import { AppError } from '../../errors.ts'
import { defineOperation, itemWrite } from '../core/define-operation.ts'
import { checkHints, hintsOutput } from '../core/hints.ts'
import { baseVersionInput, editItem, refInput } from '../core/inputs.ts'
import { defineProcedure, defineWrite, type Needs } from '../core/procedure.ts'
import { fileInput } from '../items/save-items.ts'

const target = {
  skillId: refInput.describe('Id or slug of the skill'),
  filename: fileInput.shape.filename,
}
const about = { baseVersion: baseVersionInput, note: noteField.optional().describe('Note for the version history') }
const written = z.object({ ...target, content: fileInput.shape.content, encoding: fileInput.shape.encoding, ...about })
const output = z.object({ success: z.literal(true), skillId: z.string(), message: z.string(), files: z.array(z.string()), ...hintsOutput })

interface Changed {
  readonly skillId: string
  readonly baseVersion?: number | undefined
  readonly note?: string | undefined
}

/** Changes the files as they are at the moment of writing, so that edits made at once all survive. */
async function writeFiles(
  context: Needs<'items'>,
  { skillId, baseVersion, note }: Changed,
  change: (files: readonly SkillFile[]) => SkillFile[],
) {
  let before = 0
  const skill = await editItem(context, 'skill', skillId, { note: note ?? null, baseVersion }, ({ version }) => {
    before = version
    return { files: change }
  })
  return { skill, isChanged: skill.version !== before, files: skill.files.map(({ filename }) => filename) }
}

/** Applies one change to the files. */
async function changeFiles(
  context: Needs<'items' | 'checks'>,
  input: Changed,
  change: FileChange,
  message: string,
): Promise<z.infer<typeof output>> {
  const { skill, isChanged, files } = await writeFiles(context, input, (current) => applyFileChange(current, change))
  const said = isChanged ? message : 'The file already has this content; nothing was saved.'
  return { success: true as const, skillId: skill.id, message: said, files, ...(isChanged ? await checkHints(context, skill) : {}) }
}

export const addFileToSkill = defineOperation({
  name: 'add_file_to_skill',
  title: 'Add a file to a skill',
  summary: 'Add a new file to a skill you own. Fails with conflict if it already exists.',
  ...itemWrite,
  surfaces: {
    mcp: { readOnly: false, note: 'Use update_skill_file to replace it.' },
    rest: 'POST /api/skills/{skillId}/files 201',
    cli: 'add-file-to-skill skillId filename',
  },
  input: written,
  output,
  run: (context, input) => changeFiles(context, input, { kind: 'add', file: fromFileContent(input, '') }, `Added ${input.filename}.`),
})

export const updateSkillFile = defineOperation({
  name: 'update_skill_file',
  title: 'Update a file of a skill',
  summary: 'Replace a file of a skill you own, including SKILL.md. Earlier versions keep the old content.',
  ...itemWrite,
  surfaces: {
    mcp: { readOnly: false, destructive: true, idempotent: true },
    rest: 'PUT /api/skills/{skillId}/files/{filename}',
    cli: 'update-skill-file skillId filename',
  },
  input: written,
  output,
  run: (context, input) => changeFiles(context, input, { kind: 'update', file: fromFileContent(input, '') }, `Updated ${input.filename}.`),
})

export const removeFileFromSkill = defineOperation({
  name: 'remove_file_from_skill',
  title: 'Remove a file from a skill',
  summary: 'Remove a file from a skill you own, except SKILL.md. Earlier versions keep the content.',
  ...itemWrite,
  surfaces: {
    mcp: { readOnly: false, destructive: true },
    rest: 'DELETE /api/skills/{skillId}/files/{filename}',
    cli: 'remove-file-from-skill skillId filename',
  },
  input: z.object({ ...target, ...about }),
  output,
  run: (context, input) => changeFiles(context, input, { kind: 'remove', filename: input.filename }, `Removed ${input.filename}.`),
})

const filename = fileInput.shape.filename

/** A file that is there is replaced, another is added. */
function putFile(files: readonly SkillFile[], file: SkillFile): SkillFile[] {
  const isThere = files.some((known) => known.filename === file.filename)
  return applyFileChange(files, { kind: isThere ? 'update' : 'add', file })
}

function moveFile(files: readonly SkillFile[], from: string, to: string): SkillFile[] {
  const file = files.find((known) => known.filename === from)
  if (!file) throw new AppError('not_found', `File "${from.slice(0, 80)}" not found in the skill.`)
  return applyFileChange(applyFileChange(files, { kind: 'remove', filename: from }), {
    kind: 'add',
    file: { ...file, filename: to },
  })
}

/** Changes to several files of a skill as one version: all of them, or none. */
export const arrangeSkillFiles = defineWrite({
  scope: 'write',
  input: z.object({
    skillId: refInput,
    rename: z
      .array(z.object({ from: filename, to: filename }))
      .max(512)
      .default([]),
    remove: z.array(filename).max(512).default([]),
    put: z.array(fileInput).max(512).default([]),
    isAll: z.boolean().default(false).describe('Remove all other files'),
    baseVersion: baseVersionInput,
    note: noteField.optional(),
  }),
  async run(context: Needs<'items' | 'checks'>, input) {
    const put = input.put.map((file, index) => fromFileContent(file, `put[${index}].`))
    if (input.isAll) checkSkillFiles(put)
    const { skill, files } = await writeFiles(context, input, (current) => {
      if (input.isAll) return put
      let next = [...current]
      for (const { from, to } of input.rename) next = moveFile(next, from, to)
      for (const gone of input.remove) next = applyFileChange(next, { kind: 'remove', filename: gone })
      for (const file of put) next = putFile(next, file)
      return next
    })
    return { skillId: skill.id, version: skill.version, files, ...(await checkHints(context, skill)) }
  },
})

/** Reads an archive without keeping it: what it holds for a skill, and what was left out. */
export const readSkillArchive = defineProcedure({
  scope: 'write',
  input: z.object({ archive: z.base64().max(Math.ceil((MAX_ARCHIVE_BYTES * 4) / 3) + 4) }),
  async run(_context: Needs, { archive }) {
    const steps = readSkillArchiveInSteps(new Uint8Array(Buffer.from(archive, 'base64')))
    const { files, skipped } = await takeSteps(steps, setImmediate)
    return { files: listSkillFiles(files).map(toFileContent), skipped: [...skipped] }
  },
})
