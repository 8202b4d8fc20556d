import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { noteField } from '../../library/fields.ts'
import { applyFileChange, checkSkillFiles, fromFileContent, listSkillFiles, type SkillFile, toFileContent } from '../../library/skill.ts'
import { MAX_ARCHIVE_BYTES, readSkillArchiveInSteps } from '../../library/skill-archive.ts'
import { defineOperation, type Needs, requireUser } from '../core/define-operation.ts'
import { baseVersionInput, editorOf, notFound, refInput, requireEditable } from '../core/inputs.ts'
import { fileRecord } from '../core/records.ts'
import { fileInput } from './save-skill.ts'

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
export const arrangeSkillFiles = defineOperation({
  name: 'arrange_skill_files',
  title: 'Change the files of a skill',
  summary: 'Add, replace, rename and remove files of a skill you own as one new version.',
  scope: 'write',
  writes: true,
  surfaces: {},
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
  output: z.object({ success: z.literal(true), skillId: z.string(), version: z.number().int(), files: z.array(z.string()) }),
  async run({ actor, store }: Needs<'items'>, input) {
    const user = requireUser(actor)
    const put = input.put.map((file, index) => fromFileContent(file, `put[${index}].`))
    if (input.isAll) checkSkillFiles(put)
    const skill = await store.items.changeItem('skill', input.skillId, { ...editorOf(user), note: input.note ?? null }, (current, role) => {
      requireEditable(user, current, role, input.skillId, { baseVersion: input.baseVersion })
      return {
        files: (files) => {
          if (input.isAll) return put
          let next = [...files]
          for (const { from, to } of input.rename) next = moveFile(next, from, to)
          for (const gone of input.remove) next = applyFileChange(next, { kind: 'remove', filename: gone })
          for (const file of put) next = putFile(next, file)
          return next
        },
      }
    })
    if (!skill) throw notFound('skill')
    return { success: true as const, skillId: skill.id, version: skill.version, files: skill.files.map(({ filename }) => filename) }
  },
})

/** Reads an archive without keeping it: what it holds for a skill, and what was left out. */
export const readArchive = defineOperation({
  name: 'read_skill_archive',
  title: 'Read a skill zip',
  summary: 'Extract the files of a skill from a zip, within the limits of a skill.',
  scope: 'write',
  surfaces: {},
  input: z.object({ archive: z.base64().max(Math.ceil((MAX_ARCHIVE_BYTES * 4) / 3) + 4) }),
  output: z.object({ files: z.array(fileRecord), skipped: z.array(z.object({ filename: z.string(), reason: z.string() })) }),
  async run(_context: Needs, { archive }) {
    const steps = readSkillArchiveInSteps(new Uint8Array(Buffer.from(archive, 'base64')))
    for (;;) {
      const step = steps.next()
      if (step.done) return { files: listSkillFiles(step.value.files).map(toFileContent), skipped: [...step.value.skipped] }
      await setImmediate()
    }
  },
})
