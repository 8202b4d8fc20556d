import { z } from 'zod'
import { describeBounds, jsonSchema, type Schema } from '../operations/core/describe-inputs.ts'
import { toAnchor } from './documents.ts'
import type { Words } from './site.ts'

type ApiWords = Words['api']

/** One field of a JSON Schema, as the API reference shows it. */
export type SchemaField = ReturnType<typeof describeField>

/** The fields of an object, each followed by those in it. A list of objects counts as its objects. */
export function listFields(schema: Schema, words: ApiWords, prefix = ''): SchemaField[] {
  const { items, properties = {}, required = [] } = schema
  if (items) return listFields(items, words, `${prefix}[]`)
  const inside = prefix === '' ? '' : `${prefix}.`
  return [
    ...Object.entries(properties).flatMap(([name, property]) => [
      describeField(inside + name, property, required.includes(name), words),
      ...listFields(property, words, inside + name),
    ]),
    ...(schema.anyOf ?? []).flatMap((choice) => listFields(choice, words, prefix)),
  ]
}

/** One field, without those in it. */
export function describeField(name: string, schema: Schema, isRequired: boolean, words: ApiWords) {
  const choices = listChoices(schema)
  return {
    /** With the fields it stands in, such as `prompts[].id`. */
    name,
    /** Such as "integer" or "list of string"; empty where choices say it. */
    kind: choices.length > 0 ? '' : nameKind(schema, words),
    choices,
    isRequired,
    description: schema.description ?? '',
    /** Its limits and default in words, such as "1 to 50, default 10"; empty when it has none. */
    bounds: describeBounds(schema, words),
  }
}

function listChoices({ enum: choices, const: only, anyOf = [] }: Schema): string[] {
  const own = [...(choices ?? []), ...(only === undefined ? [] : [only])].map(String)
  if (own.length > 0) return own
  const isClosed = anyOf.length > 0 && anyOf.every((choice) => choice.type === 'null' || listChoices(choice).length > 0)
  return isClosed ? anyOf.flatMap((choice) => (choice.type === 'null' ? ['null'] : listChoices(choice))) : []
}

function nameKind({ type, format, items, anyOf = [] }: Schema, words: ApiWords): string {
  if (items) return words.listOf(nameKind(items, words))
  if (type === undefined) return [...new Set(anyOf.map((choice) => nameKind(choice, words)))].join(` ${words.or} `)
  return [type].flat().join(` ${words.or} `) + (format === undefined ? '' : ` (${format})`)
}

/** The input of a route. */
export interface RouteInput {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly schema: Schema
}

/** A request that shows how a route is used. */
export interface ExampleRequest {
  /** With its query, below the address of the service. */
  readonly path: string
  /** As JSON; null where the route takes no body. */
  readonly body: unknown
}

const SKILL_FILES = [
  { filename: 'SKILL.md', content: '---\nname: tidy\ndescription: Tidy up a folder.\n---\nMove what is old into archive/.\n' },
]

/** Values that say more than their kind does. In capitals: what a reader puts in. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  q: 'code review',
  query: 'code review',
  id: 'ID_OR_SLUG',
  label: 'production',
  item: 'ID_OR_SLUG',
  items: ['ID_OR_SLUG'],
  team: 'TEAM',
  username: 'USERNAME',
  skillId: 'SKILL_ID',
  name: 'SLUG',
  owner: 'USERNAME',
  path: 'SKILL_NAME',
  file: 'ID_OR_SLUG.svg',
  filename: 'references/tone.md',
  title: 'Daily summary',
  content: 'Summarise ${text} in three sentences.',
  prompt: 'Write a haiku about ${topic}.',
  variables: { text: 'the minutes of today' },
  arguments: { text: 'the minutes of today' },
  files: SKILL_FILES,
  prompts: [{ title: 'Daily summary', content: 'Summarise ${text} in three sentences.' }],
  skills: [{ title: 'Tidy up', files: SKILL_FILES }],
}
/** Optional inputs that make the examples useful. */
const TELLING = new Set(['q', 'id', 'title', 'prompt', 'variables', 'arguments', 'to'])

/** An example of a route: what it needs, and what shows best what it does. @param body the schema of its JSON body */
export function makeExample(path: string, inputs: readonly RouteInput[], body: Schema | null, baseUrl: string): ExampleRequest {
  const query = new URLSearchParams()
  let filled = path
  for (const { name, in: place, required, schema } of inputs) {
    const value = String(name === 'url' ? `${baseUrl}/prompts/SLUG` : sampleOf(name, schema))
    if (place === 'path') filled = filled.replace(`{${name}}`, value)
    else if (required || TELLING.has(name)) query.set(name, value)
  }
  const shown = Object.entries(body?.properties ?? {}).filter(([name]) => body?.required?.includes(name) || TELLING.has(name))
  return {
    path: filled + (query.size > 0 ? `?${query}` : ''),
    body: body === null ? null : Object.fromEntries(shown.map(([name, schema]) => [name, sampleOf(name, schema)])),
  }
}

function sampleOf(name: string, schema: Schema): unknown {
  const { enum: choices, const: only, minimum = 1, type, items } = schema
  if (Object.hasOwn(SAMPLES, name)) return SAMPLES[name]
  if (choices) return choices[0]
  if (only !== undefined) return only
  if (schema.default !== undefined) return schema.default
  if (type === 'integer' || type === 'number') return minimum
  if (type === 'boolean') return true
  return items ? [sampleOf('', items)] : name.toUpperCase()
}

