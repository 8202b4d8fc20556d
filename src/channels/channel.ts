import { createHash, hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Zip, ZipPassThrough } from 'fflate'
import { LRUCache } from 'lru-cache'
import { createRevisionCaches } from '../cache/answer-cache.ts'
import type { SharedSkill } from '../domain/items/items.ts'
import { isSlug } from '../domain/items/slug.ts'
import { type Actor, readerKey } from '../domain/people/actor.ts'
import { type ChannelScope, parseScope, scopePath } from '../domain/skills/channel-scope.ts'
import { fileMode, SKILL_MD, type SkillFile } from '../domain/skills/skill.ts'
import { AppError } from '../errors.ts'
import type { Answer, AnswerHeaders } from '../exchange.ts'
import { answerWithEtag } from '../http/answers.ts'
import type { Call, MakeContext } from '../http/route.ts'
import { listSharedSkills, readSharedFiles } from '../operations/channels/shared-items.ts'
import { type CallOperation, callLocally } from '../operations/core/define-operation.ts'
import type { Output } from '../operations/core/procedure.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'
/** How long others may keep a public answer: what is in it can be withdrawn (contract, "Keys"). */
const MAX_AGE = 'public, max-age=60'

/** Bytes of a channel, with an ETag; 304 to who has them. Answers to keys and links get their own caching on the way out. */
export function answerBytes({ exchange }: Call, bytes: Uint8Array, type: string, headers: AnswerHeaders = {}): Answer {
  return answerWithEtag(exchange, { 'content-type': type, 'cache-control': MAX_AGE, ...headers }, bytes)
}

/** A file for saving: no browser shows it as a page of this service. */
export function answerFile(call: Call, bytes: Uint8Array, type: string): Answer {
  return answerBytes(call, bytes, type, { 'content-disposition': 'attachment', 'content-security-policy': "default-src 'none'; sandbox" })
}

/** Bytes of archives kept in memory. */
const MAX_BYTES = 64 * 1024 * 1024
/** Digests of archives kept in memory, some 200 bytes each. */
const MAX_DIGESTS = 100_000

/** A file as it is known before its bytes are read. */
export interface FileDigest {
  readonly filename: string
  /** In hex. */
  readonly sha256: string
  readonly mode?: number | null | undefined
}

/** An archive of files. The same files give the same bytes. */
export interface Archive {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** In hex. */
  readonly sha256: string
}

function sha256Of(bytes: Uint8Array): string {
  return hash('sha256', bytes)
}

/** Names files by what is in them: what the archive of them is kept under. */
export function archiveKey(files: readonly FileDigest[]): string {
  const key = createHash('sha256')
  for (const { filename, sha256, mode } of files) key.update(`${sha256} ${mode ?? ''} ${filename}\n`)
  return key.digest('base64')
}

type ReadFiles = () => Promise<readonly SkillFile[]>

/** Archives of skills and of several of them, made once and kept within bounds. */
function createArchives() {
  const archives = new LRUCache<string, Archive>({ maxSize: MAX_BYTES, sizeCalculation: ({ bytes }) => bytes.length })
  const digests = new LRUCache<string, string>({ maxSize: MAX_DIGESTS, sizeCalculation: () => 1 })
  const pending = new Map<string, Promise<{ readonly key: string; readonly archive: Archive }>>()

  const make = async (read: ReadFiles) => {
    const files = await read()
    const bytes = await storeFiles(files)
    const archive = { bytes, sha256: sha256Of(bytes) }
    // Files that were changed after the listing was read have another key.
    const actualKey = archiveKey(files.map((file) => ({ ...file, sha256: sha256Of(file.bytes) })))
    archives.set(actualKey, archive)
    digests.set(actualKey, archive.sha256)
    return { key: actualKey, archive }
  }
  const get = async (key: string, read: ReadFiles): Promise<Archive> => {
    const known = archives.get(key)
    if (known) return known
    const running = pending.get(key)
    if (running) {
      // What another reader's files have become meanwhile is not for this one.
      const made = await running.catch(() => null)
      return made?.key === key ? made.archive : (await make(read)).archive
    }
    const making = make(read).finally(() => pending.delete(key))
    pending.set(key, making)
    return (await making).archive
  }
  return {
    get,
    /** The digest of an archive's bytes, in hex; makes the archive when it is not known. */
    digest: async (key: string, read: ReadFiles): Promise<string> => digests.get(key) ?? (await get(key, read)).sha256,
  }
}

/**
 * Packs files uncompressed, other work between them. What stands in the archive depends on the files alone: no time, no machine and no
 * version of a compressor.
 */
