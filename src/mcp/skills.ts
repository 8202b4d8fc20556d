import type { Resource } from '@modelcontextprotocol/server'
import { type Skill, type SkillReadResult, type SkillSource, SkillsExtension } from '@modelcontextprotocol/server/ext/skills'
import { z } from 'zod'
import { cutCharacters, isLongerThan, showControls } from '../domain/text/characters.ts'
import { toAppError } from '../errors.ts'
import type { Invoke } from '../operations/core/define-operation.ts'
import { type ListFilter, toProtocolError } from './messages.ts'

/** Most skills in resources/list, which is not paged: the newest. */
const LISTED_RESOURCES = 200
const DIRECTORY_TYPE = 'inode/directory'

const manifest = z.object({
  owner: z.string(),
  path: z.string(),
  frontmatter: z.looseObject({ name: z.string(), description: z.string() }),
  check: z.record(z.string(), z.number()).optional(),
  files: z.array(z.object({ filename: z.string(), sha256: z.string(), size: z.number() })),
})
type Manifest = z.infer<typeof manifest>
const manifestPage = z.object({ skills: z.array(manifest), nextCursor: z.string().optional() })
const fileShape = z.object({ content: z.string(), encoding: z.literal('base64').optional() })

const MEDIA_TYPES: Partial<Record<string, string>> = {
  md: 'text/markdown',
  json: 'application/json',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  html: 'text/html',
  csv: 'text/csv',
}

function mediaType(filename: string, isText: boolean): string {
  return MEDIA_TYPES[filename.split('.').at(-1)?.toLowerCase() ?? ''] ?? (isText ? 'text/plain' : 'application/octet-stream')
}

function toUri(owner: string, path: string, filename: string): string {
  return `skill://${owner}/${[...path.split('/'), ...filename.split('/')]
    .filter((part) => part !== '')
    .map(encodeURIComponent)
    .join('/')}`
}

/** Longest description and compatibility of an entry, in characters. */
const [MAX_DESCRIPTION, MAX_COMPATIBILITY] = [1024, 500]

/** A field of an entry as the protocol takes it (SEP-2640), or undefined: for one other field the SDK leaves a skill out of the list. */
function toListedField(field: string, value: unknown): unknown {
  if (field === '__proto__') return undefined
  if (field === 'description') return cutCharacters(showControls(String(value)), MAX_DESCRIPTION)
  if (field === 'compatibility')
    return typeof value === 'string' && value !== '' && !isLongerThan(value, MAX_COMPATIBILITY) ? value : undefined
  if (field !== 'metadata') return value
  const texts = Object.entries(value instanceof Object && !Array.isArray(value) ? value : {}).filter(([, text]) => typeof text === 'string')
  return texts.length > 0 ? Object.fromEntries(texts) : undefined
}

/** Counts of the check's findings, where `_meta` has room for them. */
function toMeta({ check }: Pick<Manifest, 'check'>): { _meta?: Record<string, unknown> } {
  return check ? { _meta: { 'commonplace.check/findings': check } } : {}
}

function toEntry({ owner, path, frontmatter, files, check }: Manifest): Skill {
  return {
    uri: toUri(owner, path, 'SKILL.md'),
    frontmatter: {
      ...Object.fromEntries(Object.entries(frontmatter).map(([field, value]) => [field, toListedField(field, value)])),
      name: frontmatter.name,
      description: String(toListedField('description', frontmatter.description)),
    },
    resources: files.map((file) => ({ uri: toUri(owner, path, file.filename), digest: `sha256:${file.sha256}`, size: file.size })),
    ...toMeta({ check }),
  }
}

