import { z } from 'zod'
import { LATEST } from '../domain/items/labels.ts'
import { ROLES, variablesOf } from '../domain/prompts/body.ts'
import { fromLangfuseText, toLangfuseText } from '../domain/variables/foreign-notations.ts'
import { type AppError, type ErrorCode, type ErrorDetail, invalidInput } from '../errors.ts'
import { type Answer, jsonAnswer } from '../exchange.ts'
import { errorHeaders, HTTP_STATUS } from '../http/answers.ts'
import { MAX_BODY_BYTES } from '../http/body.ts'
import { readJsonBody } from '../http/rest.ts'
import type { BoundRoute, Call, MakeContext } from '../http/route.ts'
import { createParser, requireUser } from '../operations/core/procedure.ts'
import {
  deleteNamedPrompt,
  findNamedPrompt,
  labelNamedPrompt,
  listNamedPrompts,
  type NamedVersion,
  saveNamedPrompt,
} from '../operations/prompts/named-prompts.ts'

const PATH = '/api/public/v2/prompts'
/** The label of what Langfuse calls active. */
const ACTIVE = 'production'

/** The names of errors there. */
const ERROR_NAMES = {
  invalid_input: 'InvalidRequestError',
  unauthenticated: 'UnauthorizedError',
  invalid_api_key: 'UnauthorizedError',
  forbidden: 'ForbiddenError',
  not_found: 'LangfuseNotFoundError',
  method_not_allowed: 'MethodNotAllowedError',
  conflict: 'LangfuseConflictError',
  too_large: 'InvalidRequestError',
  unsupported_media_type: 'InvalidRequestError',
  rate_limited: 'RateLimitError',
  upstream_failed: 'InternalServerError',
  unavailable: 'ServiceUnavailableError',
  internal: 'InternalServerError',
} as const satisfies Record<ErrorCode, string>

/** The names of fields there. */
const FIELDS: Readonly<Record<string, string>> = {
  content: 'prompt',
  messages: 'prompt',
  note: 'commitMessage',
  from: 'fromUpdatedAt',
  to: 'toUpdatedAt',
}

/** An error as Langfuse answers it: fields that are refused are issues of zod. @param allowed methods, for a method that is not */
export function toLangfuseError(error: AppError, allowed: readonly string[]): Answer {
  const isOfFields = error.code === 'invalid_input' && error.details.length > 0
  const issues = error.details.map(toIssue)
  const body = isOfFields ? { message: 'Invalid request data', error: issues } : { message: error.message, error: ERROR_NAMES[error.code] }
  return jsonAnswer(body, HTTP_STATUS[error.code], {
    'cache-control': 'no-store',
    ...errorHeaders(error),
    ...(HTTP_STATUS[error.code] === 401 && { 'www-authenticate': 'Basic realm="commonplace", charset="UTF-8"' }),
    ...(error.code === 'method_not_allowed' && { allow: allowed.join(', ') }),
  })
}

/** A refused field as zod tells it, by its name there. */
function toIssue({ path, message }: ErrorDetail) {
  const [field = '', ...parts] = path.split(/[.[\]]+/).filter((part) => part !== '')
  const name = FIELDS[field] ?? field
  return {
    code: 'custom',
    path: [name, ...parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part))],
    message: message.startsWith(field) ? name + message.slice(field.length) : message,
  }
}

const chatItem = z.union([
  z.object({ type: z.literal('placeholder'), name: z.string() }),
  z.object({ type: z.literal('chatmessage').optional(), role: z.string(), content: z.string() }),
])
/** The prompts of each `type`. */
const newPrompt = {
  text: createParser(z.object({ prompt: z.string() })),
  chat: createParser(z.object({ prompt: z.array(chatItem) })),
}
const readType = createParser(z.object({ type: z.enum(['text', 'chat']).default('text') }))

/** The prompt of a request, as it is saved here. @throws AppError `invalid_input` */
function readSaid(body: Record<string, unknown>) {
  if (readType(body).type === 'text') return { content: fromLangfuseText(newPrompt.text(body).prompt) }
  return {
    messages: newPrompt.chat(body).prompt.map((item, place) => {
      if (!('role' in item)) return item
      const role = ROLES.find((known) => known === item.role)
      if (!role) throw invalidInput(`prompt[${place}].role`, `prompt[${place}].role must be one of: ${ROLES.join(', ')}.`)
      return { role, content: fromLangfuseText(item.content) }
    }),
  }
}

