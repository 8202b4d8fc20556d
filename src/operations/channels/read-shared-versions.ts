import { z } from 'zod'
import type { SharedVersion } from '../../library/shared-changes.ts'
import { defineOperation, type Needs } from '../core/define-operation.ts'

/** Most versions of one call. */
const MAX_VERSIONS = 100

/** The texts and files of entries of the log: the visibility rule is applied again. */
export const readSharedVersions = defineOperation({
  name: 'read_shared_versions',
  title: 'Read versions for a channel',
  summary: 'Texts and files of the versions you may see, by their entries in the log of visible changes.',
  scope: null,
  cost: 5,
  surfaces: {},
  input: z.object({ changes: z.array(z.number().int().min(1)).max(MAX_VERSIONS) }),
  output: z.object({ versions: z.custom<readonly SharedVersion[]>((value) => Array.isArray(value)) }),
  run: async ({ actor, store }: Needs<'items'>, { changes }) => ({ versions: await store.items.readSharedVersions(actor, changes) }),
})
