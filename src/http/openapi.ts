import type { z } from 'zod'
import { embedConfig, embedExample, isMcpField, listEmbedCategories } from '../domain/embed/config.ts'
import { ERROR_CODES } from '../errors.ts'
import type { Operation } from '../operations/core/define-operation.ts'
import { toJsonSchema } from '../operations/core/describe-inputs.ts'
import { HTTP_STATUS } from './answers.ts'

type Json = z.core.JSONSchema.BaseSchema

/** A route that is no operation. */
interface Route {
  readonly name: string
  readonly title: string
  /** Besides those in the path. */
  readonly parameters?: readonly Record<string, unknown>[]
  readonly content: Record<string, unknown>
  /** Whether it answers a file, of private items to their keys. */
  readonly isFile?: true
  /** Statuses besides those of the errors, with descriptions. */
  readonly refusals?: Readonly<Record<number, string>>
}

const file = (name: string, title: string, content: Route['content'] = { 'text/plain': {}, 'application/octet-stream': {} }): Route => ({
  name,
  title,
  content,
  isFile: true,
})
const FILE_ROUTES: Readonly<Record<string, Route>> = {
  '/api/prompts/{id}/raw': file('get_prompt_text', "A prompt's text"),
  '/api/skills/{skillId}/files/{filename}': file('download_skill_file', "A skill's file, byte for byte"),
  '/api/prompts/{id}/prompt.md': file('download_prompt_file', 'A prompt as a .prompt.md file with its metadata as frontmatter'),
  '/api/prompts/{id}/prompt.yml': file('download_prompt_yml', 'A prompt as a .prompt.yml file of GitHub Models'),
  '/api/prompts/{id}/prompt.prompt': file('download_dotprompt', 'A prompt as a .prompt file of dotprompt'),
  '/api/prompts/{id}/prompt.prompty': file('download_prompty', 'A prompt as a .prompty file'),
  '/api/prompts/{id}/promptfooconfig.yaml': file(
    'download_promptfoo',
    'A prompt as a promptfooconfig.yaml, with its variables as a test to fill in',
  ),
  '/api/skills/{skillId}/zip': file('download_skill', 'A skill as a zip', { 'application/zip': {} }),
}

function toSchema(schema: z.ZodObject, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = toJsonSchema(schema, io)
  return rest
}

/** The contents of a stream of an operation's text. */
const EVENTS: Json = {
  type: 'string',
  description:
    'Server-sent events: `delta` {"text"} to append; `restart` {} to discard the text so far; finally `result` with the complete answer, or `error`.',
}

/** Routes of embeds: the parameters are the fields of a configuration, or what is named. */
function embedRoutes(hasMcp: boolean): Record<string, Route> {
  const fields = Object.entries(toSchema(embedConfig, 'input').properties ?? {}).filter(([name]) => hasMcp || !isMcpField(name))
  const shape = toSchema(embedExample, 'output')
  const example = {
    ...shape,
    properties: {
      ...shape.properties,
      category: { enum: listEmbedCategories(hasMcp) },
      config: { type: 'object', properties: Object.fromEntries(fields), additionalProperties: false },
    },
  }
  const inQuery = (name: string, schema: unknown, required = false) => ({ name, in: 'query', required, schema })
  return {
    '/api/embed/examples': {
      name: 'list_embed_examples',
      title: 'Example embed configurations',
      parameters: [inQuery('category', { type: 'string' })],
      content: { 'application/json': { schema: { type: 'array', items: example } } },
    },
    '/api/embed/image': {
      name: 'draw_embed',
      title: 'A picture of an embed, from its configuration fields',
      parameters: fields.map(([name, schema]) => inQuery(name, schema)),
      content: { 'image/svg+xml': {} },
    },
    '/api/embed/image/{file}': {
      name: 'draw_embed_of',
      title: 'A picture of a prompt or skill (id or slug, and .svg or .png) or of a saved embed (id and .svg)',
      content: { 'image/svg+xml': {}, 'image/png': {} },
    },
    '/api/oembed': {
      name: 'describe_link',
      title: 'oEmbed 1.0 data for an address of this service',
      parameters: [
        inQuery('url', { type: 'string', format: 'uri' }, true),
        inQuery('format', { type: 'string', enum: ['json'] }),
        inQuery('maxwidth', { type: 'integer', minimum: 1 }),
        inQuery('maxheight', { type: 'integer', minimum: 1 }),
      ],
      content: { 'application/json': { schema: { type: 'object' } } },
      // oEmbed 1.0, section 2.3.3
      refusals: { 501: 'Only JSON is supported; the body has the code invalid_input' },
    },
  }
}

