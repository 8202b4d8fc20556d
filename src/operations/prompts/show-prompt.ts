import { z } from 'zod'
import { shareOnce } from '../../cache/shared-records.ts'
import type { Version } from '../../library/items.ts'
import { defineOperation } from '../core/define-operation.ts'
import { notFound, refInput } from '../core/inputs.ts'
import type { Needs } from '../core/procedure.ts'
import { toPromptWithVariables, variableRecord, versionRecord, wholePrompt, withOwner } from '../core/records.ts'

/** Versions that come along with a prompt; the rest is a list of its own. */
const SHOWN_VERSIONS = 50

const toShownPrompt = shareOnce((versions: readonly Version[], prompt: ReturnType<typeof toPromptWithVariables>) => ({
  ...prompt,
  versions: versions.map(({ version, note, author, createdAt }) => ({ version, note, author, createdAt })),
}))

export const showPrompt = defineOperation({
  name: 'show_prompt',
  title: 'Show a prompt',
  summary: 'One full prompt with its variables and newest versions.',
  scope: null,
  surfaces: { rest: { method: 'GET', path: '/api/prompts/{id}' } },
  input: z.object({ id: refInput.describe('Id or slug') }),
  output: wholePrompt.extend({
    variables: z.array(variableRecord),
    versions: z.array(versionRecord.omit({ visibility: true })).describe('The newest 50 you can see'),
  }),
  async run(context: Needs<'items', 'baseUrl'>, input) {
    const { actor, store, baseUrl, count } = context
    const prompt = await store.items.findItem(actor, 'prompt', input.id)
    if (!prompt) throw notFound('prompt')
    count('read', prompt)
    const versions = await store.items.listVersions(actor, prompt.id, { before: null, limit: SHOWN_VERSIONS })
    return await withOwner(context, prompt, toShownPrompt(versions, toPromptWithVariables(prompt, baseUrl)))
  },
})