/** The example as a command for a shell. @param hasKey the route takes nothing without a key @param isFile its answer is for saving */
export function writeCurl(
  method: string,
  { path, body }: ExampleRequest,
  { baseUrl, hasKey, isFile }: { readonly baseUrl: string; readonly hasKey: boolean; readonly isFile: boolean },
): string {
  const url = `${baseUrl}${path}`
  const isPlain = /^[\w:/.-]+$/.test(url)
  // curl chooses GET without a body, and POST with one.
  const isImplied = method === (body === null ? 'GET' : 'POST')
  const parts = [
    `curl ${isImplied ? '' : `-X ${method} `}${isPlain ? url : `'${url}'`}${hasKey ? ' -H "X-API-Key: $KEY"' : ''}${isFile ? ' -OJ' : ''}`,
    ...(body === null ? [] : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`]),
  ]
  return parts.join(' \\\n  ')
}

/** The groups of the reference, in its order, and which paths belong to each: the first that fits. */
const GROUPS = [
  ['prompts', /^\/api\/(?:search\/)?prompts\b|^\/api\/improve-prompt$/],
  ['skills', /^\/api\/(?:search\/)?skills\b/],
  ['collections', /^\/api\/collections\b/],
  ['items', /^\/api\/(?:\{collection\}|trash|favourites|label-gates)/],
  ['names', /^\/api\/(?:categories|tags)$/],
  ['listings', /^\/api\/(?:exposed-prompts|skill-manifests)/],
  ['checks', /^\/api\/check\b/],
  ['teams', /^\/api\/teams\b/],
  ['account', /^\/api\/me$/],
  ['channels', /^\/api\/(?:install-links|search$)/],
  ['embeds', /embed/],
  ['other', /^/],
] as const

/** Within a path, as people think of them. */
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

const media = z.record(z.string(), z.object({ schema: jsonSchema.optional() }))
const answer = z.object({ description: z.string(), content: media })
const json = z.object({ content: z.object({ 'application/json': z.object({ schema: jsonSchema }) }) })
const route = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string().default(''),
  parameters: z.array(z.object({ name: z.string(), in: z.enum(['path', 'query']), required: z.boolean(), schema: jsonSchema })).default([]),
  requestBody: json.optional(),
  responses: z.record(z.string(), z.union([answer, z.object({ $ref: z.string() })])),
  security: z.array(z.record(z.string(), z.array(z.string()))),
})
const openApi = z.object({
  paths: z.record(z.string(), z.partialRecord(z.enum(METHODS), route)),
  components: z.object({ responses: z.object({ Error: json }) }),
})

/** One answer of a route. */
export type RouteAnswer = ReturnType<typeof toAnswer>
/** A method and a path, as the reference shows them. */
export type ApiRoute = ReturnType<typeof toRoute>

/** Routes that stand together. */
export interface ApiGroup {
  readonly name: (typeof GROUPS)[number][0]
  readonly routes: readonly ApiRoute[]
}

/**
 * The part of an OpenAPI document that the reference shows. `error` is the schema of every refusal.
 * @param baseUrl of the service, for examples that name an address
 */
export function readApi(document: unknown, baseUrl: string): { readonly groups: readonly ApiGroup[]; readonly error: Schema } {
  const { paths, components } = openApi.parse(document)
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => {
      const found = methods[method]
      return found ? [toRoute(method.toUpperCase(), path, found, baseUrl)] : []
    }),
  )
  const nameOf = (path: string) => GROUPS.find(([, pattern]) => pattern.test(path))?.[0]
  return {
    groups: GROUPS.map(([name]) => ({ name, routes: routes.filter(({ path }) => nameOf(path) === name) })).filter(
      (group) => group.routes.length > 0,
    ),
    error: components.responses.Error.content['application/json'].schema,
  }
}

function toRoute(method: string, path: string, found: z.infer<typeof route>, baseUrl: string) {
  const body = found.requestBody?.content['application/json'].schema ?? null
  const access = (): 'none' | 'optional' | 'required' => {
    const schemes = found.security.map((scheme) => Object.keys(scheme).length > 0)
    return schemes.every((isKey) => isKey) ? 'required' : schemes.some((isKey) => isKey) ? 'optional' : 'none'
  }
  return {
    name: found.operationId,
    /** As of its heading in docs/reference/routes.md, so that a link to either leads to the same route. */
    anchor: toAnchor(`${method} ${path}`, new Map()),
    method,
    path,
    title: found.summary,
    description: found.description,
    /** Whether a key changes what it answers. */
    access: access(),
    inputs: found.parameters,
    /** The schema of its JSON body; null where it takes none. */
    body,
    answers: Object.entries(found.responses).flatMap(([status, one]) => ('$ref' in one ? [] : [toAnswer(status, one)])),
    example: makeExample(path, found.parameters, body, baseUrl),
  }
}

function toAnswer(status: string, { description, content }: z.infer<typeof answer>) {
  return {
    status,
    description,
    types: Object.keys(content),
    /** The schema of its JSON; null where there is none. */
    schema: content['application/json']?.schema ?? null,
    /** The contents of its stream; null where it does not come as one. */
    stream: content['text/event-stream']?.schema?.description ?? null,
  }
}
