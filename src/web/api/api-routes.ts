import { z } from 'zod'
import { makeExample } from './example-request.ts'
import { jsonSchema, type Schema } from './schema-fields.ts'

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
    anchor: toAnchor(method, path),
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

/** As GitHub makes it of the heading in docs/reference/routes.md, so that a link to either leads to the same route. */
function toAnchor(method: string, path: string): string {
  return `${method} ${path}`
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
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
