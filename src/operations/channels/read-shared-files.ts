import { z } from 'zod'
import { notFound, refInput } from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'

/** The bytes of a skill's files, for channels: the visibility rule is applied again. */
export const readSharedFiles = defineProcedure({
  scope: null,
  input: z.object({ id: refInput, filename: z.string().optional() }),
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
