import { z } from 'zod'
import { countCharacters, hasForbiddenCharacter, isBlank, isLongerThan } from '../text/characters.ts'

/** Limits of a text field, in characters (Unicode code points). `blank: false` refuses text of white space only. */
interface TextLimits {
  readonly min?: number
  readonly max: number
  readonly blank?: boolean
}

/** A text that `faultOf` checks: it gives the end of a sentence, or null. JSON Schema does not show the check. */
export function checkedText(faultOf: (text: string) => string | null) {
  return z.string().superRefine((text, issues) => {
    const fault = faultOf(text)
    if (fault !== null) issues.addIssue({ code: 'custom', message: fault })
  })
}

/**
 * A text field that is kept exactly as it came: nothing trimmed, nothing normalised.
 * Refuses NUL and lone surrogates. JSON Schema shows the limits as minLength and maxLength, which count code points too.
 */
export function textField(limits: TextLimits) {
  const minLength = limits.min || limits.blank === false ? { minLength: limits.min ?? 1 } : {}
  return checkedText((text) => textFault(text, limits)).meta({ ...minLength, maxLength: limits.max })
}

function textFault(text: string, limits: TextLimits): string | null {
  if (isLongerThan(text, limits.max)) return `has ${countCharacters(text)} characters; the limit is ${limits.max}`
  if (limits.min && countCharacters(text) < limits.min) return `needs at least ${limits.min} character${limits.min === 1 ? '' : 's'}`
  if (limits.blank === false && isBlank(text)) return 'is blank'
  const forbidden = hasForbiddenCharacter(text)
  return forbidden ? `contains a ${forbidden}, which cannot be stored` : null
}

export const PROMPT_TYPES = ['TEXT', 'STRUCTURED', 'IMAGE', 'VIDEO', 'AUDIO'] as const
export type PromptType = (typeof PROMPT_TYPES)[number]

export const MAX_TITLE = 200
export const MAX_DESCRIPTION = 500
export const MAX_CONTENT = 200_000
export const MAX_TAGS = 10
export const MAX_TAG = 50
export const MAX_NOTE = 500
/** Characters of content shown in lists and search results; longer ones are cut there and say so. */
export const MAX_LISTED_CONTENT = 20_000

export const titleField = textField({ max: MAX_TITLE, blank: false })
export const descriptionField = textField({ max: MAX_DESCRIPTION })
export const contentField = textField({ max: MAX_CONTENT, blank: false })
export const noteField = textField({ max: MAX_NOTE })
/** A number from 1 that both engines can hold. */
const countingNumber = (number: z.ZodNumber = z.number()) => number.int().min(1).max(2_147_483_647)
/** The number of a row. */
export const rowNumber = countingNumber()
/** The same from an address or a command. */
export const writtenRowNumber = countingNumber(z.coerce.number())
/** The number of a version. */
export const versionNumber = countingNumber()
export const promptTypeField = z.enum(PROMPT_TYPES)
/** A type as files write it, in any case; null for another word. */
export function readPromptType(text: string): PromptType | null {
  return promptTypeField.nullable().catch(null).parse(text.trim().toUpperCase())
}
export const tagsField = z
  .array(textField({ min: 1, max: MAX_TAG }))
  .superRefine((tags, issues) => {
    if (tags.length > MAX_TAGS) issues.addIssue({ code: 'custom', message: `has ${tags.length} tags; the limit is ${MAX_TAGS}` })
  })
  .meta({ maxItems: MAX_TAGS })

export const categoryNameField = textField({ min: 1, max: 60, blank: false })

/** Whether this is the category's slug or name, in any case. */
export function isCategoryNamed(category: { readonly slug: string; readonly name: string }, text: string): boolean {
  const wanted = foldCategoryName(text)
  return category.slug === wanted || foldCategoryName(category.name) === wanted
}

/** How names of categories are compared. */
export function foldCategoryName(text: string): string {
  return text.normalize('NFC').trim().toLowerCase()
}

const MAX_API_NAME = 255
/** Names that pages of Langfuse have of their own. */
const RESERVED: ReadonlySet<string> = new Set(['new', 'metrics', 'prompt-detail'])

/** The name that programs know a prompt by, under the rules of Langfuse: up to 255 characters, with folders by slashes. */
export const apiNameField = checkedText(apiNameFault)

function apiNameFault(name: string): string | null {
  if (name.trim() === '') return 'is blank'
  if (countCharacters(name) > MAX_API_NAME) return `has more than ${MAX_API_NAME} characters`
  if (name.includes('|')) return 'has a "|", which names of prompts cannot have'
  if (name.startsWith('/') || name.endsWith('/') || name.includes('//')) return 'has a slash at its beginning or end, or two in a row'
  if (RESERVED.has(name)) return 'is reserved'
  const forbidden = hasForbiddenCharacter(name)
  return forbidden ? `contains a ${forbidden}, which cannot be stored` : null
}
