import type { User } from '../domain/items/items.ts'
import { usernameFault } from '../domain/people/username.ts'
import { AppError } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'
import type { ExportedTeams } from './export-lists.ts'

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
