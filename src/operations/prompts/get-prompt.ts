import { z } from 'zod'
import type { Sealer } from '../../auth/sealer.ts'
import { extendRecord, jsonLength, shareOnce } from '../../cache/answer-cache.ts'
import type { WalkPage, WalkPosition } from '../../domain/items/item-access.ts'
import type { PromptEntry, Version } from '../../domain/items/items.ts'
import { labelRef } from '../../domain/items/labels.ts'
import { fillBody, toMcpMessages } from '../../domain/prompts/body.ts'
import { cutCharacters, showControls } from '../../domain/text/characters.ts'
import { deriveDescription } from '../../domain/text/excerpts.ts'
import { isObject } from '../../domain/text/json.ts'
import { labelVariable } from '../../domain/variables/variables.ts'
import type { FilePrompt } from '../../transfer/formats/file-prompt.ts'
import { FORMATS, type FormatName } from '../../transfer/formats/formats.ts'
import { defineOperation } from '../core/define-operation.ts'
import { narrowing, notFound, openCursor, refInput, requireOfKind, toNarrowing } from '../core/inputs.ts'
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
  return isObject(value) && Object.values(value).every((text) => typeof text === 'string')
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

/** The purpose of sealed cursors. */
const CURSOR = 'list_exposed_prompts'
/** Popular clients give up after 50 pages: the whole walk takes at most this many, up to 40,000 prompts. */
const MAX_PAGES = 40
const MIN_PAGE_SIZE = 100
const MAX_PAGE_SIZE = 1000
/** A page ends before it passes this many bytes of JSON. */
const MAX_PAGE_BYTES = 2 * 1024 * 1024
const MAX_ARGUMENT_DESCRIPTION = 200
/** Room for the frame around the entries of a page. */
const FRAME_BYTES = 4096

const entryRecord = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string().optional(),
  arguments: z.array(z.object({ name: z.string(), description: z.string(), required: z.boolean() })),
})

const positionJson = z.object({ c: z.string(), o: z.number().int(), n: z.number().int().min(MIN_PAGE_SIZE).max(MAX_PAGE_SIZE) })

/** A prompt as an entry of prompts/list: its arguments are its variables. Control characters in what is shown to people and models are marked. */
function toEntry(prompt: PromptEntry): z.infer<typeof entryRecord> {
  return {
    name: prompt.slug,
    title: showControls(prompt.title),
    ...describe(prompt.description ?? deriveDescription(prompt.start, prompt.title)),
    arguments: prompt.variables.map((variable) => ({
      name: variable.name,
      description: cutCharacters(
        showControls(variable.default === undefined ? `${labelVariable(variable.name)}. Required.` : `Default: ${variable.default}`),
        MAX_ARGUMENT_DESCRIPTION,
      ),
      required: variable.required,
    })),
  }
}

function describe(description: string | null): { description?: string } {
  return description === null ? {} : { description: showControls(description) }
}

export const listExposedPrompts = defineOperation({
  name: 'list_exposed_prompts',
  title: 'List all prompts with a cursor',
  summary: 'Every prompt you can see, newest first, with its arguments but no text, by cursor. Stable while prompts are added.',
  scope: null,
  cost: 3,
  surfaces: { rest: 'GET /api/exposed-prompts' },
  input: z.object({ cursor: z.string().optional().describe('nextCursor of the previous page'), ...narrowing }),
  output: z.object({ prompts: z.array(entryRecord), nextCursor: z.string().optional() }),
  async run({ actor, store, sealer }: Needs<'items', 'sealer'>, input) {
    const filter = toNarrowing(input) ?? {}
    const start = input.cursor === undefined ? null : openCursor(sealer, CURSOR, input.cursor, positionJson)
    const count = start ? null : await store.items.countPrompts(actor, filter)
    if (count === 0) return { prompts: [] }
    const size = start?.n ?? Math.min(MAX_PAGE_SIZE, Math.max(MIN_PAGE_SIZE, Math.ceil((count ?? 0) / MAX_PAGES)))
    return toListing(await store.items.walkPrompts(actor, filter, start && { createdAt: start.c, order: start.o }, size + 1), sealer)
  },
})

