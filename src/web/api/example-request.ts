import type { Schema } from './schema-fields.ts'

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
