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
