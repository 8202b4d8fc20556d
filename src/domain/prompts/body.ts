import { z } from 'zod'
import { invalidInput } from '../../errors.ts'
import { MAX_CONTENT, textField } from '../items/fields.ts'
import { countCharacters } from '../text/characters.ts'
import {
  type FilledText,
  fillVariables,
  isVariableName,
  MAX_FILLED_TEXT,
  MAX_VARIABLES,
  meansOtherwise,
  parseVariables,
  type Syntax,
  type Variable,
} from '../variables/variables.ts'
import type { PromptConfig } from './config.ts'

export const ROLES = ['system', 'user', 'assistant'] as const
export const MAX_MESSAGES = 100

/** A message of a chat prompt, or the place for messages that a program puts in, such as a conversation so far. */
export type Message =
  | { readonly role: (typeof ROLES)[number]; readonly content: string }
  | { readonly type: 'placeholder'; readonly name: string }

export const messageField = z.union([
  z.strictObject({ role: z.enum(ROLES), content: textField({ max: MAX_CONTENT }) }),
  z.strictObject({
    type: z.literal('placeholder'),
    name: z.string().refine(isVariableName, 'is no name of a placeholder: begin it with a letter'),
  }),
])

/** The messages of a chat prompt, in their order. A placeholder may not have the name of a variable. */
export const messagesField = z
  .array(messageField)
  .min(1)
  .superRefine((messages, issues) => {
    if (messages.length > MAX_MESSAGES)
      issues.addIssue({ code: 'custom', message: `has ${messages.length} messages; the limit is ${MAX_MESSAGES}` })
    const whole = countCharacters(renderMessages(messages))
    if (whole > MAX_CONTENT) issues.addIssue({ code: 'custom', message: `has ${whole} characters in all; the limit is ${MAX_CONTENT}` })
    const names = new Set(messages.flatMap((one) => ('role' in one ? parseVariables(one.content).variables.map(({ name }) => name) : [])))
    for (const [place, one] of messages.entries()) {
      if ('role' in one || !names.has(one.name)) continue
      issues.addIssue({ code: 'custom', path: [place, 'name'], message: `is the name of a variable too; rename one of them` })
    }
  })
  .meta({ maxItems: MAX_MESSAGES })

const HEADINGS = { system: 'System', user: 'User', assistant: 'Assistant' } as const

/** Messages as one readable text, which is what search, lists and embeds show of a chat prompt. */
export function renderMessages(messages: readonly Message[]): string {
  return messages.map((one) => ('role' in one ? `# ${HEADINGS[one.role]}\n\n${one.content}` : `# Placeholder: ${one.name}`)).join('\n\n')
}

/**
 * Messages as MCP has them, which knows neither system messages nor placeholders: texts of the system come before the first of the user's,
 * and placeholders are left out. Always at least one of the user.
 */
export function toMcpMessages(messages: readonly Message[]): { role: 'user' | 'assistant'; text: string }[] {
  const system = messages.flatMap((one) => ('role' in one && one.role === 'system' ? [one.content] : []))
  const others = messages.flatMap((one) => ('role' in one && one.role !== 'system' ? [{ role: one.role, text: one.content }] : []))
  const first = others.findIndex(({ role }) => role === 'user')
  const start = [...system, ...(first === -1 ? [] : [others[first]?.text ?? ''])].join('\n\n')
  if (first === -1) return [{ role: 'user', text: start }, ...others]
  return others.map((one, place) => (place === first ? { role: one.role, text: start } : one))
}

/** The variables of all messages, in the order in which they first occur. */
function variablesOfMessages(messages: readonly Message[], syntax: Syntax) {
  // Taken apart alone: braces of one message close nothing in another.
  const found = messages.flatMap((one) => ('role' in one ? parseVariables(one.content, syntax).variables : []))
  const byName = new Map<string, (typeof found)[number]>()
  for (const variable of found) {
    const known = byName.get(variable.name)
    if (known ? known.required && !variable.required : byName.size < MAX_VARIABLES) byName.set(variable.name, variable)
  }
  return [...byName.values()]
}

