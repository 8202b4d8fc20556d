import { z } from 'zod'
import { countCharacters, hasForbiddenCharacter } from '../text/characters.ts'

const MAX_API_NAME = 255
/** Names that pages of Langfuse have of their own. */
const RESERVED: ReadonlySet<string> = new Set(['new', 'metrics', 'prompt-detail'])

/** The name that programs know a prompt by, under the rules of Langfuse: up to 255 characters, with folders by slashes. */
export const apiNameField = z.string().superRefine((name, issues) => {
  const fault = apiNameFault(name)
  if (fault !== null) issues.addIssue({ code: 'custom', message: fault })
})

function apiNameFault(name: string): string | null {
  if (name.trim() === '') return 'is blank'
  if (countCharacters(name) > MAX_API_NAME) return `has more than ${MAX_API_NAME} characters`
  if (name.includes('|')) return 'has a "|", which names of prompts cannot have'
  if (name.startsWith('/') || name.endsWith('/') || name.includes('//')) return 'has a slash at its beginning or end, or two in a row'
  if (RESERVED.has(name)) return 'is reserved'
  const forbidden = hasForbiddenCharacter(name)
  return forbidden ? `contains a ${forbidden}, which cannot be stored` : null
}
