import { z } from 'zod'
import { extendRecord, shareOnce } from '../../cache/shared-records.ts'
import type { Version } from '../../domain/items/items.ts'
import { fillBody } from '../../domain/prompts/body.ts'
import { defineOperation } from '../core/define-operation.ts'
import { refInput, requireOfKind } from '../core/inputs.ts'
import type { Needs } from '../core/procedure.ts'
import { toPromptWithVariables, variableRecord, versionRecord, wholePrompt, withOwner } from '../core/records.ts'
import { type AskedVersion, atInputs, atOutputs, bucketInput, readAt } from '../items/read-at.ts'
import { composePrompt } from './compose.ts'

/**
 * Values for variables by name. Any name is a plain key here, `__proto__` too, which zod's own record would drop;
 * hence a schema that checks the object and hands it on as it is, for {@link toValues} to read.
 */
export const valuesInput = z
  .unknown()
  .superRefine((value, issues) => {
    if (!isTexts(value)) issues.addIssue({ code: 'custom', message: 'must be an object of strings by variable name' })
  })
  .meta({ type: 'object', additionalProperties: { type: 'string' } })

function isTexts(value: unknown): value is Record<string, string> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every((text) => typeof text === 'string')
  )
}

/** The values as a map, own keys alone. */
export function toValues(values: unknown): Map<string, string> {
  return new Map(isTexts(values) ? Object.entries(values) : [])
}

/** A record that says which version it is, made once for each that caches keep. */
const toRecordAt = shareOnce((record: ReturnType<typeof toPromptWithVariables> & { owner?: string }, at: string) => ({
  ...record,
  ...z.object(atOutputs).parse(JSON.parse(at)),
}))

/** A prompt as it is asked for, and what is answered of it. */
async function readPrompt(
  context: Needs<'items', 'baseUrl' | 'sealer'>,
  { id, ...asked }: { readonly id: string } & AskedVersion,
  { isComposed = false } = {},
) {
  const newest = await requireOfKind(context, 'prompt', id)
  const { item: written, at } = await readAt(context, newest, asked)
  const prompt = isComposed ? await composePrompt(context, written) : written
  context.count('read', { ...prompt, version: at.version ?? prompt.version })
  const record = await withOwner(context, prompt, toPromptWithVariables(prompt, context.baseUrl))
  if (at.version === undefined) return { written, prompt, record }
  return { written, prompt, record: at.bucket === undefined ? toRecordAt(record, JSON.stringify(at)) : extendRecord(record, at) }
}

export const getPrompt = defineOperation({
  name: 'get_prompt',
  title: 'Get a prompt',
  summary:
    'Read one prompt by id or slug, with its variables (${name} is required, ${name:default} optional). Pass variables to fill in the content; without them you get the raw text and the list of variables.',
  scope: null,
  surfaces: {
    mcp: { readOnly: true, note: 'Without variables, clients that support it ask their user for them first.' },
    rest: 'POST /api/prompts/{id}/fill',
    cli: 'get-prompt id',
  },
  input: z.object({
    id: refInput.describe('Id or slug of the prompt'),
    ...atInputs,
    bucket: bucketInput,
    variables: valuesInput
      .optional()
      .describe('Values by variable name. {} fills in only the defaults; required variables without a value stay in the text'),
  }),
  output: wholePrompt.extend({
    variables: z.array(variableRecord),
    originalContent: z
      .string()
      .optional()
      .describe('The content as it is written, before parts were put in and variables filled; only where it differs'),
    ...atOutputs,
  }),
  async run(context: Needs<'items', 'baseUrl' | 'sealer'>, input) {
    const { written, prompt, record } = await readPrompt(context, input, { isComposed: true })
    const { text, messages } =
      input.variables === undefined ? { text: prompt.content, messages: null } : fillBody(prompt, toValues(input.variables))
    if (text === written.content) return record
    return { ...record, content: text, originalContent: written.content, ...(messages && { messages: [...messages] }) }
  },
})

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
  surfaces: { rest: 'GET /api/prompts/{id}' },
  input: z.object({ id: refInput.describe('Id or slug'), ...atInputs, bucket: bucketInput }),
  output: wholePrompt.extend({
    ...atOutputs,
    variables: z.array(variableRecord),
    versions: z.array(versionRecord.omit({ visibility: true })).describe('The newest 50 you can see'),
  }),
  async run(context: Needs<'items', 'baseUrl' | 'sealer'>, input) {
    const { actor, store } = context
    const { prompt, record } = await readPrompt(context, input)
    const versions = await store.items.listVersions(actor, prompt.id, { before: null, limit: SHOWN_VERSIONS })
    return toShownPrompt(versions, record)
  },
})
