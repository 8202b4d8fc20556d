import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type ElicitRequestFormParams,
  type GetPromptResult,
  inputRequired,
  inputResponse,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Extras } from '../../src/mcp/dispatcher.ts'

/**
 * The tools, prompts and resources that the official conformance suite calls (@modelcontextprotocol/conformance; each scenario's
 * description says what it wants). They stand beside the library's own on the real server, so that what is tested is its HTTP stack.
 */

type ExtraTool = NonNullable<Extras['tools']>[number]
type ExtraPrompt = NonNullable<Extras['prompts']>[number]
type Question = ReturnType<typeof inputRequired>
type Form = ElicitRequestFormParams['requestedSchema']

const PAUSE_MS = 50

/** What is the same for every caller: tools with their answers, forms, prompts and resources. */
interface Fixtures {
  readonly tools: readonly {
    readonly name: string
    readonly description: string
    readonly inputSchema?: Tool['inputSchema']
    readonly result: CallToolResult
  }[]
  readonly forms: Readonly<Record<'user' | 'defaults' | 'choices' | 'name' | 'ok' | 'color' | 'context', Form>>
  readonly prompts: readonly { readonly name: string; readonly description: string; readonly content: PromptContent[] }[]
  readonly resources: readonly ({
    readonly name: string
    readonly uri: string
    readonly description: string
    readonly mimeType: string
  } & ({ readonly text: string } | { readonly blob: string }))[]
}
type PromptContent = GetPromptResult['messages'][number]['content']

const FIXTURES: Fixtures = JSON.parse(readFileSync(new URL('../fixtures/conformance.json', import.meta.url), 'utf8'))
const { forms } = FIXTURES

function say(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] }
}

function tool(
  name: string,
  description: string,
  call: ExtraTool['call'],
  inputSchema: Tool['inputSchema'] = { type: 'object', properties: {} },
): ExtraTool {
  return { tool: { name, description, inputSchema }, call }
}

// ---- Content, notifications, errors

const plainTools: readonly ExtraTool[] = [
  ...FIXTURES.tools.map(({ name, description, inputSchema, result }) => tool(name, description, () => result, inputSchema)),
  tool('test_tool_with_logging', 'Sends three log messages.', async (_, { mcpReq }) => {
    await mcpReq.log('info', 'Tool execution started')
    await pause(PAUSE_MS)
    await mcpReq.log('info', 'Tool processing data')
    await pause(PAUSE_MS)
    await mcpReq.log('info', 'Tool execution completed')
    return say('Three messages were logged.')
  }),
  tool('test_logging_tool', 'Logs, to whoever asked for it.', async (_, { mcpReq }) => {
    await mcpReq.log('info', 'Only for a request that set a level')
    return say('One message was logged.')
  }),
  tool('test_tool_with_progress', 'Tells its progress, to whoever asked for it.', async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      if (progress > 0) await pause(PAUSE_MS)
      if (progressToken === undefined) continue
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
    }
    return say('All steps are done.')
  }),
  tool('test_reconnection', 'Closes its stream before it answers: the client comes back for the answer.', async (_, { http }) => {
    http?.closeSSE?.()
    await pause(PAUSE_MS)
    return say('You came back.')
  }),
  tool('test_custom_header', 'Takes an argument that a header repeats.', ({ region }) => say(`Region: ${String(region)}`), {
    type: 'object',
    properties: { region: { type: 'string', description: 'Any text', 'x-mcp-header': 'Region' } },
  }),
]

// ---- Questions: a handler written once, for clients that are asked in the middle of a call and for those that call again

/** A question by form, its answer to come back under `key`. */
function ask(key: string, message: string, requestedSchema: Form, requestState?: string): Question {
  return inputRequired({
    inputRequests: { [key]: inputRequired.elicit({ mode: 'form', message, requestedSchema }) },
    ...(requestState === undefined ? {} : { requestState }),
  })
}

function askModel(key: string, text: string, maxTokens: number): Question {
  return inputRequired({
    inputRequests: { [key]: inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens }) },
  })
}

/** What a model said, as text; null when it was not asked yet. */
function modelAnswer(context: ServerContext, key: string): string | null {
  const answer = inputResponse(context.mcpReq.inputResponses, key)
  return answer.kind === 'sampling' ? JSON.stringify(answer.result.content) : null
}

