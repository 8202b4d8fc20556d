import { z } from 'zod'
import type { OAuthServer } from '../../auth/oauth/oauth-server.ts'
import { keyNameField, ROLES } from '../../domain/people/account.ts'
import { type Actor, DEFAULT_SCOPES, SCOPES, type Within } from '../../domain/people/actor.ts'
import type { Clock } from '../../domain/ports/environment.ts'
import { CONNECTION_SECONDS, type StoredKey } from '../../domain/sign-in/keys.ts'
import { AppError, invalidInput } from '../../errors.ts'
import type { LibraryStore } from '../../storage/store.ts'
import { noCollection } from '../collections/collections.ts'
import { defineOperation } from '../core/define-operation.ts'
import { filterText, refInput, requireOwner } from '../core/inputs.ts'
import { clientOf, defineProcedure, defineWrite, type Needs, requireUser } from '../core/procedure.ts'
import { when } from '../core/records.ts'

/** Collections that one key can be narrowed to. */
const MAX_NARROWED = 20
const DAY_MS = 24 * 3600 * 1000
/** Whether a new password also revokes the person's keys. */
export const revokeKeysInput = z.boolean().default(false)

/** How long keys and install links work, in their records. */
export const lifetimeRecord = {
  createdAt: when,
  lastUsedAt: when.nullable(),
  expiresAt: when.nullable(),
  state: z.enum(['active', 'expired', 'revoked']),
}

/** A key without the key itself. */
const keyRecord = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  narrowedTo: z
    .array(z.string())
    .nullable()
    .describe('The team, as @NAME, or the collections it sees nothing outside of; null for everything'),
  program: z.string().nullable().describe('The OAuth client that holds it; null for a key that a person holds'),
  ...lifetimeRecord,
})

/** The fields that records of keys and of install links share. */
export function toLifetime({ id, name, createdAt, lastUsedAt, expiresAt, revokedAt }: StoredKey, nowMs: number) {
  const isOver = expiresAt !== null && Date.parse(expiresAt) <= nowMs
  const state: 'active' | 'expired' | 'revoked' = revokedAt !== null ? 'revoked' : isOver ? 'expired' : 'active'
  return { id, name, createdAt, lastUsedAt, expiresAt, state }
}

/** Those that work first. */
export function sortWorking<T extends { readonly state: string }>(records: readonly T[]): T[] {
  return records.toSorted((a, b) => Number(a.state !== 'active') - Number(b.state !== 'active'))
}

function toKeyRecord(key: StoredKey, narrowedTo: string[] | null, nowMs: number): z.infer<typeof keyRecord> {
  return { ...toLifetime(key, nowMs), scopes: [...key.scopes], narrowedTo, program: key.clientId }
}

type Stores = Pick<LibraryStore, 'items' | 'collections'>

/** Gives the names of what keys are narrowed to, as far as their owner sees them. The collections of all of them are looked up at once. */
async function readNames(store: Stores, actor: Actor, all: readonly (Within | null)[]) {
  const ids = new Set(all.flatMap((within) => (within && 'collections' in within ? within.collections : [])))
  const collections = await store.collections.nameCollections(actor, [...ids])
  return async (within: Within | null): Promise<string[] | null> => {
    if (within === null) return null
    if ('collections' in within) return within.collections.flatMap((id) => collections.get(id)?.title ?? [])
    const team = await store.items.findOwner(requireUser(actor).userId, { id: within.team })
    return team ? [`@${team.name}`] : []
  }
}

/** A key without the key itself, and with the names of what it is narrowed to, as far as `actor` sees them. */
export async function describeKey(
  { store, clock }: { readonly store: Stores; readonly clock: Clock },
  actor: Actor,
  key: StoredKey,
): Promise<z.infer<typeof keyRecord>> {
  const nameWithin = await readNames(store, actor, [key.within])
  return toKeyRecord(key, await nameWithin(key.within), clock())
}

/** A person's own keys: those that work first, then the newest. */
export const listKeys = defineProcedure({
  scope: 'account',
  async run({ actor, store, clock }: Needs<'keys' | 'items' | 'collections', 'clock'>) {
    const { username } = requireUser(actor)
    const stored = await store.keys.listKeys(username)
    const limits = stored.map(({ within }) => within)
    const nameWithin = await readNames(store, actor, limits)
    const keys: z.infer<typeof keyRecord>[] = []
    for (const key of stored.toReversed()) keys.push(toKeyRecord(key, await nameWithin(key.within), clock()))
    return { keys: sortWorking(keys) }
  },
})

/** The account of a key: programs ask for it to see whether their key works, and for what. */
export const whoAmI = defineOperation({
  name: 'whoami',
  title: 'Who you are here',
  summary: 'Your account, and the API key you sent: its name, its scopes, what it is narrowed to and when it expires.',
  scope: 'any',
  surfaces: { rest: 'GET /api/me', cli: 'whoami' },
  input: z.object({}),
  output: z.object({
    username: z.string(),
    displayName: z.string().nullable(),
    role: z.enum(ROLES).describe('Of the account; no key can do what administrators do'),
    scopes: z.array(z.enum(SCOPES)).describe('What this call may do'),
    key: keyRecord.nullable().describe('null for an operator who acts as this user on the command line'),
  }),
  async run({ actor, store, clock }: Needs<'keys' | 'people' | 'items' | 'collections', 'clock'>) {
    const { userId, keyId, scopes } = requireUser(actor)
    const person = await store.people.findPerson(userId)
    if (!person) throw new AppError('unauthenticated', 'This account has been deleted.')
    const { username, displayName, role } = person
    const stored = keyId === undefined ? undefined : (await store.keys.listKeys(username)).find(({ id }) => id === keyId)
    const key = stored ? await describeKey({ store, clock }, actor, stored) : null
    return { username, displayName, role, scopes: SCOPES.filter((scope) => scopes.has(scope)), key }
  },
})

