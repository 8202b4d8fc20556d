import { z } from 'zod'
import { MAX_CONTENT, textField } from '../items/fields.ts'
import { countCharacters } from '../text/characters.ts'
import { isVariableName, MAX_VARIABLES, parseVariables, type Syntax } from '../variables/variables.ts'

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
export function variablesOfMessages(messages: readonly Message[], syntax: Syntax) {
  // Taken apart alone: braces of one message close nothing in another.
  const found = messages.flatMap((one) => ('role' in one ? parseVariables(one.content, syntax).variables : []))
  const byName = new Map<string, (typeof found)[number]>()
  for (const variable of found) {
    const known = byName.get(variable.name)
    if (known ? known.required && !variable.required : byName.size < MAX_VARIABLES) byName.set(variable.name, variable)
  }
  return [...byName.values()]
}
