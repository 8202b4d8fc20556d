import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { DRAFT_KINDS } from '../../library/form-drafts.ts'
import { isId } from '../../library/identifier.ts'
import { defineOperation, type Needs, requireUser } from '../core/define-operation.ts'
import { refInput } from '../core/inputs.ts'

/** Longest draft, in UTF-16 units: the longest prompt and a better text for it, written as JSON. */
const MAX_DRAFT = 2_500_000

const kind = z.enum(['form', 'bulk']).default('form').describe('bulk: of an action on many items')

/** Keeps a form between two pages, so that the second one is reached by a redirect and the way back shows the first as it was. */
export const keepFormDraft = defineOperation({
  name: 'keep_form_draft',
  title: 'Save a form draft',
  summary: `Save an unfinished form for a day; each person keeps the newest ${DRAFT_KINDS.form.most} of a kind.`,
  scope: 'account',
  surfaces: {},
  input: z.object({ kind, body: z.string() }),
  output: z.object({ id: z.string() }),
  async run({ actor, store }: Needs<'formDrafts'>, input) {
    if (input.body.length > MAX_DRAFT) throw new AppError('too_large', 'The form is too large for a preview. Save it or shorten the text.')
    return { id: await store.formDrafts.saveFormDraft(requireUser(actor).userId, input.kind, input.body) }
  },
})

export const showFormDraft = defineOperation({
  name: 'show_form_draft',
  title: 'Show a form draft',
  summary: 'Your unfinished form; null once it has expired.',
  scope: 'account',
  surfaces: {},
  input: z.object({ kind, id: refInput }),
  output: z.object({ body: z.string().nullable() }),
  async run({ actor, store }: Needs<'formDrafts'>, input) {
    const { userId } = requireUser(actor)
    return { body: isId(input.id) ? await store.formDrafts.findFormDraft(userId, input.kind, input.id.toLowerCase()) : null }
  },
})