/**
 * The restriction of a key.
 * @throws AppError `not_found` for a team that the user is not in and for a collection that the user does not see
 */
export async function readWithin(
  store: Stores,
  actor: Actor,
  { team, collections = [] }: { readonly team?: string | undefined; readonly collections?: readonly string[] | undefined },
): Promise<Within | null> {
  if (team !== undefined && collections.length > 0) throw invalidInput('collections', 'team and collections cannot be combined; give one.')
  if (team !== undefined) {
    const owner = await requireOwner(store, requireUser(actor).userId, team)
    if (!owner.isTeam) throw invalidInput('team', `${owner.name} is no team.`)
    return { team: owner.id }
  }
  if (collections.length === 0) return null
  const found = await store.collections.nameCollections(actor, collections)
  const ids = collections.map((ref) => {
    const collection = found.get(ref)
    if (!collection) throw noCollection()
    return collection.id
  })
  return { collections: [...new Set(ids)] }
}

/** Makes a key; this answer is the only place it is ever shown. */
export const createKey = defineWrite({
  scope: 'account',
  input: z.object({
    name: keyNameField,
    scopes: z
      .array(z.enum(SCOPES))
      .min(1)
      .default([...SCOPES]),
    expiresInDays: z.number().int().min(1).max(3650).optional(),
    team: filterText.describe('Name of a team you are in: the key sees nothing but its items'),
    collections: z.array(refInput).max(MAX_NARROWED).optional().describe('Collections: the key sees nothing but what is in them'),
  }),
  async run({ actor, store, clock, secrets }: Needs<'keys' | 'items' | 'collections', 'clock' | 'secrets'>, input) {
    const user = requireUser(actor)
    const within = await readWithin(store, actor, input)
    const { key, sha256 } = secrets.makeKey()
    const expiresAt = input.expiresInDays === undefined ? null : new Date(clock() + input.expiresInDays * DAY_MS).toISOString()
    const made = { name: input.name, userId: user.userId, sha256, scopes: [...new Set(input.scopes)], expiresAt, within }
    const stored = await store.keys.createKey(made)
    return { key, record: await describeKey({ store, clock }, actor, stored) }
  },
})

/** Revokes a person's own key; felt on its next request. */
export const revokeKey = defineWrite({
  scope: 'account',
  input: z.object({ id: z.string().max(255) }),
  async run({ actor, store }: Needs<'keys'>, { id }) {
    const own = (await store.keys.listKeys(requireUser(actor).username)).find((key) => key.id === id)
    if (!own) throw new AppError('not_found', 'API key not found.')
    await store.keys.revokeKey(id)
    return { name: own.name }
  },
})

const queryInput = z.string().min(1).max(8_000).describe('The query of the consent page, which is signed')

type Uses = Needs<never, 'oauth'>

function requireOAuth(oauth: OAuthServer | null): OAuthServer {
  if (!oauth) throw new AppError('not_found', 'Programs do not sign in to this service.')
  return oauth
}

async function requireRequest(oauth: OAuthServer, query: string) {
  const request = await oauth.describeRequest(query)
  if (!request) throw new AppError('not_found', 'Unknown program. Start again from the program that sent you.')
  return request
}

/** The request of a program to its user. */
export const showProgramRequest = defineProcedure({
  scope: 'account',
  input: z.object({ query: queryInput }),
  async run({ oauth }: Uses, { query }) {
    const request = await requireRequest(requireOAuth(oauth), query)
    const { name, publishedBy, returnsTo, scopes } = request
    return { name, publishedBy, returnsTo, scopes: [...scopes] }
  },
})

/** Lets a program act for its user: it gets a key of theirs, which it reaches by tokens. */
export const connectProgram = defineWrite({
  scope: 'account',
  input: z.object({
    query: queryInput,
    scopes: z.array(z.enum(DEFAULT_SCOPES)).min(1, 'choose at least one permission'),
    team: filterText.describe('Name of a team you are in: the program sees nothing but its items'),
    collections: z.array(refInput).max(MAX_NARROWED).optional().describe('Collections: the program sees nothing but what is in them'),
  }),
  async run(context: Needs<'keys' | 'items' | 'collections', 'oauth' | 'clock'>, input) {
    const { actor, store, clock } = context
    const oauth = requireOAuth(context.oauth)
    const { userId, sessionId = null } = requireUser(actor)
    const within = await readWithin(store, actor, input)
    const request = await requireRequest(oauth, input.query)
    const scopes = request.scopes.filter((scope) => input.scopes.some((one) => one === scope))
    if (scopes.length === 0) throw new AppError('invalid_input', 'The program did not ask for these permissions.')
    const { to, keyId } = await oauth.allow(input.query, scopes, { userId, client: clientOf(context) })
    // The code in the address is of no use until the key is there.
    await store.keys.createKey({
      name: request.name,
      userId,
      // Nobody has the key itself.
      sha256: `connection ${keyId}`,
      scopes,
      expiresAt: new Date(clock() + CONNECTION_SECONDS * 1000).toISOString(),
      within,
      connection: { id: keyId, clientId: request.clientId, madeBy: sessionId },
    })
    return { to }
  },
})

/** Says no to a program. */
export const refuseProgram = defineProcedure({
  scope: 'account',
  input: z.object({ query: queryInput }),
  run: async (context: Uses, { query }) => ({
    to: await requireOAuth(context.oauth).refuse(query, { userId: requireUser(context.actor).userId, client: clientOf(context) }),
  }),
})
