import { z } from 'zod'
import { textField } from '../items/fields.ts'

export const ROLES = ['user', 'admin'] as const
/** The rights of a person besides managing their own items: administrators manage people, categories and the lists. */
export type Role = (typeof ROLES)[number]

/** Keys one person may have that work. */
export const MAX_KEYS = 100
/** Programs one person may have connected by OAuth: another one ends the one that was unused longest. */
export const MAX_PROGRAMS = 100
/** Install links one person may have that work. */
export const MAX_INSTALL_LINKS = 100

/** Placeholder domain for accounts without an email address; never sent to (RFC 2606). */
const NO_EMAIL_DOMAIN = 'login.invalid'

/** The address kept for a login without an email address. */
export function placeholderEmail(userId: string): string {
  return `${userId}@${NO_EMAIL_DOMAIN}`
}

/** The email address of an account; null for the placeholder. */
export function givenEmail(email: string): string | null {
  return email.toLowerCase().endsWith(`@${NO_EMAIL_DOMAIN}`) ? null : email
}

/** An email address as it is kept: in lower case. */
export const emailField = z
  .email('is not an email address')
  .max(254, 'must have at most 254 characters')
  .transform((email) => email.toLowerCase())
  .refine((email) => givenEmail(email) !== null, 'is not a deliverable address')

export const displayNameField = textField({ max: 100 })
/** The code of a language (BCP 47). Which ones the pages are written in is theirs to know. */
export const languageField = z.string().regex(/^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/, 'must be the code of a language, such as en or de')
export const bioField = textField({ max: 500 })
export const keyNameField = textField({ min: 1, max: 100, blank: false })

/** A person's own page: http or https, at most 200 characters. */
export const websiteField = textField({ max: 200 }).refine((text) => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}, 'must be an http or https address')
