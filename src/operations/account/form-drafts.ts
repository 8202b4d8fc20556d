import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { isId } from '../../library/identifier.ts'
import { refInput } from '../core/inputs.ts'
import { defineProcedure, type Needs, requireUser } from '../core/procedure.ts'

/** Longest draft, in UTF-16 units: the longest prompt and a better text for it, written as JSON. */
const MAX_DRAFT = 2_500_000

const kind = z.enum(['form', 'bulk']).default('form').describe('bulk: of an action on many items')

/** Keeps a form between two pages, so that the second one is reached by a redirect and the way back shows the first as it was. */
export const keepFormDraft = defineProcedure({
  scope: 'account',
  input: z.object({ kind, body: z.string() }),
  async run({ actor, store }: Needs<'formDrafts'>, input) {
    if (input.body.length > MAX_DRAFT) throw new AppError('too_large', 'The form is too large for a preview. Save it or shorten the text.')
    return { id: await store.formDrafts.saveFormDraft(requireUser(actor).userId, input.kind, input.body) }
  },
})

/** Your unfinished form; null once it has expired. */
export const showFormDraft = defineProcedure({
  scope: 'account',
  input: z.object({ kind, id: refInput }),
  async run({ actor, store }: Needs<'formDrafts'>, input) {
    const { userId } = requireUser(actor)
    return { body: isId(input.id) ? await store.formDrafts.findFormDraft(userId, input.kind, input.id.toLowerCase()) : null }
  },
})
