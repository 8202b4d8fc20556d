import { z } from 'zod'
import { AppError, invalidInput } from '../../errors.ts'
import { ROLES } from '../../library/account.ts'
import { type Invite, PERSON_KINDS, type Person } from '../../library/people.ts'
import { usernameFault } from '../../library/username.ts'
import { DEFAULT_VISIBILITIES } from '../../library/visibility.ts'
import { defineOperation, type Needs, requireUser } from '../core/define-operation.ts'
import { pageInputs, pageOutputs, toPage } from '../core/inputs.ts'

const DAY_MS = 24 * 3600 * 1000
const when = z.string().meta({ format: 'date-time' })
const nameInput = z.string().max(64)
/** Who gets the items of an account that is deleted. */
export const handOverInput = z.string().max(64).optional().describe('Name of a user or team that gets the items instead')

/** A person as administrators see them. */
export const personRecord = z.object({
  username: z.string(),
  kind: z.enum(PERSON_KINDS).describe('Whether the person can sign in, or the name is reserved'),
  role: z.enum(ROLES),
  displayName: z.string().nullable(),
  email: z.string().nullable(),
  defaultVisibility: z.enum(DEFAULT_VISIBILITIES),
  createdAt: when,
  suspendedAt: when.nullable(),
  seenOn: z.string().meta({ format: 'date' }).nullable().describe('Day of the last use of a session or key, in UTC'),
})
/** An invite without its link. */
export const inviteRecord = z.object({
  id: z.string(),
  username: z.string().nullable(),
  role: z.enum(ROLES),
  createdAt: when,
  expiresAt: when,
  usedBy: z.string().nullable(),
  state: z.enum(['open', 'used', 'expired', 'revoked']),
})

function toPersonRecord(person: Person): z.infer<typeof personRecord> {
  const { username, role, displayName, email, defaultVisibility, createdAt, suspendedAt, seenOn } = person
  const kind = person.hasLogin ? 'login' : person.isPlaceholder ? 'placeholder' : 'reserved'
  return { username, kind, role, displayName, email, defaultVisibility, createdAt, suspendedAt, seenOn }
}

function toInviteRecord(invite: Invite, nowMs: number): z.infer<typeof inviteRecord> {
  const { id, username, role, createdAt, expiresAt, usedBy } = invite
  const isOver = Date.parse(expiresAt) <= nowMs
  const state = invite.revokedAt !== null ? 'revoked' : invite.usedAt !== null ? 'used' : isOver ? 'expired' : 'open'
  return { id, username, role, createdAt, expiresAt, usedBy, state }
}

export const listPeople = defineOperation({
  name: 'list_people',
  title: 'List people',
  summary: 'List everyone by name; matching keeps names that contain a text.',
  scope: 'admin',
  surfaces: {},
  input: z.object({ ...pageInputs, matching: z.string().max(64).optional(), kind: z.enum(PERSON_KINDS).optional() }),
  output: z.object({
    people: z.array(personRecord.extend({ items: z.number().int().describe('Owned, or with this imported author; without the trash') })),
    counts: z.record(z.enum(PERSON_KINDS), z.number().int()).describe('How many match, by kind'),
    ...pageOutputs,
  }),
  async run({ store }: Needs<'people'>, input) {
    const matching = input.matching || null
    const page = { limit: input.perPage, offset: (input.page - 1) * input.perPage, matching, kind: input.kind ?? null }
    const [{ items, total }, counts] = await Promise.all([store.people.listPeople(page), store.people.countPeople(matching)])
    const people = items.map((person) => ({ ...toPersonRecord(person), items: person.items }))
    return { people, counts: { ...counts }, ...toPage(input, total) }
  },
})

export const showPerson = defineOperation({
  name: 'show_person',
  title: 'Show a person',
  summary: 'A person, as administrators see them.',
  scope: 'admin',
  surfaces: {},
  input: z.object({ username: nameInput }),
  output: personRecord.extend({ hasFactors: z.boolean().describe('Whether there are passkeys, or codes are on') }),
  async run({ store, logins }: Needs<'people', 'logins'>, { username }) {
    const person = await store.people.findPersonByName(username)
    if (!person) throw new AppError('not_found', `User "${username.slice(0, 80)}" not found.`)
    const { codes, passkeys } = await logins.factors.find(person.id)
    return { ...toPersonRecord(person), hasFactors: codes !== null || passkeys.length > 0 }
  },
})

export const setRole = defineOperation({
  name: 'set_role',
  title: 'Set a role',
  summary: 'Grant or remove the admin role. Takes effect on their next request.',
  scope: 'admin',
  writes: true,
  surfaces: {},
  input: z.object({ username: nameInput, role: z.enum(ROLES) }),
  output: personRecord,
  async run({ store, logins }: Needs<'people', 'logins'>, { username, role }) {
    const person = await store.people.setRole(username, role)
    await logins.forgetSessions()
    return toPersonRecord(person)
  },
})

export const setSuspended = defineOperation({
  name: 'set_suspended',
  title: 'Suspend an account',
  summary: 'Suspend an account, or undo that. Its sessions end, and its keys and open invites stop working at once; what it owns stays.',
  scope: 'admin',
  writes: true,
  surfaces: {},
  input: z.object({ username: nameInput, isSuspended: z.boolean() }),
  output: personRecord,
  async run({ actor, store, logins }: Needs<'people', 'logins'>, { username, isSuspended }) {
    const person = await store.people.findPersonByName(username)
    if (isSuspended && person?.id === requireUser(actor).userId) throw new AppError('conflict', 'You cannot suspend your own account.')
    const changed = await store.people.setSuspended(username, isSuspended)
    if (isSuspended) await logins.endSessions(changed.id, null, true)
    else await logins.forgetSessions()
    return toPersonRecord(changed)
  },
})