/** A page of entries: as many as were asked for less one, which only tells that there are more, and as fit. */
const toListing = shareOnce(
  ({ entries, limit }: WalkPage, sealer: Sealer): { prompts: z.infer<typeof entryRecord>[]; nextCursor?: string } => {
    const size = limit - 1
    const prompts: z.infer<typeof entryRecord>[] = []
    let last: WalkPosition | undefined
    let bytes = FRAME_BYTES
    for (const entry of entries.slice(0, size)) {
      const shown = toEntry(entry)
      bytes += jsonLength(shown) + 1
      if (bytes > MAX_PAGE_BYTES && prompts.length > 0) break
      prompts.push(shown)
      last = entry.position
    }
    if (!last || prompts.length === entries.length) return { prompts }
    return { prompts, nextCursor: sealer.seal(CURSOR, JSON.stringify({ c: last.createdAt, o: last.order, n: size })) }
  },
)

/** A name with a label or the number of a version behind it, such as `greeting@production` or `greeting@2`. */
export function readName(name: string): { ref: string; label?: string; version?: number } {
  const at = name.lastIndexOf('@')
  if (at <= 0) return { ref: name }
  const [ref, suffix] = [name.slice(0, at), name.slice(at + 1)]
  if (/^[1-9]\d{0,8}$/.test(suffix)) return { ref, version: Number(suffix) }
  // Nothing has a name with such a suffix.
  return labelRef.safeParse(suffix).success ? { ref, label: suffix } : { ref: name }
}

export const renderExposedPrompt = defineOperation({
  name: 'render_exposed_prompt',
  title: 'Render a prompt',
  summary:
    "A prompt's text with values and defaults filled in, by name, name@label or name@version. Missing required arguments are listed in unfilled and stay in the text.",
  scope: null,
  surfaces: { rest: 'POST /api/exposed-prompts/{name}' },
  input: z.object({ name: refInput.describe('Slug or id'), arguments: valuesInput.optional(), ...narrowing }),
  output: z.object({
    name: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    text: z.string(),
    unfilled: z.array(z.string()),
    messages: z
      .array(z.object({ role: z.enum(['user', 'assistant']), text: z.string() }))
      .optional()
      .describe('Of a chat prompt; system messages are in the first of the user'),
  }),
  async run(context: Needs<'items', 'sealer'>, input) {
    const { actor, store, count } = context
    const { ref, ...asked } = readName(input.name)
    const newest = await store.items.findItem(actor, 'prompt', ref)
    const filter = toNarrowing(input)
    if (!newest || (filter && (await store.items.countPrompts(actor, { ...filter, ids: [newest.id] })) === 0)) throw notFound('prompt')
    const { item, at } = await readAt(context, newest, asked)
    const prompt = await composePrompt(context, item)
    count('read', { ...prompt, version: at.version ?? prompt.version })
    const { text, unfilled, messages } = fillBody(prompt, toValues(input.arguments ?? {}))
    const { description = null } = describe(prompt.description ?? deriveDescription(prompt.content, prompt.title))
    return {
      name: prompt.slug,
      title: showControls(prompt.title),
      description,
      text,
      unfilled: [...unfilled],
      ...(messages && { messages: toMcpMessages(messages) }),
    }
  },
})

/** Names of the formats of other tools, as addresses of files end with them. */
export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[]

/** The name of a format for users. */
export const titleOfFormat = (format: FormatName): string => FORMATS[format].title

/** A prompt as surfaces show it. */
type ShownPrompt = Omit<FilePrompt, 'messages' | 'config' | 'syntax'> & {
  readonly [Name in 'messages' | 'config' | 'syntax']?: FilePrompt[Name] | undefined
}

/** A prompt as the file of another tool, and the name of the file. A comment at its head says what it does not carry. */
export function writePromptFile(format: FormatName, prompt: ShownPrompt): { readonly text: string; readonly filename: string } {
  const { messages = null, config = null, syntax = 2 } = prompt
  const { write, nameFile } = FORMATS[format]
  return { text: write({ ...prompt, messages, config, syntax }).text, filename: nameFile(prompt.slug) }
}
