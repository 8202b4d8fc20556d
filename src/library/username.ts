import { cutCharacters } from './characters.ts'

const MAX_USERNAME = 64

/** What is wrong with a username, as the end of a sentence, or null. 1 to 64 of `A-Za-z0-9._-`. */
export function usernameFault(username: string): string | null {
  if (username === '') return 'is empty'
  if (username.length > MAX_USERNAME) return `has ${username.length} characters; the limit is ${MAX_USERNAME}`
  return /^[A-Za-z0-9._-]+$/.test(username) ? null : 'may hold only A-Z, a-z, 0-9, dot, underscore and hyphen'
}

/** An imported contributor's name in the characters of a username; others become hyphens. */
function toUsername(contributor: string): string {
  return cutCharacters(contributor.replace(/[^A-Za-z0-9._-]/gu, '-'), MAX_USERNAME) || '-'
}

/** The names to try for a contributor's placeholder, the plain one first, the last as good as certain to be free. */
export function* placeholderNames(contributor: string, fallback: string): Generator<string> {
  const name = toUsername(contributor)
  yield name
  for (let n = 2; n < 20; n++) yield `${name.slice(0, MAX_USERNAME - 3)}-${n}`
  yield `${name.slice(0, MAX_USERNAME - 9)}-${fallback}`
}
