import { writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { categoryNameField } from '../domain/items/fields.ts'
import type { User } from '../domain/items/items.ts'
import { isSlug } from '../domain/items/slug.ts'
import { DEFAULT_VISIBILITIES, VISIBILITIES } from '../domain/items/visibility.ts'
import { displayNameField, usernameFault } from '../domain/people/account.ts'
import { teamDescriptionField } from '../domain/people/teams.ts'
import type { ExportedTeam, Hold } from '../domain/service/transfer.ts'
import { AppError } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'
import { readRegularFile } from './skill-folder.ts'

/** Largest list that is read, in bytes, and largest index of skills. */
const MAX_BYTES = 16 * 1024 * 1024
const MAX_INDEX_BYTES = 256 * 1024 * 1024

const slugField = z.string().refine(isSlug)
const categoriesList = z.array(z.object({ slug: slugField, name: categoryNameField, parent: slugField.nullable() }))
const teamsList = z.array(
  z.object({
    name: z.string(),
    displayName: displayNameField.nullable(),
    description: teamDescriptionField.nullable(),
    newItems: z.enum(DEFAULT_VISIBILITIES),
  }),
)
const skillMetadata = z.object({
  title: z.string().optional(),
  description: z.string().nullable().optional(),
  category: z.string().nullable().optional(),
  tags: z.array(z.string()).optional(),
  owner: z.string().optional(),
  author: z.string().optional(),
  contributors: z.array(z.string()).optional(),
  visibility: z.enum(VISIBILITIES).optional(),
  id: z.string().optional(),
  slug: z.string().optional(),
  createdAt: z.iso.datetime().optional(),
  updatedAt: z.iso.datetime().optional(),
})
const hold = { heldAt: z.iso.datetime().optional(), heldFrom: z.literal('public').nullable().optional() }
const skillsIndex = z.array(skillMetadata.extend({ folder: z.string(), ...hold }))

/** Metadata of a skill outside its folder, from an export or the starter library. */
export type SkillMetadata = Readonly<z.infer<typeof skillMetadata>> & { readonly held?: Hold | undefined }
/** The entries of the index of skills. */
export type SkillsIndex = z.infer<typeof skillsIndex>
/** Teams by name in lower case. */
export type ExportedTeams = ReadonlyMap<string, ExportedTeam>

/** Writes a list of an export. */
export async function writeList(path: string, list: readonly unknown[], mode: number): Promise<void> {
  await writeFile(path, `${JSON.stringify(list, null, 2)}\n`, { flush: true, mode })
}

/** Reads a list of an export; null where there is none. @throws AppError `invalid_input` when the file is no export */
async function readList<T>(path: string, what: string, schema: z.ZodType<T>, maxBytes = MAX_BYTES): Promise<T | null> {
  const bytes = await readRegularFile(path, maxBytes)
  if (bytes === null) return null
  try {
    return schema.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch (error) {
    throw new AppError('invalid_input', `${path} is not a list of ${what} written by export.`, { cause: error })
  }
}

/**
 * Creates the missing categories of an export; existing ones stay unchanged. A category whose parent is a child here becomes top-level.
 * @returns the slugs it created
 * @throws AppError `invalid_input` when the file is no export
 */
export async function importCategories(store: LibraryStore, path: string): Promise<string[]> {
  const wanted = await readList(path, 'categories', categoriesList)
  if (wanted === null) return []
  return await store.inTransaction(async (transaction) => {
    const parents = new Map((await transaction.transfer.exportCategories()).map(({ slug, parent }) => [slug, parent]))
    const made: string[] = []
    for (const { slug, name, parent } of wanted) {
      if (parents.has(slug)) continue
      const category = { slug, name, parent: parent !== null && parents.get(parent) === null ? parent : null }
      await transaction.categories.createCategory(category)
      parents.set(slug, category.parent)
      made.push(slug)
    }
    return made
  })
}

/**
 * Reads which owners of an export are teams.
 * @returns null for an export of an earlier version, which does not say
 * @throws AppError `invalid_input` when the file is no export
 */
export async function readTeams(path: string): Promise<ExportedTeams | null> {
  const teams = await readList(path, 'teams', teamsList)
  return teams && new Map(teams.map((team) => [team.name.toLowerCase(), team]))
}

/** Reads the index of skills, by their folders; empty where there is none. @throws AppError `invalid_input` when the file is no export */
export async function readSkillsIndex(path: string): Promise<Map<string, SkillMetadata>> {
  const index = (await readList(path, 'skills', skillsIndex, MAX_INDEX_BYTES)) ?? []
  return new Map(
    index.map(({ folder, heldAt, heldFrom = null, ...entry }) => [
      folder,
      heldAt === undefined ? entry : { ...entry, held: { at: heldAt, from: heldFrom } },
    ]),
  )
}

/** Finds the people an import names, making who is missing; remembers them, so that each is asked for once. */
export interface People {
  /**
   * The owner of the imported items, created if missing.
   * @throws AppError `invalid_input` for a name that cannot own
   */
  findOwner(store: LibraryStore, username: string): Promise<User>
  /** The author of an entry: the owner when it names nobody or the owner, a member of the team that owns it, else the placeholder of the first name. */
  findAuthor(store: LibraryStore, owner: User, contributors: readonly string[]): Promise<{ authorId: string; others: readonly string[] }>
  /** Names of the users that were made as owners. */
  readonly madeOwners: readonly string[]
  /** Names of the teams that were made as owners. */
  readonly madeTeams: readonly string[]
}

/** One person who imports for themselves: everything is theirs, whoever a file names. */
export function onlyThemselves(user: User): People {
  return {
    madeOwners: [],
    madeTeams: [],
    findOwner: () => Promise.resolve(user),
    findAuthor: (_store, _owner, contributors) => Promise.resolve({ authorId: user.id, others: contributors }),
  }
}

/** The owners that an export names. */
export interface ExportedOwners {
  /** Which of them are teams; null: it does not say. */
  readonly teams: ExportedTeams | null
  /** Names of all owners, in lower case: no placeholder takes one of them. */
  readonly owners: ReadonlySet<string>
}

export function createPeople({ teams, owners: named }: ExportedOwners = { teams: null, owners: new Set() }): People {
  const owners = new Map<string, User>()
  const authors = new Map<string, string>()
  const madeOwners: string[] = []
  const madeTeams: string[] = []
  const findOwner = async (store: LibraryStore, username: string): Promise<User> => {
    const key = username.toLowerCase()
    const cached = owners.get(key)
    if (cached) return cached
    const team = teams?.get(key)
    let user = await findNamed(store, username, team !== undefined)
    if (user) await requireSameKind(store, user, teams === null ? null : team !== undefined)
    else {
      const fault = usernameFault(username)
      if (fault) throw new AppError('invalid_input', `The username "${username.slice(0, 80)}" ${fault}.`)
      const defaultVisibility = team?.newItems ?? 'private'
      user = await store.people.createUser({ username, defaultVisibility, ...(team && { team }) })
      const made = team ? madeTeams : madeOwners
      made.push(user.username)
    }
    owners.set(key, user)
    return user
  }
  return {
    madeOwners,
    madeTeams,
    findOwner,
    async findAuthor(store, owner, contributors) {
      const [first, ...others] = contributors
      const isOwner = first === undefined || first.toLowerCase() === owner.username.toLowerCase()
      // The owner can have another name here: a team that was renamed.
      if (isOwner || owners.get(first.toLowerCase())?.id === owner.id) return { authorId: owner.id, others }
      const key = `${owner.isTeam ? owner.id : ''} ${first.toLowerCase()}`
      let authorId = authors.get(key)
      if (authorId === undefined) {
        if (named.has(first.toLowerCase()) && usernameFault(first) === null) await findOwner(store, first)
        authorId = (await findMember(store, owner, first)) ?? (await store.people.ensurePlaceholder(first)).id
        authors.set(key, authorId)
      }
      return { authorId, others }
    },
  }
}

/** Whoever has a name; a team that was renamed has its earlier names too. */
async function findNamed(store: LibraryStore, username: string, isTeam: boolean): Promise<User | null> {
  const user = await store.people.findUser(username)
  if (user || !isTeam) return user
  const team = await store.teams.findTeam(username)
  return team && (await store.people.findUser(team.name))
}

/**
 * @param isTeam what the export says; null: nothing
 * @throws AppError `invalid_input` for a name that cannot own, or is of a person in one library and of a team in the other
 */
async function requireSameKind(store: LibraryStore, user: User, isTeam: boolean | null): Promise<void> {
  const refuse = (why: string): never => {
    throw new AppError('invalid_input', `"${user.username}" ${why}. Use another user.`)
  }
  if (user.isPlaceholder) refuse('is an imported author without an account and cannot own items')
  if (isTeam === true && !user.isTeam) refuse('is a team in the export and a person here')
  if (isTeam === false && user.isTeam) refuse('is a person in the export and a team here')
  if (user.isTeam && (await store.teams.findTeam(user.username)) === null) refuse('is a team that was deleted here')
}

/** The account of an author of team items, as long as it is in the team. */
async function findMember(store: LibraryStore, owner: User, name: string): Promise<string | null> {
  if (!owner.isTeam) return null
  const user = await store.people.findUser(name)
  return user && (await store.teams.findTeamRole(user.id, owner.id)) !== null ? user.id : null
}
