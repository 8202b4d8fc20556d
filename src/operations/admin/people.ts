import { z } from 'zod'
import { ROLES, usernameFault } from '../../domain/people/account.ts'
import { type Invite, PERSON_KINDS, type Person, type PersonKind } from '../../domain/people/people.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { pageInputs, toLimits, toPage } from '../core/inputs.ts'
import { defineProcedure, defineWrite, type Needs, requireUser } from '../core/procedure.ts'

const DAY_MS = 24 * 3600 * 1000
const nameInput = z.string().max(64)
/** The receiver of the items of a deleted account. */
export const handOverInput = z.string().max(64).optional().describe('Name of a user or team that gets the items instead')

/** A person as administrators see them. */
function toPersonRecord(person: Person) {
  const { username, role, displayName, email, defaultVisibility, createdAt, suspendedAt, seenOn } = person
  const kind: PersonKind = person.hasLogin ? 'login' : person.isPlaceholder ? 'placeholder' : 'reserved'
  return { username, kind, role, displayName, email, defaultVisibility, createdAt, suspendedAt, seenOn }
}

/** An invite without its link. */
function toInviteRecord(invite: Invite, nowMs: number) {
  const { id, username, role, createdAt, expiresAt, usedBy } = invite
  const isOver = Date.parse(expiresAt) <= nowMs
  const usable = isOver ? ('expired' as const) : ('open' as const)
  const state = invite.revokedAt !== null ? ('revoked' as const) : invite.usedAt !== null ? ('used' as const) : usable
  return { id, username, role, createdAt, expiresAt, usedBy, state }
}

/** Somebody by name. @throws AppError `not_found`, also for authors of imported items where those are not meant */
export async function requirePerson({ people }: Needs<'people'>['store'], name: string, takesPlaceholders = true): Promise<Person> {
  const person = await people.findPersonByName(name)
  if (!person || (person.isPlaceholder && !takesPlaceholders)) throw new AppError('not_found', `User "${name.slice(0, 80)}" not found.`)
  return person
}

/** Somebody who can sign in. @throws AppError `not_found` */
export async function requireLogin({ people }: Needs<'people'>['store'], name: string): Promise<Person> {
  const person = await people.findPersonByName(name)
  if (!person?.hasLogin) throw new AppError('not_found', `"${name.slice(0, 64)}" has no account.`)
  return person
}

/** List everyone by name; matching keeps names that contain a text. */
export const listPeople = defineProcedure({
  scope: 'admin',
  input: z.object({ ...pageInputs, matching: z.string().max(64).optional(), kind: z.enum(PERSON_KINDS).optional() }),
  async run({ store }: Needs<'people'>, input) {
    const matching = input.matching || null
    const page = { ...toLimits(input), matching, kind: input.kind ?? null }
    const [{ items, total }, counts] = await Promise.all([store.people.listPeople(page), store.people.countPeople(matching)])
    const people = items.map((person) => ({ ...toPersonRecord(person), items: person.items }))
    return { people, counts: { ...counts }, ...toPage(input, total) }
  },
})

/** A person, as administrators see them. */
export const showPerson = defineProcedure({
  scope: 'admin',
  input: z.object({ username: nameInput }),
  async run({ store, logins }: Needs<'people', 'logins'>, { username }) {
    const person = await requirePerson(store, username)
    const { codes, passkeys } = await logins.factors.find(person.id)
    return { ...toPersonRecord(person), hasFactors: codes !== null || passkeys.length > 0 }
  },
})

/** Grant or remove the admin role. Takes effect on their next request. */
export const setRole = defineWrite({
  scope: 'admin',
  input: z.object({ username: nameInput, role: z.enum(ROLES) }),
  async run({ store }: Needs<'people'>, { username, role }) {
    return toPersonRecord(await store.people.setRole(username, role))
  },
})

/** Suspend an account, or undo that. Its sessions end, and its keys and open invites stop working at once; what it owns stays. */
export const setSuspended = defineWrite({
  scope: 'admin',
  input: z.object({ username: nameInput, isSuspended: z.boolean() }),
  async run({ actor, store, logins }: Needs<'people', 'logins'>, { username, isSuspended }) {
    const person = await store.people.findPersonByName(username)
    if (isSuspended && person?.id === requireUser(actor).userId) throw new AppError('conflict', 'You cannot suspend your own account.')
    const changed = await store.people.setSuspended(username, isSuspended)
    if (isSuspended) await logins.endSessions(changed.id, null, true)
    return toPersonRecord(changed)
  },
})

