import { foldCategoryName } from '../items/fields.ts'
import { labelName } from '../items/labels.ts'
import { slugify, slugifyTag } from '../items/slug.ts'

/** The scope of a channel: everything its caller may see, or a part of it. `only` names one skill of it, `label` the versions that are given. */
export type ChannelScope = (
  | { readonly kind: 'all' }
  | { readonly kind: 'skill' | 'prompt' | 'collection'; readonly ref: string }
  | { readonly kind: 'author' | 'tag' | 'category'; readonly name: string }
) & { readonly only?: string; readonly label?: string }

/** Longest path of a scope that is read, in UTF-16 units. */
const MAX_PATH = 512

/** Paths of scopes, in the form they have in links first. Spellings of one name give one scope: what is kept for a scope is kept once. */
const FORMS: readonly { readonly pattern: RegExp; readonly toScope: (text: string) => ChannelScope }[] = [
  { pattern: /^\/skills\/([^/]+)$/, toScope: (ref) => ({ kind: 'skill', ref }) },
  { pattern: /^\/prompts\/([^/]+)$/, toScope: (ref) => ({ kind: 'prompt', ref }) },
  { pattern: /^\/@([^/]+)$/, toScope: (name) => ({ kind: 'author', name: name.toLowerCase() }) },
  { pattern: /^\/tags\/([^/]+)$/, toScope: (name) => ({ kind: 'tag', name: slugifyTag(name) }) },
  { pattern: /^\/categories\/([^/]+)$/, toScope: (name) => ({ kind: 'category', name: foldCategoryName(name) }) },
  { pattern: /^\/collections\/([^/]+)$/, toScope: (ref) => ({ kind: 'collection', ref }) },
  // Addresses that people copy from elsewhere on the service.
  { pattern: /^\/users\/([^/]+)$/, toScope: (name) => ({ kind: 'author', name: name.toLowerCase() }) },
  { pattern: /^\/api\/skills\/([^/]+)\/zip$/, toScope: (ref) => ({ kind: 'skill', ref }) },
]

/**
 * The scope of a path, decoded and without a slash at its end; empty for everything. `@NAME` at its end names one skill, as `skills find`
 * prints it, and `/labels/NAME` before it the versions that a label points at.
 * @returns null for a path that is none
 */
export function parseScope(path: string): ChannelScope | null {
  const [, label, rest = ''] = /^\/labels\/([^/]+)(\/.*)?$/.exec(path) ?? []
  if (label === undefined) return parsePart(path)
  const part = labelName.safeParse(label).success && !rest.startsWith('/labels/') ? parsePart(rest) : null
  return part && { ...part, label }
}

/** A scope without the label before it. */
function parsePart(path: string): ChannelScope | null {
  if (path === '' || path === '/') return { kind: 'all' }
  if (path.length > MAX_PATH || !path.isWellFormed()) return null
  const at = path.lastIndexOf('@')
  const named = at > path.lastIndexOf('/') + 1 ? path.slice(at + 1) : null
  const whole = named === null ? path : path.slice(0, at)
  for (const { pattern, toScope } of FORMS) {
    const text = pattern.exec(whole)?.[1]
    if (text === undefined) continue
    const scope = toScope(text)
    if ('name' in scope && scope.name === '') return null
    return named === null ? scope : { ...scope, only: named }
  }
  return null
}

/**
 * The name of the plugin marketplace of a scope: by its host and path, and by who gets it, since clients refuse a second one of a name.
 * @param reader empty for everybody, `private` or `link-xxxx`
 */
export function marketplaceName(baseUrl: string, path: string, reader = ''): string {
  return slugify(`${new URL(baseUrl).hostname} ${decodeURIComponent(path)} ${reader}`) || 'commonplace'
}

/** The path of a scope, percent-encoded; empty for everything. */
export function scopePath(scope: ChannelScope): string {
  const { label, ...part } = scope
  return `${label === undefined ? '' : `/labels/${label}`}${partPath(part)}`
}

function partPath(scope: ChannelScope): string {
  const only = scope.only === undefined ? '' : `@${encodeURIComponent(scope.only)}`
  switch (scope.kind) {
    case 'all':
      return only
    case 'skill':
    case 'prompt':
    case 'collection':
      return `/${scope.kind}s/${encodeURIComponent(scope.ref)}${only}`
    case 'author':
      return `/@${encodeURIComponent(scope.name)}${only}`
    case 'tag':
      return `/tags/${encodeURIComponent(scope.name)}${only}`
    case 'category':
      return `/categories/${encodeURIComponent(scope.name)}${only}`
  }
}
