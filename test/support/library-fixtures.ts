import { SYSTEM } from '../../src/app.ts'
import { createApiKey, hashApiKey } from '../../src/auth/credentials.ts'
import type { Prompt, User } from '../../src/domain/items/items.ts'
import type { DefaultVisibility } from '../../src/domain/items/visibility.ts'
import { SCOPES } from '../../src/domain/people/actor.ts'
import { createStore, type LibraryStore } from '../../src/storage/store.ts'
import { importPrompts, importSkills } from '../../src/transfer/import-entries.ts'
import { openAt } from './engines.ts'
import { STARTER } from './real-data.ts'

/** Users, keys and prompts, written by the test's own process: starting the command line for each takes half a second. */

/** Opens a library's store, and closes it after `work`. Services that have it open find what was written, as after a command. */
async function withStore<Result>(databaseUrl: string, work: (store: LibraryStore) => Promise<Result>): Promise<Result> {
  const store = await createStore(openAt(databaseUrl), SYSTEM)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** The user of a name, made on first use. */
async function findOrCreateUser(store: LibraryStore, username: string, defaultVisibility: DefaultVisibility = 'private'): Promise<User> {
  return (await store.people.findUser(username)) ?? (await store.people.createUser({ username, defaultVisibility }))
}

/** Makes a user. Default visibility of their items: private. */
export async function createUser(databaseUrl: string, username: string, defaultVisibility: DefaultVisibility = 'private'): Promise<void> {
  await withStore(databaseUrl, (store) => store.people.createUser({ username, defaultVisibility }))
}

/** A key with every scope of a user, who is made on first use. */
export async function createKey(databaseUrl: string, username: string): Promise<string> {
  return await withStore(databaseUrl, async (store) => {
    const { id: userId } = await findOrCreateUser(store, username)
    const key = createApiKey()
    await store.keys.createKey({ name: 'test', userId, sha256: hashApiKey(key), scopes: SCOPES, expiresAt: null })
    return key
  })
}

/** Saves prompts of a user, who is made on first use, in one transaction. Default visibility: public. */
export async function savePrompts(
  databaseUrl: string,
  username: string,
  prompts: readonly { readonly title: string; readonly content: string; readonly visibility?: 'public' | 'private' }[],
): Promise<Prompt[]> {
  return await withStore(databaseUrl, (store) =>
    store.inTransaction(async (transaction) => {
      const { id: userId } = await findOrCreateUser(transaction, username)
      const saved: Prompt[] = []
      for (const prompt of prompts) {
        const fields = { description: null, category: null, tags: [], type: 'TEXT' as const, visibility: 'public' as const, ...prompt }
        saved.push(await transaction.items.createItem({ userId, note: null }, { kind: 'prompt', ...fields }))
      }
      return saved
    }),
  )
}

/** Imports the starter library for an owner; how many prompts and skills it has. All are public. */
export async function importStarter(databaseUrl: string, owner: string): Promise<{ promptCount: number; skillCount: number }> {
  return await withStore(databaseUrl, async (store) => {
    const prompts = await importPrompts(store, STARTER.promptsFile, { owner, visibility: 'public' })
    const skills = await importSkills(store, STARTER.skillsFolder, { owner, visibility: 'public' })
    return { promptCount: prompts.created, skillCount: skills.created }
  })
}
