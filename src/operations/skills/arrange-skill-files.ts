import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { noteField } from '../../library/fields.ts'
import { applyFileChange, checkSkillFiles, fromFileContent, listSkillFiles, type SkillFile, toFileContent } from '../../library/skill.ts'
import { MAX_ARCHIVE_BYTES, readSkillArchiveInSteps } from '../../library/skill-archive.ts'
import { baseVersionInput, editorOf, notFound, refInput, requireEditable } from '../core/inputs.ts'
import { defineProcedure, type Needs, requireUser } from '../core/procedure.ts'
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
export const arrangeSkillFiles = defineProcedure({
  scope: 'write',
  writes: true,
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
    return { skillId: skill.id, version: skill.version, files: skill.files.map(({ filename }) => filename) }
  },
})

/** Reads an archive without keeping it: what it holds for a skill, and what was left out. */
export const readSkillArchive = defineProcedure({
  scope: 'write',
  input: z.object({ archive: z.base64().max(Math.ceil((MAX_ARCHIVE_BYTES * 4) / 3) + 4) }),
  async run(_context: Needs, { archive }) {
    const steps = readSkillArchiveInSteps(new Uint8Array(Buffer.from(archive, 'base64')))
    for (;;) {
      const step = steps.next()
      if (step.done) return { files: listSkillFiles(step.value.files).map(toFileContent), skipped: [...step.value.skipped] }
      await setImmediate()
    }
  },
})