/** The contents of a version of a prompt: a text, or messages and the text that shows them. */
export interface PromptBody {
  readonly content: string
  /** Of a chat prompt; null for a text. */
  readonly messages: readonly Message[] | null
  readonly config: PromptConfig | null
  readonly syntax: Syntax
}

/** The body of a prompt, without its other fields. */
export function bodyOf({ content, messages, config, syntax }: PromptBody): PromptBody {
  return { content, messages, config, syntax }
}

/** Fields of a body that files and exports have beside its content, each only where it says something. */
export function describeBody({ content, messages, config, syntax }: PromptBody) {
  const depends = messages ? messages.some((one) => 'role' in one && meansOtherwise(one.content)) : meansOtherwise(content)
  return { ...(messages && { messages }), ...(config && { config }), ...(depends && { syntax }) }
}

/** The fields of a body that a writer gives; what is absent stays, or has no value. */
export type BodyFields = { readonly [Name in keyof PromptBody]?: PromptBody[Name] | undefined }

/** A new body. Messages decide its content. @throws AppError `invalid_input` without either */
export function makeBody({ content, messages = null, config = null, syntax = 2 }: BodyFields): PromptBody {
  if (messages) return { content: renderMessages(messages), messages, config, syntax }
  if (content === undefined) throw invalidInput('content', 'content or messages is needed.')
  return { content, messages, config, syntax }
}

/** A body after a change. @throws AppError `invalid_input` where it would make a text of a chat prompt, or the reverse */
export function changeBody(before: PromptBody, change: BodyFields): PromptBody {
  const { config = before.config } = change
  const isChat = before.messages !== null
  if (change.messages !== undefined && (change.messages !== null) !== isChat)
    throw invalidInput(
      'messages',
      isChat ? 'A chat prompt stays one: give messages.' : 'This prompt is a text, and stays one: change its content.',
    )
  if (isChat && change.messages === undefined && change.content !== undefined && change.content !== before.content)
    throw invalidInput('content', 'This is a chat prompt: change its messages.')
  const { content = before.content, messages = before.messages } = change
  const isSame = content === before.content && isSameJson(messages, before.messages)
  return makeBody({ content, messages, config, syntax: change.syntax ?? (isSame ? before.syntax : 2) })
}

function isSameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** Whether two bodies say the same, whatever their configs. */
export function isSameText(a: PromptBody, b: PromptBody): boolean {
  return a.content === b.content && a.syntax === b.syntax && isSameJson(a.messages, b.messages)
}

/** Whether two bodies are the same; texts that mean the same in both syntaxes differ in nothing. */
export function isSameBody(a: PromptBody, b: PromptBody): boolean {
  return isSameText({ ...a, syntax: describeBody(a).syntax ?? b.syntax }, b) && isSameJson(a.config, b.config)
}

export function variablesOf({ content, messages, syntax }: Pick<PromptBody, 'content' | 'messages' | 'syntax'>): readonly Variable[] {
  return messages ? variablesOfMessages(messages, syntax) : parseVariables(content, syntax).variables
}

/** A body with values put in. Errors as {@link fillVariables} */
export function fillBody(
  body: Pick<PromptBody, 'content' | 'messages' | 'syntax'>,
  values: ReadonlyMap<string, string>,
): FilledText & Pick<PromptBody, 'messages'> {
  if (!body.messages) return { ...fillVariables(body.content, values, body.syntax), messages: null }
  const unfilled = new Set<string>()
  let left = MAX_FILLED_TEXT
  const messages = body.messages.map((one) => {
    if (!('role' in one)) return one
    const filled = fillVariables(one.content, values, body.syntax, left)
    left -= filled.text.length
    for (const name of filled.unfilled) unfilled.add(name)
    return { ...one, content: filled.text }
  })
  return { text: renderMessages(messages), unfilled: [...unfilled], messages }
}