/** End all sessions of an account in browsers. Its keys keep working. */
export const signOutPerson = defineWrite({
  scope: 'admin',
  input: z.object({ username: nameInput }),
  async run({ store, logins }: Needs<'people', 'logins'>, { username }) {
    const person = await requireLogin(store, username)
    await logins.endSessions(person.id, null)
  },
})

/** Delete a person and everything they own for good, including the trash and all versions, or hand what they own to another user or team. */
export const deletePerson = defineWrite({
  scope: 'admin',
  input: z.object({ username: nameInput, confirm: z.string().describe('The name again, to confirm'), handOverTo: handOverInput }),
  async run({ actor, store }: Needs<'people'>, { username, confirm, handOverTo }) {
    const person = await requirePerson(store, username, false)
    const { userId: adminId } = requireUser(actor)
    if (person.id === adminId) {
      throw new AppError('conflict', 'This is your own account. Delete it in your settings.')
    }
    if (confirm !== person.username) throw invalidInput('confirm', `Type the name, ${person.username}, to confirm.`)
    await store.people.deletePerson(person.id, { isByAdmin: true, handOverTo: handOverTo || undefined, adminId })
    return { username: person.username }
  },
})

/** Gives the items of a suspended account to others, and leaves the account. */
export const handOverItems = defineWrite({
  scope: 'admin',
  input: z.object({ username: nameInput, to: nameInput }),
  async run({ actor, store }: Needs<'people'>, { username, to }) {
    const person = await requirePerson(store, username, false)
    return { items: await store.people.handOverItems(person.id, to, requireUser(actor).userId) }
  },
})

/** Creates a one-time sign-up link, shown only in this response. */
export const createInvite = defineWrite({
  scope: 'admin',
  input: z.object({
    username: nameInput.optional(),
    role: z.enum(ROLES).default('user'),
    expiresInDays: z.number().int().min(1).max(90).default(7),
  }),
  async run({ store, secrets, clock, baseUrl }: Needs<'people' | 'teams', 'baseUrl' | 'clock' | 'secrets'>, input) {
    const username = input.username || null
    const holder = username === null ? null : await store.people.findPersonByName(username)
    const fault = username === null || holder ? null : usernameFault(username)
    if (fault) throw invalidInput('username', `The name ${fault}.`)
    if (username !== null && !holder && (await store.teams.hasTeamName(username))) {
      throw invalidInput('username', `"${username}" is, or was, the name of a team, which nobody signs in as.`)
    }
    if (holder?.hasLogin) throw invalidInput('username', `${holder.username} already has an account.`)
    const { token, sha256 } = secrets.makeToken()
    const expiresAt = new Date(clock() + input.expiresInDays * DAY_MS).toISOString()
    const invite = await store.people.createInvite({ sha256, username: holder?.username ?? username, role: input.role, expiresAt })
    return { url: `${baseUrl}/sign-up?invite=${token}`, invite: toInviteRecord(invite, clock()) }
  },
})

/** List invites, newest first. */
export const listInvites = defineProcedure({
  scope: 'admin',
  input: z.object(pageInputs),
  async run({ store, clock }: Needs<'people', 'clock'>, input) {
    const { items, total } = await store.people.listInvites({ ...toLimits(input) })
    return { invites: items.map((invite) => toInviteRecord(invite, clock())), ...toPage(input, total) }
  },
})

/** Revoke an invite. */
export const revokeInvite = defineWrite({
  scope: 'admin',
  input: z.object({ id: z.string().max(255) }),
  async run({ store }: Needs<'people'>, { id }) {
    if (!(await store.people.revokeInvite(id))) throw new AppError('not_found', 'Invite not found.')
  },
})

/** Creates a password reset link for people without email. */
export const createResetLink = defineWrite({
  scope: 'admin',
  input: z.object({ username: nameInput }),
  async run({ store, logins, baseUrl, actor }: Needs<'people', 'baseUrl' | 'logins'>, { username }) {
    requireUser(actor)
    const person = await requireLogin(store, username)
    return { url: `${baseUrl}/reset-password?token=${await logins.createResetToken(person.id, false)}` }
  },
})
