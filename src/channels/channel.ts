import { parseScope } from '../domain/skills/channel-scope.ts'
import { SKILL_MD } from '../domain/skills/skill.ts'
import { AppError } from '../errors.ts'
import type { Call, MakeContext } from '../http/call.ts'
import { readSharedFiles } from '../operations/channels/shared-items.ts'
import { type CallOperation, callLocally } from '../operations/core/invoke.ts'
import { answerFile } from './answers.ts'
import { type Archive, createArchives } from './archives.ts'
import { createListings, type ListedSkill, type Listing } from './listing.ts'

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
