import { hash } from 'node:crypto'
import type { CheckNote } from '../domain/check/findings.ts'
import type { Actor } from '../domain/people/actor.ts'
import { marketplaceName, scopePath } from '../domain/skills/channel-scope.ts'
import { SKILL_MD, type SkillFile } from '../domain/skills/skill.ts'
import { AppError } from '../errors.ts'
import type { Answer } from '../exchange.ts'
import type { BoundRoute, Call } from '../http/route.ts'
import { openArchive, sealArchives } from '../operations/channels/install-links.ts'
import { readSharedFiles } from '../operations/channels/shared-items.ts'
import {
  type Archive,
  answerBytes,
  answerFile,
  archiveKey,
  atVersion,
  type Channel,
  JSON_TYPE,
  type ListedSkill,
  type Listing,
} from './channel.ts'

/** Archives that one point seals tokens for. */
const ARCHIVES_A_POINT = 100
/** Name of the plugin that holds every skill of a scope. */
const BUNDLE = 'all-skills'
/** The largest such plugin: more than this is installed skill by skill. */
const MAX_BUNDLE_BYTES = 16 * 1024 * 1024
const MAX_BUNDLE_FILES = 5_000

/** A plugin, and the archive it is installed from. */
interface Plugin {
  readonly name: string
  readonly description: string
  readonly homepage: string
  readonly isBundle: boolean
  readonly check: CheckNote
  /** Of the archive, in hex. */
  readonly sha256: string
}

/** A marketplace of plugins for Claude Code: each skill as an archive, and all of them as one (code.claude.com, "Plugin marketplaces"). */
export function marketplaceRoutes(channel: Channel): BoundRoute[] {
  const bytesOf = (value: unknown) => new TextEncoder().encode(`${JSON.stringify(value)}\n`)
  return [
    {
      method: 'GET',
      kind: 'channel',
      cost: 5,
      path: '{scope}/marketplace.json',
      async handle(call) {
        const way = wayTo(call)
        const render = async () => {
          const listing = await channel.list(call)
          const base = channel.baseUrl + (way.startsWith('/install/') ? way : way + scopePath(listing.scope))
          const toUrl = (plugin: Plugin) => `${base}/${plugin.isBundle ? 'marketplace' : '.well-known/agent-skills'}/${plugin.name}.zip`
          const plugins = await listPlugins(channel, call, listing)
          return bytesOf(toMarketplace(channel, call, listing, plugins, plugins.map(toUrl)))
        }
        if (!wantsTokens(call)) return answerBytes(call, await channel.keep(call, `marketplace ${way}`, render), JSON_TYPE)
        // The client sends its user name and password with this file alone.
        const listing = await channel.list(call)
        const plugins = await listPlugins(channel, call, listing)
        const archives = plugins.map(({ name, sha256 }) => ({ scope: scopePath(listing.scope), name, sha256 }))
        await call.charge(Math.floor(archives.length / ARCHIVES_A_POINT))
        const { tokens } = await channel.call(call)(sealArchives, { archives })
        const urls = plugins.map(({ name }, place) => `${channel.baseUrl}/archives/${tokens[place]}/${name}.zip`)
        return answerBytes(call, bytesOf(toMarketplace(channel, call, listing, plugins, urls)), JSON_TYPE)
      },
    },
    {
      method: 'GET',
      kind: 'channel',
      cost: 1,
      queues: true,
      path: `{scope}/marketplace/${BUNDLE}.zip`,
      handle: async (call) => answerFile(call, (await packBundle(channel, call, await channel.list(call))).bytes, 'application/zip'),
    },
    {
      method: 'GET',
      kind: 'channel',
      cost: 2,
      queues: true,
      // The token says whose key got it.
      isEntry: true,
      path: '/archives/{token}/{file}',
      async handle(call) {
        const opened = await channel.call(call)(openArchive, { token: call.params['token'] ?? '' })
        const { scope, name, sha256, keyId, userId, username, mayRead, within } = opened
        const asKey: Call = {
          ...call,
          actor: { kind: 'user', userId, username, keyId, scopes: new Set(mayRead ? ['read' as const] : []), ...(within && { within }) },
          params: { scope },
        }
        const archive =
          name === BUNDLE
            ? await packBundle(channel, asKey, await channel.list(asKey))
            : await channel.packSkill(asKey, await channel.find(asKey, name))
        if (archive.sha256 !== sha256) throw new AppError('not_found', 'This archive has changed. Load the marketplace again.')
        return answerFile(call, archive.bytes, 'application/zip')
      },
    },
  ]
}

