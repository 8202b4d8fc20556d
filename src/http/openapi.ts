import { z } from 'zod'
import { ERROR_CODES } from '../errors.ts'
import type { Operation } from '../operations/define-operation.ts'
import { HTTP_STATUS } from './errors.ts'

type Json = z.core.JSONSchema.BaseSchema

/** Routes that are no operation, for the document. */
const RAW_ROUTES = {
  '/api/prompts/{id}/raw': { name: 'get_prompt_text', title: "A prompt's text", parameters: ['id'] },
  '/api/skills/{skillId}/files/{filename}': {
    name: 'download_skill_file',
    title: "A skill's file, byte for byte",
    parameters: ['skillId', 'filename'],
  },
} as const

function toSchema(schema: z.ZodObject, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io })
  return rest
}

/** What a stream of an operation's text holds. */
const EVENTS: Json = {
  type: 'string',
  description:
    'Server-sent events: `delta` {"text"} to append; `restart` {} when what came so far is void; last `result` with the whole answer, or `error` with the error.',
}

type Paths = Record<string, Record<string, unknown>>

/** The entry of a path, made when it is the first there. */
function itemAt(paths: Paths, path: string): Record<string, unknown> {
  const item = paths[path] ?? {}
  paths[path] = item
  return item
}

/** The OpenAPI 3.1 document of the REST interface, made from the operations. */
export function createOpenApi(operations: readonly Operation[], about: { version: string; baseUrl: string }): Record<string, unknown> {
  const paths: Paths = {}
  for (const operation of operations) {
    const rest = operation.surfaces.rest
    if (!rest) continue
    const input = toSchema(operation.input, 'input')
    const properties = Object.entries(input.properties ?? {})
    const inPath = new Set([...rest.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))
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
  for (const [path, route] of Object.entries(RAW_ROUTES)) {
    itemAt(paths, path)['get'] = {
      operationId: route.name,
      summary: route.title,
      parameters: route.parameters.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      responses: {
        200: { description: 'The bytes, for saving', content: { 'text/plain': {}, 'application/octet-stream': {} } },
        default: { $ref: '#/components/responses/Error' },
      },
      security: [{}, { apiKey: [] }],
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
        },
      },
    },
  }
}
