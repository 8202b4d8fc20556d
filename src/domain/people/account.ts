import anyAscii from 'any-ascii'
import { z } from 'zod'
import { textField } from '../items/fields.ts'
import { cutCharacters } from '../text/characters.ts'

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

const MAX_USERNAME = 64

/**
 * Reserved names, in lower case: the first segments of the service's own paths, so that `/NAME` can become a user's page. A test compares
 * them with the route table.
 */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(
  `.well-known admin api archives authorize categories check collections compat connect docs download e embed embed.js embeds favicon.ico
  favourites feed.xml forgot-password git-upload-pack healthz import info install labels language library marketplace marketplace.json mcp
  metrics new oauth2 private prompts prompts.csv prompts.json readyz register reset-password robots.txt rules search settings sign-in
  sign-out sign-up sitemap.xml skills static tags teams token trash users`.split(/\s+/),
)

/** The fault of a new username, as the end of a sentence, or null (contract, "Owner, author, visibility"). */
export function usernameFault(username: string): string | null {
  if (username === '') return 'is empty'
  if (username.length > MAX_USERNAME) return `has ${username.length} characters; the limit is ${MAX_USERNAME}`
  if (!/^[A-Za-z0-9._-]+$/.test(username)) {
    const only = 'may contain only a-z, A-Z, 0-9, dot, hyphen and underscore'
    const foreign = /[^\p{ASCII}]/u.exec(username)?.[0]
    if (foreign === undefined || !/[\p{L}\p{N}]/u.test(foreign)) return only
    const code = foreign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
    return `${only}; "${foreign}" ${/\p{Script=Latin}/u.test(foreign) ? 'is not allowed' : `(U+${code}) is not a Latin letter or digit`}`
  }
  if (username === '.' || username === '..') return 'must not consist of dots only'
  if (/\.git$/i.test(username)) return 'must not end in ".git"'
  return RESERVED_NAMES.has(username.toLowerCase()) ? 'is reserved for addresses of this service' : null
}

/** An imported contributor's name in the characters of a username; others become hyphens. */
function toUsername(contributor: string): string {
  return cutCharacters(contributor.replace(/[^A-Za-z0-9._-]/gu, '-'), MAX_USERNAME) || '-'
}

/** The names to try for a contributor's placeholder, the plain one first, the last as good as certain to be free. */
export function* placeholderNames(contributor: string, fallback: string): Generator<string> {
  const name = toUsername(contributor).replace(/\.git$/i, '-git')
  if (usernameFault(name) === null) yield name
  for (let n = 2; n < 20; n++) yield `${name.slice(0, MAX_USERNAME - 3)}-${n}`
  yield `${name.slice(0, MAX_USERNAME - 9)}-${fallback}`
}

/** Longest name of a provider that is looked at, in UTF-16 units. */
const MAX_PROPOSED = 300

/**
 * The names to try for somebody whom a sign-in provider, a proxy or a directory names: the plain one in letters of this alphabet, without
 * what follows an @, then with numbers, the last as good as certain to be free.
 * @example [...arrivalNames('Zoë.M@example.org', 'x7')][0] // 'Zoe.M'
 */
export function* arrivalNames(proposed: string, fallback: string): Generator<string> {
  const [local = ''] = proposed.slice(0, MAX_PROPOSED).trim().split('@')
  const name = anyAscii(local)
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
  yield* placeholderNames(name === '' ? 'user' : name, fallback)
}

/** Shortest and longest password, in UTF-16 code units (NIST SP 800-63B asks for at least 8). */
export const PASSWORD_LENGTH = { min: 8, max: 128 } as const
/** How hard passwords are to guess from a stolen library: better-auth's own hash, or what OWASP's Password Storage Cheat Sheet asks of scrypt. */
export type PasswordHash = 'standard' | 'owasp'

/** How many of the commonest passwords are refused, those too short not counted. */
const COMMON_PASSWORDS = 10_000
/** Obvious passwords for this service. */
const OWN_NAMES = ['commonplace', 'commonplace1']

let common: Promise<ReadonlySet<string>> | null = null

/** Loaded when the first password is chosen. */
async function readCommonPasswords(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  // The list is in order, the commonest first, and in lower case.
  const longEnough = dictionary['passwords-common'].filter((one) => String(one).length >= PASSWORD_LENGTH.min)
  return new Set(longEnough.slice(0, COMMON_PASSWORDS).map(String))
}

/** The fault of a new password, as the end of a sentence, or null. `names` are forbidden: the username, the email address. */
export async function passwordFault(password: string, names: readonly string[]): Promise<string | null> {
  if (password.length < PASSWORD_LENGTH.min) return `must have at least ${PASSWORD_LENGTH.min} characters`
  if (password.length > PASSWORD_LENGTH.max) return `must have at most ${PASSWORD_LENGTH.max} characters`
  const folded = password.normalize('NFKC').toLowerCase()
  if (names.some((name) => name.toLowerCase() === folded)) return 'must not be the username or the email address'
  if (new Set(password).size < 3) return 'repeats the same characters; choose another'
  common ??= readCommonPasswords()
  if (OWN_NAMES.includes(folded) || (await common).has(folded)) return 'is one of the most common passwords; choose another'
  return null
}