async function storeFiles(files: readonly SkillFile[]): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  const zip = new Zip((error, piece) => {
    if (error) throw error
    pieces.push(piece)
  })
  for (const file of files) {
    const entry = new ZipPassThrough(file.filename)
    // The first moment a zip can name. It is read by the local calendar, so it is made by the local calendar.
    entry.mtime = new Date(1980, 0, 1)
    entry.os = 3
    entry.attrs = (0o100000 | fileMode(file)) << 16
    zip.add(entry)
    entry.push(file.bytes, true)
    await nextTurn()
  }
  zip.end()
  return new Uint8Array(Buffer.concat(pieces))
}

/** Most skills in one listing, the oldest. */
const MAX_SKILLS = 20_000
/** Files of a skill that take as much as the skill itself, some 1 KB. */
const FILES_A_SKILL = 5
/** Skills kept in all listings together. */
const MAX_KEPT = 80_000

/** A skill under the name it has in one listing. */
export interface ListedSkill extends Omit<SharedSkill, 'described'> {
  readonly name: string
  readonly description: string
  /** The cache key of its archive. */
  readonly archiveKey: string
}

/** The skills that one caller may see within a scope. */
export interface Listing {
  readonly scope: ChannelScope
  /** Oldest first. */
  readonly skills: readonly ListedSkill[]
  readonly byName: ReadonlyMap<string, ListedSkill>
  /** Says that there are more skills than a listing holds; null where there are none. */
  readonly cutNote: string | null
  /** Its renderings by name, kept with it. */
  readonly rendered: Map<string, Promise<Uint8Array>>
}

/** Listings, kept for each actor and scope until the library changes. */
function createListings(readRevision: () => Promise<number>, maxSkills = MAX_SKILLS) {
  const caches = createRevisionCaches(readRevision)
  const listings = caches.create<Listing>('listings', MAX_KEPT)
  const pending = new Map<string, Promise<Listing>>()
  const readWhole = async (actor: Actor, call: CallOperation, scope: ChannelScope): Promise<Listing> => {
    const revision = await caches.refresh()
    const key = JSON.stringify([readerKey(actor), scopePath(scope)])
    const known = listings.get(key) ?? pending.get(`${revision} ${key}`)
    if (known) return await known
    const making = readListing(call, scope, maxSkills).finally(() => pending.delete(`${revision} ${key}`))
    pending.set(`${revision} ${key}`, making)
    const listing = await making
    listings.put(revision, key, listing, sizeOf(listing))
    return listing
  }
  /** Makes the listing of a scope for one actor. @throws AppError `not_found` when there is nothing in it */
  return async (actor: Actor, call: CallOperation, scope: ChannelScope): Promise<Listing> => {
    const { only, ...whole } = scope
    const found = await readWhole(actor, call, whole)
    const listing = only === undefined ? found : selectOne(found, only)
    // A part of the library with nothing in it is not told from one that is not there; the whole library always is.
    if (listing.skills.length === 0 && scope.kind !== 'all') throw new AppError('not_found', 'No skills found here.')
    return listing
  }
}

/** The listing of one skill out of a larger one. */
function selectOne(listing: Listing, name: string): Listing {
  const skill = listing.byName.get(name)
  const skills = skill ? [skill] : []
  return { ...listing, scope: { ...listing.scope, only: name }, skills, byName: new Map(skill && [[name, skill]]), rendered: new Map() }
}

/** The weight of a listing: its skills, and their files by the weight they have beside them. */
function sizeOf({ skills }: Listing): number {
  return skills.reduce((sum, { files }) => sum + 1 + Math.ceil(files.length / FILES_A_SKILL), 1)
}

async function readListing(call: CallOperation, scope: ChannelScope, maxSkills: number): Promise<Listing> {
  const found: SharedSkill[] = []
  let next: number | null = 0
  while (next !== null && found.length < maxSkills) {
    const page: Output<typeof listSharedSkills> = await call(listSharedSkills, { scope: scopePath(scope), after: next })
    found.push(...page.skills)
    next = page.next
    await nextTurn()
  }
  const skills = nameSkills(found.slice(0, maxSkills))
  const isCut = next !== null || found.length > maxSkills
  const cutNote = isCut
    ? `Only the ${maxSkills} oldest skills are listed. Those of authors, tags, categories and collections list others.`
    : null
  return { scope, skills, byName: new Map(skills.map((skill) => [skill.name, skill])), cutNote, rendered: new Map() }
}

