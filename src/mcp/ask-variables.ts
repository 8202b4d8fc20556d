import { type ElicitRequestFormParams, inputRequired, inputResponse, type ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { isLongerThan, showControls } from '../domain/text/characters.ts'
import { MAX_VARIABLE_VALUE } from '../domain/variables/variables.ts'
import { invalidInput } from '../errors.ts'

/** A variable as operations show it. */
export const variableShape = z.object({ name: z.string(), required: z.boolean(), default: z.string().optional() })
type AskedVariable = z.infer<typeof variableShape>

/** The key of the question in a call. */
const QUESTION = 'variables'

/** Names that ask for a secret: such values must not go into a form that passes through a client (MCP, elicitation, "Security"). */
const SECRET_NAME =
  /pass(word|phrase|code)?\b|\bpwd\b|secret|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|token|credential|\bpin\b|\bcvv\b/i

/** How long a user may take to answer. */
const ANSWER_WITHIN_MS = 30 * 60_000

/** The outcome: values, a refusal, or a question that is still to be asked. */
export type Answer =
  | { readonly kind: 'values'; readonly values: Record<string, string> }
  | { readonly kind: 'refused' }
  | { readonly kind: 'ask'; readonly question: ReturnType<typeof inputRequired> }

/** Whether a client declared that its user can be asked by form; `{}` means form only. */
export function canAskByForm(capabilities: { readonly elicitation?: object | undefined } | undefined): boolean {
  const elicitation = capabilities?.elicitation
  if (!elicitation) return false
  return 'form' in elicitation || !('url' in elicitation)
}

/** The variables that may be asked for. Without `__proto__`, which gets lost as the name of a form field. */
export function askableVariables(variables: readonly AskedVariable[]): AskedVariable[] {
  return variables.filter(({ name }) => !SECRET_NAME.test(name) && name !== '__proto__')
}

/**
 * A form's value as text: strings, numbers, booleans and choices.
 * @throws AppError `invalid_input` for anything else
 */
function toText(name: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value) && value.every((choice) => typeof choice === 'string')) return value.join(', ')
  throw invalidInput(`variables.${name}`, `The answer for "${name}" must be a string.`)
}

/**
 * Asks for values: one form field per variable, defaults filled in. A client of the 2025 versions is asked while its call waits; one of the
 * 2026 revision gets the question as the answer, and repeats its call with the values. A client that declared it can ask and then fails is
 * treated as one that cannot.
 */
export async function askVariables(title: string, variables: readonly AskedVariable[], context: ServerContext): Promise<Answer> {
  const { envelope, inputResponses, droppedInputResponseKeys, signal } = context.mcpReq
  const form = describeForm(title, variables)
  if (envelope !== undefined) {
    // The SDK drops invalid answers.
    const isAnswered = (inputResponses && QUESTION in inputResponses) || droppedInputResponseKeys?.includes(QUESTION)
    if (!isAnswered) {
      return { kind: 'ask', question: inputRequired({ inputRequests: { [QUESTION]: inputRequired.elicit(form) } }) }
    }
    const answer = inputResponse(inputResponses, QUESTION)
    return answer.kind === 'elicit' ? readAnswer(answer, variables) : { kind: 'refused' }
  }
  try {
    return readAnswer(
      await context.mcpReq.send({ method: 'elicitation/create', params: form }, { timeout: ANSWER_WITHIN_MS, signal }),
      variables,
    )
  } catch (error) {
    if (signal.aborted) throw error
    return { kind: 'refused' }
  }
}

/** The answer of the user, as values of the requested variables. */
function readAnswer(
  { action, content }: { readonly action: string; readonly content?: unknown },
  variables: readonly AskedVariable[],
): Answer {
  if (action !== 'accept') return { kind: 'refused' }
  const names = new Set(variables.map((variable) => variable.name))
  const values = Object.entries(content ?? {}).filter(([name]) => names.has(name))
  const texts = values.map(([name, value]) => [name, toText(name, value)] as const)
  // Longer than the form allows.
  if (texts.some(([, text]) => isLongerThan(text, MAX_VARIABLE_VALUE))) return { kind: 'refused' }
  return { kind: 'values', values: Object.fromEntries(texts) }
}

function describeForm(title: string, variables: readonly AskedVariable[]): ElicitRequestFormParams {
  const properties: ElicitRequestFormParams['requestedSchema']['properties'] = {}
  for (const { name, default: fallback } of variables) {
    properties[name] = {
      type: 'string',
      title: name,
      maxLength: MAX_VARIABLE_VALUE,
      ...(fallback === undefined ? {} : { default: fallback }),
    }
  }
  const required = variables.filter((variable) => variable.required).map((variable) => variable.name)
  return {
    mode: 'form',
    message: `Fill in "${showControls(title)}".`,
    requestedSchema: { type: 'object', properties, ...(required.length > 0 ? { required } : {}) },
  }
}
