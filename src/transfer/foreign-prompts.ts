import { z } from 'zod'
import { MAX_TAG, MAX_TAGS } from '../domain/items/fields.ts'
import { cutCharacters } from '../domain/text/characters.ts'
import { isVariableName, MAX_VARIABLE_NAME, parseVariables } from '../domain/variables/variables.ts'

/** `{{name}}`, with choices or a type after `:` or `|`; not `${{…}}` of GitHub, nor `={{…}}` of JSX. */
const DOUBLE_BRACES = /(?<![$=])\{\{([^{}|:\n]{1,200})(?:([|:])([^{}\n]{0,1000}))?\}\}/g
const TYPED_DEFAULT = /(?:^|:)default="([^"{}]*)"/
/** Words of templates with conditions, which stand in braces like names. */
const KEYWORDS: ReadonlySet<string> = new Set(['else', 'this'])
/** The beginnings of types of Open WebUI. */
const TYPE = /^\s*(?:text|textarea|select|number|checkbox|date|datetime-local|color|email|month|range|tel|time|url|map)\b/

/** A name as variables here are called; null when nothing of it fits. */
export function toVariableName(name: string): string | null {
  const fitting = name
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{Nd}_\-'/ ]+/gu, '_')
    .replace(/^[^\p{L}_]+/u, '')
    .trim()
  return fitting === '' ? null : [...fitting].slice(0, MAX_VARIABLE_NAME).join('').trim()
}

/** The replacements in a text, by what was there. */
export type Changes = Map<string, string>

/** Most names of one remark, and their characters. */
const MAX_NAMED = 8
const MAX_SHOWN = 60

/** The changes of a text, as a remark; none for nothing. */
export function describeChanges(changes: ReadonlyMap<string, string>): string[] {
  return describeList(
    'changed',
    [...changes].map(([before, after]) => `${cutCharacters(before, MAX_SHOWN)} to ${after}`),
  )
}

/** The blanks of a text, as a remark: whoever imports code or a template may not expect them. None for none. */
export function describeVariables(content: string): string[] {
  return describeList(
    'variables',
    parseVariables(content).variables.map(({ name }) => name),
  )
}

/** Names as a remark, the first of them in full; none for nothing. */
export function describeList(what: string, names: readonly string[]): string[] {
  const more = names.length > MAX_NAMED ? [`${names.length - MAX_NAMED} more`] : []
  return names.length === 0 ? [] : [`${what}: ${[...names.slice(0, MAX_NAMED), ...more].join(', ')}`]
}

/** Names that are left out of a file, as a remark; none for nothing. */
export function describeLeftOut(names: readonly string[]): string[] {
  return names.length > 0 ? [`left out: ${names.join(', ')}`] : []
}

/** The tags of a foreign entry that fit into a library: short ones, and not too many; and a remark on the others. */
export function cutLongTags(tags: readonly string[]): { readonly tags: string[]; readonly remarks: string[] } {
  const isFitting = (tag: string) => tag !== '' && [...tag].length <= MAX_TAG && /[\p{L}\p{N}]/u.test(tag)
  const kept = [...new Set(tags.map((tag) => tag.trim()))].filter(isFitting).slice(0, MAX_TAGS)
  const lost = tags.length - kept.length
  return { tags: kept, remarks: lost > 0 ? [`${lost} of its tags were left out`] : [] }
}

/**
 * A text with `{{name}}` as one with `${name}`. Of `{{name:one|two}}` the first choice is the default. Only what is a name here already
 * becomes one: JSON, JSX, conditions and filters in double braces stay as they are written.
 * @param changes gets what was changed
 */
export function toVariables(text: string, changes: Changes = new Map()): string {
  const isTemplate = text.includes('{{#')
  return text.replaceAll(DOUBLE_BRACES, (raw, name: string, mark: string | undefined, more: string | undefined) => {
    const variable = name.trim()
    if (!isVariableName(variable) || (isTemplate && KEYWORDS.has(variable))) return raw
    const isTyped = more !== undefined && TYPE.test(more)
    const isChoice = mark === ':' && more?.includes('|') === true
    if (more !== undefined && !isTyped && !isChoice) return raw
    const usual = isTyped ? TYPED_DEFAULT.exec(more)?.[1] : more?.split('|')[0]?.trim()
    const written = usual ? `\${${variable}:${usual}}` : `\${${variable}}`
    changes.set(raw, written)
    return written
  })
}

/** An entry of another product's file, as a row that the prompt reader knows, and what could not be taken. */
export interface ForeignEntry {
  readonly row: Readonly<Record<string, unknown>>
  readonly leftOut: readonly string[]
}

type Entry = Readonly<Record<string, unknown>>

