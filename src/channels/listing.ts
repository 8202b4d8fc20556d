import { setImmediate as nextTurn } from 'node:timers/promises'
import { createRevisionCaches } from '../cache/revision-cache.ts'
import type { SharedSkill } from '../domain/items/items.ts'
import { isSlug } from '../domain/items/slug.ts'
import { type Actor, readerKey } from '../domain/people/actor.ts'
import { type ChannelScope, scopePath } from '../domain/skills/channel-scope.ts'
import { AppError } from '../errors.ts'
import { listSharedSkills } from '../operations/channels/shared-items.ts'
import type { CallOperation } from '../operations/core/invoke.ts'
import type { Output } from '../operations/core/procedure.ts'
import { archiveKey } from './archives.ts'

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
export function createListings(readRevision: () => Promise<number>, maxSkills = MAX_SKILLS) {
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
