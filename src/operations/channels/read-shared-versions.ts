import { z } from 'zod'
import { defineProcedure, type Needs } from '../core/procedure.ts'

/** Most versions of one call. */
const MAX_VERSIONS = 100

/** The texts and files of entries of the log: the visibility rule is applied again. */
export const readSharedVersions = defineProcedure({
  scope: null,
  input: z.object({ changes: z.array(z.number().int().min(1)).max(MAX_VERSIONS) }),
  run: async ({ actor, store }: Needs<'items'>, { changes }) => ({ versions: await store.items.readSharedVersions(actor, changes) }),
})
