import anyAscii from 'any-ascii'
import { cutCharacters } from '../text/characters.ts'

const MAX_USERNAME = 64

/**
 * Reserved names, in lower case: the first segments of the service's own paths, so that `/NAME` can become a user's page. A test compares
 * them with the route table.
 */
export const RESERVED_NAMES: ReadonlySet<string> = new Set([
  '.well-known',
  'admin',
  'api',
  'archives',
  'authorize',
  'categories',
  'check',
  'collections',
  'compat',
  'connect',
  'docs',
  'download',
  'e',
  'embed',
  'embed.js',
  'embeds',
  'favicon.ico',
  'favourites',
  'feed.xml',
  'forgot-password',
  'git-upload-pack',
  'healthz',
  'import',
  'info',
  'install',
  'labels',
  'language',
  'library',
  'marketplace',
  'marketplace.json',
  'mcp',
  'metrics',
  'new',
  'oauth2',
  'private',
  'prompts',
  'prompts.csv',
  'prompts.json',
  'readyz',
  'register',
  'reset-password',
  'robots.txt',
  'rules',
  'search',
  'settings',
  'sign-in',
  'sign-out',
  'sign-up',
  'sitemap.xml',
  'skills',
  'static',
  'tags',
  'teams',
  'token',
  'trash',
  'users',
])

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
