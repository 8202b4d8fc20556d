import { z } from 'zod'
import { defineOperation, type Needs } from '../core/define-operation.ts'
import { notFound, refInput } from '../core/inputs.ts'

const sharedFile = z.object({
  filename: z.string(),
  bytes: z.custom<Uint8Array>((value) => value instanceof Uint8Array),
  mode: z.number().int().nullish(),
})

/** The bytes of a skill's files, for channels: the visibility rule is applied again. */
export const readSharedFiles = defineOperation({
  name: 'read_shared_files',
  title: 'Read the files of a skill for a channel',
  summary: 'All files of a skill you may see, byte for byte, or one of them.',
  scope: null,
  cost: 2,
  surfaces: {},
  input: z.object({ id: refInput, filename: z.string().optional() }),
  output: z.object({ files: z.array(sharedFile).readonly() }),
  async run({ actor, store }: Needs<'items'>, { id, filename }) {
    if (filename === undefined) {
      const files = await store.items.readSkillFiles(actor, id)
      if (files.length === 0) throw notFound('skill')
      return { files }
    }
    const file = filename.isWellFormed() ? await store.items.readSkillFile(actor, id, filename) : null
    if (!file) throw notFound('skill')
    return { files: [file] }
  },
})