/** Ids, times and counts, which mean nothing in another library. */
const UNMENTIONED =
  /^(?:_id|__v|id|slug|command|url|user|user_?id|user_?name|author_?name|project_?id|group_?id|production_?id|identifier|(?:created|updated|featured|deleted|published|last_?used)_?at|timestamp|\w+_?count|number_?of_?generations|version|is_active|is_featured|isFeatured|productionPrompt)$/i
/** Most names of fields in one remark. */
const MAX_NAMES = 6

const named = z.looseObject({ name: z.string().optional(), title: z.string().optional() })
const openWebui = named.extend({ command: z.string(), content: z.string() })
const message = z.looseObject({
  role: z.string().optional(),
  content: z.string().optional(),
  type: z.string().optional(),
  name: z.string().optional(),
})
const text = z.union([z.string(), z.array(message).min(1)])
const langfuse = z
  .looseObject({
    name: z.string(),
    prompt: text,
    version: z.number().optional(),
    labels: z.array(z.string()).optional(),
    tags: z.array(z.string()).nullish(),
  })
  .refine((entry) => (entry.version !== undefined || entry.labels !== undefined) && !('title' in entry) && !('act' in entry))
const version = z.looseObject({ prompt: z.string(), _id: z.unknown().optional() })
const libreChat = z
  .looseObject({
    name: z.string(),
    oneliner: z.string().nullish(),
    category: z.string().nullish(),
    productionPrompt: version.nullish(),
    productionId: z.unknown().optional(),
    prompts: z.array(version).optional(),
  })
  .refine((entry) => entry.productionPrompt || (entry.prompts?.length ?? 0) > 0)
const libreChatPreset = z.looseObject({ title: z.string(), promptPrefix: z.string().min(1) })
const person = z.looseObject({ username: z.string().nullish(), name: z.string().nullish() })
const tag = z.union([z.looseObject({ tag: z.looseObject({ name: z.string() }) }), z.looseObject({ name: z.string() })])
const promptsChat = z
  .looseObject({
    title: z.string(),
    content: z.string(),
    description: z.string().nullish(),
    type: z.string().nullish(),
    category: z.looseObject({ slug: z.string() }).nullish(),
    author: person.nullish(),
    contributors: z.array(person).nullish(),
    tags: z.array(tag).nullish(),
  })
  .refine(({ category, author, tags }) => category || author || (tags?.length ?? 0) > 0)

/**
 * The entries in a JSON document of another product, or null when it is none that is known: Open WebUI, LibreChat, Langfuse, prompts.chat.
 * Of the versions of one Langfuse prompt, the one in production counts, else the newest.
 */
export function readForeignEntries(value: unknown): readonly unknown[] | null {
  const list = z
    .union([
      z.array(z.unknown()),
      z.object({ promptGroups: z.array(z.unknown()) }).transform((object) => object.promptGroups),
      z.object({ prompts: z.array(z.unknown()), name: z.undefined().optional() }).transform((object) => object.prompts),
      z.object({ data: z.array(z.unknown()) }).transform((object) => object.data),
    ])
    .safeParse(value)
  if (!list.success) return toForeignEntry(value) ? [value] : null
  const best = new Map<string, { readonly entry: unknown; readonly rank: number }>()
  for (const entry of list.data) {
    const read = langfuse.safeParse(entry)
    if (!read.success) continue
    const rank = read.data.labels?.includes('production') ? Number.POSITIVE_INFINITY : (read.data.version ?? 0)
    const known = best.get(read.data.name)
    if (!known || rank > known.rank) best.set(read.data.name, { entry, rank })
  }
  const chosen = new Set([...best.values()].map(({ entry }) => entry))
  return best.size === 0 ? list.data : list.data.filter((entry) => chosen.has(entry) || !langfuse.safeParse(entry).success)
}

/** One entry of another product, or null when its form is not known. */
export function toForeignEntry(value: unknown): ForeignEntry | null {
  return readLibreChat(value) ?? readPreset(value) ?? readOpenWebui(value) ?? readLangfuse(value) ?? readPromptsChat(value)
}