/** The prefix of the scope in the address of a request: nothing, what asks for a key, or an install link, which has its scope in it. */
function wayTo({ exchange: { path } }: Call): string {
  return /^\/(?:private(?=\/)|install\/[^/]+)/.exec(path)?.[0] ?? ''
}

/** Whether the client came with HTTP Basic. */
function wantsTokens({ actor, exchange }: Call): boolean {
  return actor.kind === 'user' && actor.keyId !== undefined && /^basic\s/i.test(exchange.header('authorization') ?? '')
}

async function listPlugins(channel: Channel, call: Call, listing: Listing): Promise<Plugin[]> {
  const plugins: Plugin[] = []
  for (const skill of listing.skills) {
    const { name, description, slug, id, isPublic, check } = skill
    const homepage = `${channel.baseUrl}/skills/${isPublic ? slug : id}`
    plugins.push({ name, description, homepage, isBundle: false, check, sha256: await channel.digest(call, skill) })
  }
  const bundle = describeBundle(channel, listing)
  if (bundle) {
    const sha256 = await channel.digestOf(bundle.key, () => readBundle(channel, call, listing))
    const description = `All ${listing.skills.length} skills of ${describeScope(channel, listing)} as one plugin.`
    const homepage = channel.baseUrl + scopePath(listing.scope)
    plugins.unshift({ name: BUNDLE, description, homepage, isBundle: true, check: undefined, sha256 })
  }
  return plugins
}

function toMarketplace(channel: Channel, call: Call, listing: Listing, plugins: readonly Plugin[], urls: readonly string[]) {
  return {
    name: marketplaceName(channel.baseUrl, scopePath(listing.scope), nameReader(call.actor, call.exchange.path)),
    owner: { name: channel.name },
    metadata: { description: [`Skills of ${describeScope(channel, listing)}`, listing.cutNote ?? []].flat().join('. ') },
    // Without a version, the digest is the version: every change is an update.
    plugins: plugins.map(({ name, description, homepage, isBundle, check, sha256 }, place) => ({
      name,
      description,
      homepage,
      ...(isBundle ? {} : { strict: false, skills: ['./'] }),
      ...(check && { metadata: { check } }),
      source: { source: 'archive', url: urls[place], sha256 },
    })),
  }
}

/** The reader of a marketplace: empty for everybody, `private` for the holder of a key, `link-xxxx` for that of an install link, by its digest. */
export function nameReader(actor: Actor, path: string): string {
  const token = /^\/install\/([^/.]+)/.exec(path)?.[1]
  if (token !== undefined) return `link-${hash('sha256', token).slice(0, 4)}`
  return actor.kind === 'user' ? 'private' : ''
}

/** A scope in words: the service and its address. */
export function describeScope({ name, baseUrl }: Pick<Channel, 'name' | 'baseUrl'>, { scope }: Pick<Listing, 'scope'>): string {
  return `${name} at ${new URL(baseUrl).host}${decodeURIComponent(scopePath(scope))}`
}

const pluginFile = (channel: Channel, listing: Listing): SkillFile => ({
  filename: '.claude-plugin/plugin.json',
  bytes: new TextEncoder().encode(
    `${JSON.stringify({ name: BUNDLE, description: `Skills of ${describeScope(channel, listing)}` }, null, 2)}\n`,
  ),
})

/** The cache key of the archive of all skills; null where there are too few or too many for one. */
function describeBundle(channel: Channel, listing: Listing): { readonly key: string } | null {
  const files = listing.skills.flatMap((skill) =>
    skill.files.map((file) => ({ ...file, filename: `skills/${skill.name}/${file.filename}` })),
  )
  const size = files.reduce((sum, file) => sum + file.size, 0)
  if (listing.skills.length < 2 || files.length > MAX_BUNDLE_FILES || size > MAX_BUNDLE_BYTES) return null
  const plugin = pluginFile(channel, listing)
  return { key: archiveKey([{ filename: plugin.filename, sha256: hash('sha256', plugin.bytes) }, ...files]) }
}

async function readBundle(channel: Channel, call: Call, listing: Listing): Promise<SkillFile[]> {
  const files: SkillFile[] = [pluginFile(channel, listing)]
  for (const { id, name } of listing.skills) {
    const read = await channel.call(call)(readSharedFiles, { id })
    files.push(...read.files.map((file) => ({ ...file, filename: `skills/${name}/${file.filename}` })))
  }
  return files
}

async function packBundle(channel: Channel, call: Call, listing: Listing): Promise<Archive> {
  const bundle = describeBundle(channel, listing)
  if (!bundle) throw new AppError('not_found', 'There is no archive of all skills here; install them one by one.')
  return await channel.pack(bundle.key, () => readBundle(channel, call, listing))
}