/** A version as Langfuse has it. The defaults of variables, which its texts cannot hold, are in `config.variables` unless that is taken. */
function toLangfuse({ id, version, owner, author, note, createdAt, body, labels, ...named }: NamedVersion) {
  const { content, messages, config, syntax } = body
  const defaults = variablesOf(body).flatMap(({ name, default: value }) => (value === undefined ? [] : [[name, value] as const]))
  return {
    id: `${id}@${version}`,
    createdAt,
    updatedAt: createdAt,
    projectId: owner,
    createdBy: author,
    ...named,
    version,
    type: messages ? 'chat' : 'text',
    prompt: messages
      ? messages.map((one) => ('role' in one ? { ...one, content: toLangfuseText(one.content, syntax), type: 'chatmessage' } : one))
      : toLangfuseText(content, syntax),
    config: { ...(defaults.length > 0 && { variables: Object.fromEntries(defaults) }), ...config },
    labels,
    commitMessage: note,
    isActive: labels.includes(ACTIVE),
    resolutionGraph: null,
  }
}

/** The parameters of a query; numbers as such, without empty ones. */
function readQuery({ exchange }: Call, numbers: readonly string[] = ['version']): Record<string, unknown> {
  const given = [...new URLSearchParams(exchange.search)].filter(([, value]) => value !== '')
  return Object.fromEntries(given.map(([name, value]) => [name, numbers.includes(name) && /^-?\d+$/.test(value) ? Number(value) : value]))
}

/**
 * Prompts by Langfuse's public API (its `fern/apis/server/definition/prompts.yml`), so that its clients work here. Their secret key is an API
 * key of ours, and their public key is free text.
 */
export function langfuseRoutes(makeContext: MakeContext): BoundRoute[] {
  const route = { kind: 'langfuse', cost: 5 } as const
  const nameOf = ({ params }: Call) => ({ name: params['name'] ?? '' })
  return [
    {
      ...route,
      method: 'GET',
      path: PATH,
      async handle(call) {
        const { fromUpdatedAt: from, toUpdatedAt: to, ...query } = readQuery(call, ['page', 'limit'])
        const { prompts, total, totalPages, page, limit } = await listNamedPrompts.call(makeContext(call.actor), { ...query, from, to })
        const data = prompts.map(({ isChat, updatedAt, config, ...prompt }) => ({
          ...prompt,
          type: isChat ? 'chat' : 'text',
          lastUpdatedAt: updatedAt,
          lastConfig: config ?? {},
        }))
        return jsonAnswer({ data, meta: { page, limit, totalItems: total, totalPages } })
      },
    },
    {
      ...route,
      method: 'POST',
      path: PATH,
      bodyLimit: MAX_BODY_BYTES,
      async handle(call) {
        requireUser(call.actor)
        const { name, config, labels, tags, commitMessage: note, ...body } = readJsonBody(call)
        // The newest version has this label anyway.
        const given = Array.isArray(labels) ? labels.filter((label) => label !== LATEST) : labels
        const input = { name, config, labels: given, tags, note, ...readSaid(body) }
        return jsonAnswer(toLangfuse(await saveNamedPrompt.call(makeContext(call.actor), input)), 201)
      },
    },
    {
      ...route,
      cost: 1,
      method: 'GET',
      path: `${PATH}/{name}`,
      handle: async (call) =>
        jsonAnswer(toLangfuse(await findNamedPrompt.call(makeContext(call.actor), { ...readQuery(call), ...nameOf(call) }))),
    },
    {
      ...route,
      method: 'DELETE',
      path: `${PATH}/{name}`,
      async handle(call) {
        await deleteNamedPrompt.call(makeContext(call.actor), { ...readQuery(call), ...nameOf(call) })
        return { status: 204, headers: {}, body: null }
      },
    },
    {
      ...route,
      method: 'PATCH',
      path: `${PATH}/{name}/versions/{version}`,
      bodyLimit: MAX_BODY_BYTES,
      async handle(call) {
        const input = { ...nameOf(call), version: Number(call.params['version']), newLabels: readJsonBody(call)['newLabels'] }
        return jsonAnswer(toLangfuse(await labelNamedPrompt.call(makeContext(call.actor), input)))
      },
    },
  ]
}