/**
 * Gives each skill its name: public ones the name they keep, then the others the name in their SKILL.md, or their slug where that is taken.
 * Skills that break the specification, or have no name that clients accept, are left out.
 */
function nameSkills(skills: readonly SharedSkill[]): ListedSkill[] {
  const named: ListedSkill[] = []
  const taken = new Set(skills.flatMap(({ channelName }) => channelName ?? []))
  for (const { described, ...skill } of skills) {
    if (described.fault !== null) continue
    const own = taken.has(described.name) ? skill.slug : described.name
    const name = skill.channelName ?? own
    if (!isChannelName(name)) continue
    taken.add(name)
    named.push({ ...skill, name, description: described.description, archiveKey: archiveKey(skill.files) })
  }
  return named
}

/** Whether clients accept a name: the rule of the specification. Ids, which are slugs of titles without letters, pass it too. */
function isChannelName(name: string): boolean {
  return isSlug(name) || /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(name)
}

/** The parts of the service that channels use. */
export interface ChannelParts {
  readonly makeContext: MakeContext
  readonly readRevision: () => Promise<number>
  /** The name of the service. */
  readonly name: string
  /** Its public address, without a slash at the end. */
  readonly baseUrl: string
  /** Most skills that an index or marketplace lists. Default: 20,000 */
  readonly maxSkills?: number
}

/** The shared parts of channels: one listing, one set of archives. */
export type Channel = ReturnType<typeof createChannel>

/** The parts that channels share, over one library. */
export function createChannel({ makeContext, readRevision, name, baseUrl, maxSkills }: ChannelParts) {
  const readListing = createListings(readRevision, maxSkills)
  const archives = createArchives()
  const encoder = new TextEncoder()
  const callFor = (call: Call): CallOperation => callLocally(() => makeContext(call.actor))
  const readerOf =
    (call: Call, { id, version }: ListedSkill) =>
    async () =>
      (await callFor(call)(readSharedFiles, { id, ...atVersion(call, version) })).files
  const list = async (call: Call): Promise<Listing> => {
    const scope = parseScope(call.params['scope'] ?? '')
    if (!scope) throw new AppError('not_found', 'Nothing found at this address.')
    return await readListing(call.actor, callFor(call), scope)
  }
  const countRead = (call: Call, { id }: ListedSkill, filename: string): void => {
    if (filename === SKILL_MD) makeContext(call.actor).count('read', { id })
  }
  const packSkill = async (call: Call, skill: ListedSkill): Promise<Archive> => {
    const archive = await archives.get(skill.archiveKey, readerOf(call, skill))
    countRead(call, skill, SKILL_MD)
    return archive
  }
  return {
    name,
    baseUrl,
    /** Calls operations as the caller of a request. */
    call: callFor,
    /** The listing of the caller within the scope of the request's path. @throws AppError `not_found` */
    list,
    /** A skill of it by its name. @throws AppError `not_found` */
    async find(call: Call, skillName: string): Promise<ListedSkill> {
      const skill = (await list(call)).byName.get(skillName)
      if (!skill) throw new AppError('not_found', 'Skill not found.')
      return skill
    },
    /** A rendering of the listing as JSON in UTF-8, made once for each listing. */
    async render(call: Call, rendering: string, render: (listing: Listing) => Promise<unknown>): Promise<Uint8Array> {
      const listing = await list(call)
      return await keepIn(listing, rendering, async () => encoder.encode(`${JSON.stringify(await render(listing))}\n`))
    },
    /** Bytes made from the listing, once for each listing. */
    keep: async (call: Call, rendering: string, make: () => Promise<Uint8Array>) => await keepIn(await list(call), rendering, make),
    /** SHA-256 of the archive of a skill, in hex. */
    digest: (call: Call, skill: ListedSkill) => archives.digest(skill.archiveKey, readerOf(call, skill)),
    packSkill,
    /** SHA-256 in hex of an archive of other files. */
    digestOf: archives.digest,
    pack: archives.get,
    sendArchive: async (call: Call, skill: ListedSkill) => answerFile(call, (await packSkill(call, skill)).bytes, 'application/zip'),
    /** Counts a skill as read by a program: once, with its SKILL.md or its archive. */
    countRead,
  }
}

/** The version whose files are meant, where the address names a label. */
export function atVersion(call: Call, version: number): { version?: number } {
  return parseScope(call.params['scope'] ?? '')?.label === undefined ? {} : { version }
}

async function keepIn({ rendered }: Listing, name: string, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
  const known = rendered.get(name)
  if (known) return await known
  const making = make()
  rendered.set(name, making)
  making.catch(() => rendered.delete(name))
  return await making
}