/** Asks once by form; whatever the user does with it is told. */
function report(key: string, message: string, requestedSchema: Form, context: ServerContext): CallToolResult | Question {
  const answer = inputResponse(context.mcpReq.inputResponses, key)
  if (answer.kind !== 'elicit') return ask(key, message, requestedSchema)
  return say(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`)
}

const named = z.object({ name: z.string() })
const agreed = z.object({ ok: z.boolean() })
const colored = z.object({ color: z.string() })

const argument = (name: string, description: string): Tool['inputSchema'] => ({
  type: 'object',
  properties: { [name]: { type: 'string', description } },
  required: [name],
})

/** What a request of the 2026 era says of its client; the SDK gives it without a type. */
const envelope = z.object({
  [CLIENT_CAPABILITIES_META_KEY]: z.object({ sampling: z.looseObject({}).optional(), elicitation: z.looseObject({}).optional() }),
})

const askingTools: readonly ExtraTool[] = [
  tool(
    'test_sampling',
    "Has the client's model answer a prompt.",
    ({ prompt }, context) => {
      const answer = modelAnswer(context, 'answer')
      return answer === null ? askModel('answer', String(prompt), 100) : say(`LLM response: ${answer}`)
    },
    argument('prompt', 'The prompt to send to the model'),
  ),
  tool(
    'test_elicitation',
    'Asks the user for a name and an address.',
    ({ message }, context) => report('user', String(message), forms.user, context),
    argument('message', 'The message to show the user'),
  ),
  tool('test_elicitation_sep1034_defaults', 'Asks with a default in every kind of field.', (_, context) =>
    report('fields', 'Please look over these values.', forms.defaults, context),
  ),
  tool('test_elicitation_sep1330_enums', 'Asks with every kind of choice.', (_, context) =>
    report('choices', 'Please choose.', forms.choices, context),
  ),
  tool('test_streaming_elicitation', 'Asks the user: nothing but the question may be on the stream.', (_, context) =>
    report('confirm', 'Please confirm.', forms.ok, context),
  ),
  tool('test_missing_capability', "Needs the client's model: a client without one is told so.", (_, context) => {
    const answer = modelAnswer(context, 'answer')
    return answer === null ? askModel('answer', 'Are you there?', 10) : say(answer)
  }),
  tool('test_input_required_result_elicitation', "Asks for the user's name.", (_, context) => {
    const given = acceptedContent(context.mcpReq.inputResponses, 'user_name', named)
    return given ? say(`Hello, ${given.name}!`) : ask('user_name', 'What is your name?', forms.name)
  }),
  tool('test_input_required_result_sampling', "Asks the client's model.", (_, context) => {
    const answer = modelAnswer(context, 'capital_question')
    return answer === null ? askModel('capital_question', 'What is the capital of France?', 100) : say(answer)
  }),
  tool('test_input_required_result_list_roots', "Asks for the client's roots.", (_, context) => {
    const answer = inputResponse(context.mcpReq.inputResponses, 'client_roots')
    if (answer.kind !== 'roots') return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
    return say(`Roots: ${answer.roots.map((root) => root.uri).join(', ')}`)
  }),
  tool('test_input_required_result_capabilities', 'Asks for what the client can give, and for nothing else.', (_, context) => {
    const declared = envelope.safeParse(context.mcpReq.envelope).data?.[CLIENT_CAPABILITIES_META_KEY]
    if (declared?.elicitation) {
      const given = acceptedContent(context.mcpReq.inputResponses, 'user_name', named)
      return given ? say(`Hello, ${given.name}!`) : ask('user_name', 'What is your name?', forms.name)
    }
    if (!declared?.sampling) return say('You declared nothing that could be asked for.')
    const answer = modelAnswer(context, 'answer')
    return answer === null ? askModel('answer', 'Say something.', 50) : say(answer)
  }),
]

// ---- What is carried between the rounds of a call

interface Carried {
  readonly tool: string
  readonly round: number
  readonly name?: string
}

const states = createRequestStateCodec<Carried>({ key: randomBytes(32), bind: ({ mcpReq }) => mcpReq.method })

/** What this tool carried from its last round; null in the first. @throws ProtocolError when it was tampered with, is old or another's */
async function carriedBy(toolName: string, context: ServerContext): Promise<Carried | null> {
  const state = context.mcpReq.requestState()
  if (state === undefined) return null
  const carried = await states.verify(String(state), context).catch(() => null)
  if (carried?.tool !== toolName) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState')
  return carried
}

/** A tool that confirms by form and carries a state: `done` is said when both came back whole. */
function confirming(name: string, description: string, done: string): ExtraTool {
  return tool(name, description, async (_, context) => {
    const carried = await carriedBy(name, context)
    const given = carried && acceptedContent(context.mcpReq.inputResponses, 'confirm', agreed)
    return given ? say(done) : ask('confirm', 'Please confirm', forms.ok, await states.mint({ tool: name, round: 1 }, context))
  })
}

const MANY = 'test_input_required_result_multiple_inputs'
const ROUNDS = 'test_input_required_result_multi_round'

const carryingTools: readonly ExtraTool[] = [
  confirming('test_input_required_result_request_state', 'Carries a state from one round to the next.', 'state-ok'),
  confirming('test_input_required_result_tampered_state', 'Refuses a state that is not the one it gave.', 'The state is whole.'),
  tool(MANY, 'Asks the user, the model and for the roots at once.', async (_, context) => {
    const { inputResponses } = context.mcpReq
    const carried = await carriedBy(MANY, context)
    const given = acceptedContent(inputResponses, 'user_name', named)
    const greeting = modelAnswer(context, 'greeting')
    const roots = inputResponse(inputResponses, 'client_roots')
    if (carried && given && greeting !== null && roots.kind === 'roots') {
      return say(`${given.name}: ${greeting}, with ${roots.roots.length} roots`)
    }
    return inputRequired({
      inputRequests: {
        user_name: inputRequired.elicit({ mode: 'form', message: 'What is your name?', requestedSchema: forms.name }),
        greeting: inputRequired.createMessage({
          messages: [{ role: 'user', content: { type: 'text', text: 'Generate a greeting' } }],
          maxTokens: 50,
        }),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await states.mint({ tool: MANY, round: 1 }, context),
    })
  }),
  tool(ROUNDS, 'Asks twice, one question after the other.', async (_, context) => {
    const { inputResponses } = context.mcpReq
    const carried = await carriedBy(ROUNDS, context)
    const name = carried?.name ?? (carried && acceptedContent(inputResponses, 'step1', named)?.name)
    if (!name) return ask('step1', 'Step 1: What is your name?', forms.name, await states.mint({ tool: ROUNDS, round: 1 }, context))
    const color = carried?.round === 2 ? acceptedContent(inputResponses, 'step2', colored)?.color : undefined
    if (color !== undefined) return say(`${name} likes ${color}.`)
    return ask('step2', 'Step 2: What is your favorite color?', forms.color, await states.mint({ tool: ROUNDS, round: 2, name }, context))
  }),
]

// ---- Prompts

function user(...content: PromptContent[]): GetPromptResult {
  return { messages: content.map((one) => ({ role: 'user', content: one })) }
}

const prompts: readonly ExtraPrompt[] = [
  ...FIXTURES.prompts.map(({ content, ...prompt }) => ({ prompt, get: () => user(...content) })),
  {
    prompt: {
      name: 'test_prompt_with_arguments',
      description: 'Takes two arguments.',
      arguments: [
        { name: 'arg1', description: 'First test argument', required: true },
        { name: 'arg2', description: 'Second test argument', required: true },
      ],
    },
    get: ({ arg1, arg2 }) => user({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }),
    complete: ({ value }) => ['test one', 'test two', 'paris', 'park', 'party'].filter((word) => word.startsWith(value)),
  },
  {
    prompt: {
      name: 'test_prompt_with_embedded_resource',
      description: 'Holds a resource.',
      arguments: [{ name: 'resourceUri', description: 'URI of the resource to embed', required: true }],
    },
    get: ({ resourceUri }) =>
      user(
        { type: 'resource', resource: { uri: resourceUri ?? '', mimeType: 'text/plain', text: 'Embedded resource content for testing.' } },
        { type: 'text', text: 'Please process the embedded resource above.' },
      ),
  },
  {
    prompt: { name: 'test_input_required_result_prompt', description: 'Asks the user for what it needs.' },
    get: (_, { mcpReq }) => {
      const given = acceptedContent(mcpReq.inputResponses, 'user_context', z.object({ context: z.string() }))
      if (given) return user({ type: 'text', text: `Use this context: ${given.context}` })
      return ask('user_context', 'What context should the prompt use?', forms.context)
    },
  },
]

// ---- Resources, and what else a server of the library does not have

const tools: readonly ExtraTool[] = [...plainTools, ...askingTools, ...carryingTools]
const schemas = new Map(tools.map(({ tool: { name, inputSchema } }) => [name, inputSchema]))

function attach(mcp: McpServer): void {
  for (const { name, uri, description, mimeType, ...body } of FIXTURES.resources) {
    mcp.registerResource(name, uri, { description, mimeType }, async () => ({ contents: [{ uri, mimeType, ...body }] }))
  }
  mcp.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'A text for every id.', mimeType: 'application/json' },
    async (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  )
  mcp.server.registerCapabilities({ logging: {}, resources: { subscribe: true } })
  mcp.server.setRequestHandler('resources/subscribe', () => ({}))
  mcp.server.setRequestHandler('resources/unsubscribe', () => ({}))
  // Where the SDK looks up which arguments a header must repeat. Tools of the library have none.
  mcp.toolInputSchemaJson = (name) => schemas.get(name)
}

/** Everything the suite calls. */
export const conformanceExtras: Extras = { tools, prompts, attach }