/** The parts of a `skill://` address, decoded once; null for what is none. */
function parseUri(uri: string): { owner: string; parts: string[] } | null {
  const [, owner, rest] = /^skill:\/\/([A-Za-z0-9._-]+)\/?(.*)$/.exec(uri) ?? []
  if (owner === undefined || rest === undefined || /[?#]/.test(rest)) return null
  try {
    return {
      owner,
      parts: rest
        .split('/')
        .filter((part) => part !== '')
        .map(decodeURIComponent),
    }
  } catch {
    return null
  }
}

/** The answer of a plain resources/list: the SKILL.md of the newest skills. */
export async function listResources(invoke: Invoke, filter: ListFilter): Promise<{ resources: Resource[] }> {
  return { resources: await createSkillSource(invoke, filter).listResources() }
}

/** Skills over MCP (SEP-2640) from the operations: `skill://<owner>/<name>/…`, with visibility, digests and binary files. */
export function createSkillsExtension(invoke: Invoke, filter: ListFilter): SkillsExtension {
  return new SkillsExtension({ source: createSkillSource(invoke, filter), onWarning: () => {} })
}

function createSkillSource(invoke: Invoke, filter: ListFilter) {
  /** Undefined when nothing visible is there; other failures are protocol errors. */
  const orUndefined = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      const appError = toAppError(error)
      if (appError.code === 'not_found' || appError.code === 'invalid_input') return undefined
      throw toProtocolError(appError)
    }
  }
  /** The skill of an address, and the rest of the path. A path is the name alone, or slug and name. */
  const resolve = async (uri: string): Promise<{ skill: Manifest; rest: string[] } | undefined> => {
    const address = parseUri(uri)
    if (!address) return undefined
    const { owner, parts } = address
    // The longer path first: a slug may equal the name of another skill.
    for (const length of [2, 1]) {
      if (parts.length < length) continue
      const skill = await orUndefined(async () =>
        manifest.parse(await invoke('get_skill_manifest', { ...filter, owner, path: parts.slice(0, length).join('/') })),
      )
      if (skill) return { skill, rest: parts.slice(length) }
    }
    return undefined
  }
  const listPage = async (cursor: string | undefined) =>
    manifestPage.parse(await invoke('list_skill_manifests', { ...filter, ...(cursor === undefined ? {} : { cursor }) }))

  return {
    async list({ cursor }) {
      try {
        const page = await listPage(cursor)
        return { skills: page.skills.map(toEntry), ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }) }
      } catch (error) {
        throw toProtocolError(toAppError(error))
      }
    },
    async get(uri) {
      const found = await resolve(uri)
      return found && found.rest.join('/') === 'SKILL.md' ? toEntry(found.skill) : undefined
    },
    async read(uri): Promise<SkillReadResult | undefined> {
      const found = await resolve(uri)
      if (!found || found.rest.length === 0) return undefined
      const { owner, path } = found.skill
      const filename = found.rest.join('/')
      const file = await orUndefined(async () => fileShape.parse(await invoke('read_manifest_file', { owner, path, filename })))
      if (!file) return undefined
      if (file.encoding === undefined) return { text: file.content, mimeType: mediaType(filename, true) }
      return { bytes: Buffer.from(file.content, 'base64'), mimeType: mediaType(filename, false) }
    },
    async readDirectory(uri) {
      const found = await resolve(uri)
      if (!found) return undefined
      const { owner, path, files } = found.skill
      const prefix = found.rest.length === 0 ? '' : `${found.rest.join('/')}/`
      const children = new Map<string, Resource>()
      for (const { filename, size } of files) {
        if (!filename.startsWith(prefix)) continue
        const [child = '', ...below] = filename.slice(prefix.length).split('/')
        const childUri = toUri(owner, path, prefix + child)
        if (below.length > 0) children.set(child, { uri: childUri, name: child, mimeType: DIRECTORY_TYPE })
        else children.set(child, { uri: childUri, name: child, mimeType: mediaType(child, true), size })
      }
      return children.size === 0 ? undefined : { resources: [...children.values()] }
    },
    async listResources() {
      const resources: Resource[] = []
      let cursor: string | undefined
      do {
        const page = await listPage(cursor)
        for (const { owner, path, frontmatter, files, check } of page.skills) {
          const size = files.find((file) => file.filename === 'SKILL.md')?.size
          resources.push({
            uri: toUri(owner, path, 'SKILL.md'),
            ...toMeta({ check }),
            name: showControls(frontmatter.name),
            description: showControls(frontmatter.description),
            mimeType: 'text/markdown',
            ...(size === undefined ? {} : { size }),
          })
        }
        cursor = page.nextCursor
      } while (cursor !== undefined && resources.length < LISTED_RESOURCES)
      return resources.slice(0, LISTED_RESOURCES)
    },
  } satisfies SkillSource
}
