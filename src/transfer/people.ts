import { AppError } from '../errors.ts'
import type { User } from '../library/items.ts'
import type { LibraryStore } from '../library/ports/store.ts'
import { usernameFault } from '../library/username.ts'

/** Finds the people an import names, making who is missing; remembers them, so that each is asked for once. */
export interface People {
  /**
   * The owner of the imported items, created if missing.
   * @throws AppError `invalid_input` for a name that cannot own
   */
  findOwner(store: LibraryStore, username: string): Promise<User>
  /** The author of an entry: the owner when it names nobody or the owner, else the placeholder of the first name. */
  findAuthor(store: LibraryStore, owner: User, contributors: readonly string[]): Promise<{ authorId: string; others: readonly string[] }>
  /** Names of the owners that were made. */
  readonly madeOwners: readonly string[]
}

/** One person who imports for themselves: everything is theirs, whoever a file names. */
export function onlyThemselves(user: User): People {
  return {
    madeOwners: [],
    findOwner: () => Promise.resolve(user),
    findAuthor: (_store, _owner, contributors) => Promise.resolve({ authorId: user.id, others: contributors }),
  }
}

export function createPeople(): People {
  const owners = new Map<string, User>()
  const placeholders = new Map<string, User>()
  const madeOwners: string[] = []
  return {
    madeOwners,
    async findOwner(store, username) {
      const key = username.toLowerCase()
      const cached = owners.get(key)
      if (cached) return cached
      let user = await store.people.findUser(username)
      const fault = user ? null : usernameFault(username)
      if (fault) throw new AppError('invalid_input', `The username "${username.slice(0, 80)}" ${fault}.`)
      if (user?.isPlaceholder)
        throw new AppError(
          'invalid_input',
          `"${user.username}" is an imported author without an account and cannot own items. Use another user.`,
        )
      if (!user) {
        user = await store.people.createUser({ username, defaultVisibility: 'private' })
        madeOwners.push(user.username)
      }
      owners.set(key, user)
      return user
    },
    async findAuthor(store, owner, contributors) {
      const [first, ...others] = contributors
      if (first === undefined || first.toLowerCase() === owner.username.toLowerCase()) return { authorId: owner.id, others }
      const key = first.toLowerCase()
      const cached = placeholders.get(key)
      if (cached) return { authorId: cached.id, others }
      const placeholder = await store.people.ensurePlaceholder(first)
      placeholders.set(key, placeholder)
      return { authorId: placeholder.id, others }
    },
  }
}