function readOpenWebui(value: unknown): ForeignEntry | null {
  const read = openWebui.safeParse(value)
  if (!read.success) return null
  const { title, name, command, content, ...rest } = read.data
  const row = { title: title || name || command.replace(/^\//, ''), tags: textsOf(rest['tags']) }
  return toEntry(row, rest, ['tags'], [], [], content)
}

function readLibreChat(value: unknown): ForeignEntry | null {
  const read = libreChat.safeParse(value)
  if (!read.success) return null
  const { name, oneliner, category, productionPrompt, productionId, prompts = [], ...rest } = read.data
  const used = productionPrompt ?? prompts.find((one) => one._id !== undefined && one._id === productionId) ?? prompts.at(-1)
  const others = prompts.length > 1 ? ['its other versions'] : []
  const row = { title: name, description: oneliner || null, category: category || null }
  return toEntry(row, rest, [], others, [], used?.prompt ?? '')
}

function readPreset(value: unknown): ForeignEntry | null {
  const read = libreChatPreset.safeParse(value)
  if (!read.success) return null
  const { title, promptPrefix, ...rest } = read.data
  return toEntry({ title }, rest, ['presetId', 'conversationId', 'order', 'defaultPreset'], [], [], promptPrefix)
}

function readLangfuse(value: unknown): ForeignEntry | null {
  const read = langfuse.safeParse(value)
  if (!read.success) return null
  const { name, prompt, tags, labels: _labels, version: _version, type: _type, ...rest } = read.data
  const isChat = typeof prompt !== 'string' && prompt.length > 1
  const remarks = isChat ? ['its messages became one text'] : []
  return toEntry({ title: name, tags: tags ?? [] }, rest, ['resolutionGraph'], [], remarks, joinMessages(prompt))
}

/** Messages as one text, each below its role; a single one as it is. */
function joinMessages(prompt: z.infer<typeof text>): string {
  if (typeof prompt === 'string') return prompt
  const textOf = (one: z.infer<typeof message>) => one.content ?? (one.type === 'placeholder' && one.name ? `{{${one.name}}}` : '')
  const [first] = prompt
  if (first && prompt.length === 1) return textOf(first)
  return prompt.map((one) => `## ${one.role ?? one.type ?? 'message'}\n\n${textOf(one)}`).join('\n\n')
}

function readPromptsChat(value: unknown): ForeignEntry | null {
  const read = promptsChat.safeParse(value)
  if (!read.success) return null
  const { title, content, description, type, category, author, contributors, tags, ...rest } = read.data
  const nameOf = (one: z.infer<typeof person> | null | undefined) => one?.username || one?.name || ''
  return toEntry(
    {
      title,
      content,
      description: description ?? null,
      type,
      category: category?.slug ?? null,
      author: nameOf(author),
      contributors: (contributors ?? []).map(nameOf).filter((name) => name !== ''),
      tags: (tags ?? []).map((one) =>
        'tag' in one && typeof one.tag === 'object' ? z.looseObject({ name: z.string() }).parse(one.tag).name : String(one['name']),
      ),
    },
    rest,
    ['requiresMediaUpload', 'requiredMediaType', 'voted', 'hasVoted'],
  )
}

function textsOf(value: unknown): string[] {
  return z.array(z.string()).catch([]).parse(value)
}

/** The visibility that an entry states. A public one states nothing: it gets what the import gives to all. */
function toReach({ visibility, isPrivate, isUnlisted, heldAt, heldFrom }: Entry): Entry {
  const isNot = (value: unknown) => value === null || value === undefined || value === '' || /^(?:false|no|0)$/i.test(String(value).trim())
  const stated = typeof visibility === 'string' && /^public$/i.test(visibility.trim()) ? undefined : visibility
  if (!isNot(isPrivate)) return { isPrivate, heldAt }
  return { visibility: stated || (isNot(isUnlisted) && isNot(heldAt) ? undefined : 'unlisted'), heldAt, heldFrom }
}

/** The names of fields that hold something, and are not of the kind that means nothing here. */
export function findLeftOut(fields: Entry): string[] {
  const isEmpty = (value: unknown) =>
    value === null ||
    value === undefined ||
    value === '' ||
    value === false ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  return Object.keys(fields).filter((name) => !isEmpty(fields[name]) && !UNMENTIONED.test(name))
}

/** Names of fields as a remark lists them. */
export function listNames(names: readonly string[]): string[] {
  const shown = names.slice(0, MAX_NAMES).map((name) => name.slice(0, 40).toWellFormed())
  return [...shown, ...(names.length > MAX_NAMES ? [`${names.length - MAX_NAMES} more fields`] : [])]
}

/**
 * @param given fields that were not taken; who may see the entry is taken here
 * @param unmentioned of them, those that nobody misses
 * @param template its text, with `{{name}}` for blanks
 */
function toEntry(
  row: Entry,
  given: Entry,
  unmentioned: readonly string[],
  others: readonly string[] = [],
  remarks: readonly string[] = [],
  template?: string,
): ForeignEntry {
  const changes: Changes = new Map()
  const content = template === undefined ? {} : { content: toVariables(template, changes) }
  const { visibility, isPrivate, isUnlisted, heldAt, heldFrom, ...rest } = given
  const cut = cutLongTags(textsOf(row['tags']))
  const leftOut = [...others, ...listNames(findLeftOut(rest).filter((name) => !unmentioned.includes(name)))]
  return {
    row: { ...row, ...content, ...toReach({ visibility, isPrivate, isUnlisted, heldAt, heldFrom }), tags: cut.tags },
    leftOut: [...describeLeftOut(leftOut), ...cut.remarks, ...remarks, ...describeChanges(changes)],
  }
}
