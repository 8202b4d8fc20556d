import { hash } from 'node:crypto'
import type { CheckNote } from '../domain/check/policy.ts'
import type { Actor } from '../domain/people/actor.ts'
import { marketplaceName, scopePath } from '../domain/skills/channel-scope.ts'
import type { SkillFile } from '../domain/skills/skill.ts'
import { AppError } from '../errors.ts'
import type { BoundRoute, Call } from '../http/call.ts'
import { openArchive, sealArchives } from '../operations/channels/archive-tokens.ts'
import { readSharedFiles } from '../operations/channels/shared-items.ts'
import { answerBytes, answerFile, JSON_TYPE } from './answers.ts'
import { type Archive, archiveKey } from './archives.ts'
import type { Channel } from './channel.ts'
import type { Listing } from './listing.ts'

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