/** The version of the index that this renders (agentskills.io, discovery 0.2.0). */
const SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json'
const MARKDOWN_TYPE = 'text/markdown; charset=utf-8'

/**
 * Skills by a well-known address, at the root and below every scope: the index of discovery 0.2 with files and archives beside it, and the
 * older form, which names each file.
 */
export function wellKnownRoutes(channel: Channel): BoundRoute[] {
  const route = { method: 'GET', kind: 'channel', cost: 5 } as const
  const artifact = { method: 'GET', kind: 'channel', cost: 1, queues: true } as const
  return [
    {
      ...route,
      path: '{scope}/.well-known/agent-skills/index.json',
      handle: async (call) =>
        answerBytes(call, await channel.render(call, 'index', (listing) => renderIndex(channel, call, listing)), JSON_TYPE),
    },
    {
      ...artifact,
      path: '{scope}/.well-known/agent-skills/{filename}',
      handle: async (call) => await sendArtifact(channel, call, call.params['filename'] ?? ''),
    },
    {
      ...route,
      path: '{scope}/.well-known/skills/index.json',
      handle: async (call) => answerBytes(call, await channel.render(call, 'file-index', renderFileIndex), JSON_TYPE),
    },
    {
      ...artifact,
      path: '{scope}/.well-known/skills/{filename}',
      handle: async (call) => {
        const path = call.params['filename'] ?? ''
        const slash = path.indexOf('/')
        return await sendFile(channel, call, path.slice(0, Math.max(0, slash)), path.slice(slash + 1))
      },
    },
  ]
}

/** Says in an index that it is cut. Clients ignore fields they do not know. */
const toNote = (note: string | null) => (note === null ? {} : { note })

async function renderIndex(channel: Channel, call: Call, { skills, cutNote }: Listing): Promise<unknown> {
  const entries: unknown[] = []
  for (const skill of skills) {
    const { name, description, files, check } = skill
    const [only] = files
    // A skill that is one file is given as that file; its digest is known already.
    const isFile = files.length === 1 && only !== undefined
    entries.push({
      name,
      type: isFile ? 'skill-md' : 'archive',
      description,
      url: isFile ? `${name}/${SKILL_MD}` : `${name}.zip`,
      digest: `sha256:${isFile ? only.sha256 : await channel.digest(call, skill)}`,
      ...(check && { check }),
    })
  }
  return { $schema: SCHEMA, ...toNote(cutNote), skills: entries }
}

/** Clients of the older form refuse a whole index for one name they do not like, and send names as they are. */
function isPlainName(filename: string): boolean {
  return !filename.includes('..') && !/[%?#\\]/.test(filename)
}

async function renderFileIndex({ skills, cutNote }: Listing): Promise<unknown> {
  return {
    ...toNote(cutNote),
    skills: skills
      .filter(({ files }) => files.every(({ filename }) => isPlainName(filename)))
      .map(({ name, description, files, archiveKey }) => ({
        name,
        description,
        // Some clients keep files until the version is another.
        version: Buffer.from(archiveKey, 'base64').toString('hex').slice(0, 16),
        files: files.map(({ filename }) => filename),
      })),
  }
}

async function sendArtifact(channel: Channel, call: Call, path: string): Promise<Answer> {
  const name = /^([^/]+)\.zip$/.exec(path)?.[1]
  if (name !== undefined) return await channel.sendArchive(call, await channel.find(call, name))
  const folder = path.endsWith(`/${SKILL_MD}`) ? path.slice(0, -SKILL_MD.length - 1) : null
  if (folder === null) throw missing()
  return await sendFile(channel, call, folder, SKILL_MD)
}

async function sendFile(channel: Channel, call: Call, name: string, filename: string): Promise<Answer> {
  const skill: ListedSkill = await channel.find(call, name)
  const {
    files: [file],
  } = await channel.call(call)(readSharedFiles, { id: skill.id, filename, ...atVersion(call, skill.version) })
  if (!file) throw missing()
  channel.countRead(call, skill, filename)
  return answerFile(call, file.bytes, typeOf(filename, file.bytes))
}

/** Markdown as such, other text as plain text, the rest as bytes. */
function typeOf(filename: string, bytes: Uint8Array): string {
  if (/\.md$/i.test(filename)) return MARKDOWN_TYPE
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return 'text/plain; charset=utf-8'
  } catch {
    return 'application/octet-stream'
  }
}

function missing(): AppError {
  return new AppError('not_found', 'File not found in this index.')
}