/** The body of every refusal. */
const ERROR = {
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['error', 'message', 'requestId'],
        properties: {
          error: { type: 'string', enum: Object.keys(ERROR_CODES) },
          message: { type: 'string' },
          details: {
            type: 'array',
            items: {
              type: 'object',
              properties: { path: { type: 'string' }, message: { type: 'string' } },
              required: ['path', 'message'],
            },
          },
          requestId: { type: 'string' },
        },
      },
    },
  },
}

/** Names of the parameters in a path. */
const namesIn = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

type Paths = Record<string, Record<string, unknown>>

/** The entry of a path, made when it is the first there. */
function itemAt(paths: Paths, path: string): Record<string, unknown> {
  const item = paths[path] ?? {}
  paths[path] = item
  return item
}

/** The OpenAPI 3.1 document of the REST interface, made from the operations. */
export function createOpenApi(
  operations: readonly Operation[],
  about: { version: string; baseUrl: string; hasMcp: boolean },
): Record<string, unknown> {
  const paths: Paths = {}
  for (const operation of operations) {
    const rest = operation.surfaces.rest
    if (!rest) continue
    const input = toSchema(operation.input, 'input')
    const properties = Object.entries(input.properties ?? {})
    const inPath = new Set(namesIn(rest.path))
    const isQuery = rest.method === 'GET' || rest.method === 'DELETE'
    const required = new Set(input.required ?? [])
    const inBody = properties.filter(([name]) => !inPath.has(name))
    const parameters = properties.flatMap(([name, schema]) => {
      if (inPath.has(name)) return [{ name, in: 'path', required: true, schema }]
      if (!isQuery) return []
      const isList = typeof schema === 'object' && schema.type === 'array'
      return [{ name, in: 'query', required: required.has(name), schema, ...(isList ? { style: 'form', explode: false } : {}) }]
    })
    itemAt(paths, rest.path)[rest.method.toLowerCase()] = {
      operationId: operation.name,
      summary: operation.title,
      description: operation.summary,
      ...(parameters.length > 0 ? { parameters } : {}),
      ...(isQuery || inBody.length === 0
        ? {}
        : {
            requestBody: {
              required: inBody.some(([name]) => required.has(name)),
              content: {
                'application/json': {
                  schema: {
                    type: 'object',
                    properties: Object.fromEntries(inBody),
                    required: inBody.map(([name]) => name).filter((name) => required.has(name)),
                  },
                },
              },
            },
          }),
      responses: {
        [rest.status ?? 200]: {
          description: 'Done',
          content: {
            'application/json': { schema: toSchema(operation.output, 'output') },
            ...(operation.isStreamed ? { 'text/event-stream': { schema: EVENTS } } : {}),
          },
        },
        default: { $ref: '#/components/responses/Error' },
      },
      security: operation.scope === null ? [{}, { apiKey: [] }] : [{ apiKey: [] }],
    }
  }
  for (const [path, route] of Object.entries({ ...FILE_ROUTES, ...embedRoutes(about.hasMcp) })) {
    const { name, title, parameters = [], content, isFile, refusals = {} } = route
    const inPath = namesIn(path).map((one) => ({ name: one, in: 'path', required: true, schema: { type: 'string' } }))
    itemAt(paths, path)['get'] = {
      operationId: name,
      summary: title,
      parameters: [...inPath, ...parameters],
      responses: {
        200: { description: isFile ? 'The file' : 'Done', content },
        ...Object.fromEntries(Object.entries(refusals).map(([status, description]) => [status, { ...ERROR, description }])),
        default: { $ref: '#/components/responses/Error' },
      },
      security: isFile ? [{}, { apiKey: [] }] : [{}],
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Commonplace',
      version: about.version,
      description: 'Prompts and Agent Skills: search, read, fill in, save.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: about.baseUrl }],
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
      responses: {
        Error: {
          description: Object.entries(HTTP_STATUS)
            .map(([code, status]) => `${status} ${code}`)
            .join(', '),
          ...ERROR,
        },
      },
    },
  }
}
