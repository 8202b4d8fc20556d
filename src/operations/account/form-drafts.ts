import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { isId } from '../../library/identifier.ts'
import { defineOperation, type Needs, requireUser } from '../core/define-operation.ts'
import { refInput } from '../core/inputs.ts'

/** Drafts per person, of forms and of bulk actions each, and their lifetime. */
const MAX_DRAFTS = 10
const KEPT_MS = 24 * 3600 * 1000
/** Longest draft, in UTF-16 units: the longest prompt and a better text for it, written as JSON. */
const MAX_DRAFT = 2_500_000

const oldestAt = (now: number) => new Date(now - KEPT_MS).toISOString()

/** Keeps a form between two pages, so that the second one is reached by a redirect and the way back shows the first as it was. */
export const keepFormDraft = defineOperation({
  name: 'keep_form_draft',
  title: 'Save a form draft',
  summary: `Save an unfinished form for a day; each person keeps the newest ${MAX_DRAFTS}, and as many of bulk actions.`,
  scope: 'account',
  surfaces: {},
  input: z.object({ body: z.string() }),
  output: z.object({ id: z.string() }),
  async run({ actor, store, clock }: Needs<'formDrafts', 'clock'>, { body }) {
    if (body.length > MAX_DRAFT) throw new AppError('too_large', 'The form is too large for a preview. Save it or shorten the text.')
    return { id: await store.formDrafts.saveFormDraft(requireUser(actor).userId, body, { most: MAX_DRAFTS, oldest: oldestAt(clock()) }) }
  },
})

export const showFormDraft = defineOperation({
  name: 'show_form_draft',
  title: 'Show a form draft',
  summary: 'Your unfinished form; null once it has expired.',
  scope: 'account',
  surfaces: {},
  input: z.object({ id: refInput }),
  output: z.object({ body: z.string().nullable() }),
  async run({ actor, store, clock }: Needs<'formDrafts', 'clock'>, { id }) {
    return { body: isId(id) ? await store.formDrafts.findFormDraft(requireUser(actor).userId, id.toLowerCase(), oldestAt(clock())) : null }
  },
})