export const signOutPerson = defineOperation({
  name: 'sign_out_person',
  title: 'Sign somebody out',
  summary: 'End all sessions of an account in browsers. Its keys keep working.',
  scope: 'admin',
  writes: true,
  surfaces: {},
  input: z.object({ username: nameInput }),
  output: z.object({ success: z.literal(true) }),
  async run({ store, logins }: Needs<'people', 'logins'>, { username }) {
    const person = await store.people.findPersonByName(username)
    if (!person?.hasLogin) throw new AppError('not_found', `"${username.slice(0, 64)}" has no account.`)
    await logins.endSessions(person.id, null)
    return { success: true as const }
  },
})

export const deletePerson = defineOperation({
  name: 'delete_person',
  title: 'Delete an account',
  summary:
    'Delete a person and everything they own for good, including the trash and all versions, or hand what they own to another user or team.',
  scope: 'admin',
  writes: true,
  cost: 20,
  surfaces: {},
  input: z.object({ username: nameInput, confirm: z.string().describe('The name again, to confirm'), handOverTo: handOverInput }),
  output: z.object({ success: z.literal(true), username: z.string() }),
  async run(context: Needs<'people', 'logins'>, { username, confirm, handOverTo }) {
    const person = await context.store.people.findPersonByName(username)
    if (!person || person.isPlaceholder) throw new AppError('not_found', `User "${username.slice(0, 80)}" not found.`)
    if (person.id === requireUser(context.actor).userId) {
      throw new AppError('conflict', 'This is your own account. Delete it in your settings.')
    }
    if (confirm !== person.username) throw invalidInput('confirm', `Type the name, ${person.username}, to confirm.`)
    try {
      await context.store.people.deletePerson(person.id, {
        isByAdmin: true,
        handOverTo: handOverTo || undefined,
        adminId: requireUser(context.actor).userId,
      })
    } finally {
      // They are over from its first step on, whatever comes of the others.
      await context.logins.forgetSessions()
    }
    return { success: true as const, username: person.username }
  },
})

/** Gives the items of a suspended account to others, and leaves the account. */
export const handOverPerson = defineOperation({
  name: 'hand_over_items',
  title: 'Hand over the items of a suspended account',
  summary: 'Give all items of a suspended account to another user or team, with their versions and addresses.',
  scope: 'admin',
  writes: true,
  cost: 20,
  surfaces: {},
  input: z.object({ username: nameInput, to: nameInput }),
  output: z.object({ items: z.number().int() }),
  async run({ actor, store }: Needs<'people'>, { username, to }) {
    const person = await store.people.findPersonByName(username)
    if (!person || person.isPlaceholder) throw new AppError('not_found', `User "${username.slice(0, 80)}" not found.`)
    return { items: await store.people.handOverItems(person.id, to, requireUser(actor).userId) }
  },
})

/** Creates a one-time sign-up link, shown only in this response. */
export const createInvite = defineOperation({
  name: 'create_invite',
  title: 'Invite a person',
  summary: 'Create an invite link for one account. A name limits it to that name, which may be reserved.',
  scope: 'admin',
  writes: true,
  surfaces: {},
  input: z.object({
    username: nameInput.optional(),
    role: z.enum(ROLES).default('user'),
    expiresInDays: z.number().int().min(1).max(90).default(7),
  }),
  output: z.object({ url: z.string(), invite: inviteRecord }),
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

export const listInvites = defineOperation({
  name: 'list_invites',
  title: 'List invites',
  summary: 'List invites, newest first.',
  scope: 'admin',
  surfaces: {},
  input: z.object(pageInputs),
  output: z.object({ invites: z.array(inviteRecord), ...pageOutputs }),
  async run({ store, clock }: Needs<'people', 'clock'>, input) {
    const { items, total } = await store.people.listInvites({ limit: input.perPage, offset: (input.page - 1) * input.perPage })
    return { invites: items.map((invite) => toInviteRecord(invite, clock())), ...toPage(input, total) }
  },
})

export const revokeInvite = defineOperation({
  name: 'revoke_invite',
  title: 'Revoke an invite',
  summary: 'Revoke an invite.',
  scope: 'admin',
  writes: true,
  surfaces: {},
  input: z.object({ id: z.string().max(255) }),
  output: z.object({ success: z.literal(true) }),
  async run({ store }: Needs<'people'>, { id }) {
    if (!(await store.people.revokeInvite(id))) throw new AppError('not_found', 'Invite not found.')
    return { success: true as const }
  },
})

/** Creates a password reset link for people without email. */
export const createResetLink = defineOperation({
  name: 'create_reset_link',
  title: 'Create a password reset link',
  summary: 'Create a link to set a new password, valid once within one hour.',
  scope: 'admin',
  writes: true,
  surfaces: {},
  input: z.object({ username: nameInput }),
  output: z.object({ url: z.string() }),
  async run({ store, logins, baseUrl, actor }: Needs<'people', 'baseUrl' | 'logins'>, { username }) {
    requireUser(actor)
    const person = await store.people.findPersonByName(username)
    if (!person?.hasLogin) throw new AppError('not_found', `"${username.slice(0, 64)}" has no account.`)
    return { url: `${baseUrl}/reset-password?token=${await logins.createResetToken(person.id, false)}` }
  },
})
