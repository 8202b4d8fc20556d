import { z } from 'zod'
import { DEFAULT_VISIBILITIES } from '../../domain/items/visibility.ts'
import { bioField, displayNameField, emailField, languageField, passwordFault, websiteField } from '../../domain/people/account.ts'
import { privateReaderId } from '../../domain/people/actor.ts'
import type { Person } from '../../domain/people/people.ts'
import { USAGE_PARTS } from '../../domain/people/usage.ts'
import { toExportEntry, toExportLine } from '../../domain/service/transfer.ts'
import { describeBrowser } from '../../domain/sign-in/logins.ts'
import { toFileContent } from '../../domain/skills/skill.ts'
import { isId } from '../../domain/text/addresses.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { handOverInput } from '../admin/people.ts'
import { clearable, collectionInput, refInput, searchBoth, toCleared } from '../core/inputs.ts'
import { defineProcedure, defineWrite, type Needs, requireUser, type UserActor } from '../core/procedure.ts'
import { MAX_BULK } from '../items/own-items.ts'
import { revokeKeysInput } from './keys.ts'
import { requireProof } from './provider-sign-in.ts'

/** A person's account data, for that person. */
function toAccountRecord(person: Person) {
  const { username, role, displayName, bio, website, email, defaultVisibility, language, createdAt } = person
  return { username, role, displayName, bio, website, email, defaultVisibility, language, createdAt }
}

async function requirePerson({ store }: Needs<'people'>, user: UserActor): Promise<Person> {
  const person = await store.people.findPerson(user.userId)
  if (!person) throw new AppError('unauthenticated', 'This account has been deleted.')
  return person
}

/** Your account data and the browsers you are signed in with. */
export const showAccount = defineProcedure({
  scope: 'account',
  async run(context: Needs<'people' | 'own', 'logins'>) {
    const user = requireUser(context.actor)
    const sessions = await context.logins.listSessions(user.userId)
    const { used, quota } = await context.store.own.readUsage(user.userId)
    return {
      ...toAccountRecord(await requirePerson(context, user)),
      hasPassword: await context.logins.hasPassword(user.userId),
      sessions: sessions.map((session) => ({
        id: session.id,
        isThis: session.id === user.sessionId,
        browser: describeBrowser(session.userAgent),
        isNew: session.isUnseen && session.id !== user.sessionId,
        address: session.address,
        createdAt: session.createdAt,
        lastUsedAt: session.updatedAt,
      })),
      keeps: USAGE_PARTS.map((part) => ({ part, used: used[part], limit: quota[part] })),
    }
  },
})

/** Change your profile, default visibility and language. An empty text removes a field; a new email address needs the password. */
export const updateAccount = defineWrite({
  scope: 'account',
  input: z.object({
    displayName: clearable(displayNameField),
    bio: clearable(bioField),
    website: clearable(websiteField),
    email: clearable(emailField),
    defaultVisibility: z.enum(DEFAULT_VISIBILITIES).optional(),
    language: clearable(languageField),
    password: z.string().optional().describe('Required to change the email address, which can reset the password'),
  }),
  async run(context: Needs<'people', 'logins'>, { password, ...change }) {
    const user = requireUser(context.actor)
    const person = await requirePerson(context, user)
    const email = toCleared(change.email)
    const isNewEmail = email !== undefined && email !== person.email
    if (isNewEmail) await requireProof(context, user, password ?? '')
    const changed = await context.store.people.changeProfile(user.userId, {
      displayName: toCleared(change.displayName),
      bio: toCleared(change.bio),
      website: toCleared(change.website),
      defaultVisibility: change.defaultVisibility,
      language: toCleared(change.language),
      email: isNewEmail ? email : undefined,
    })
    // They went to the old address.
    if (isNewEmail) await context.logins.endResetLinks(user.userId)
    return toAccountRecord(changed)
  },
})

/** Set a new password, or the first one; all other sessions end. */
export const changePassword = defineWrite({
  scope: 'account',
  input: z.object({ password: z.string().default(''), newPassword: z.string(), revokeKeys: revokeKeysInput }),
  async run(context: Needs<'keys' | 'people', 'logins'>, { password, newPassword, revokeKeys }) {
    const user = requireUser(context.actor)
    const person = await requirePerson(context, user)
    const fault = await passwordFault(newPassword, [person.username, person.email ?? ''])
    if (fault) throw invalidInput('newPassword', `The new password ${fault}.`)
    await requireProof(context, user, password)
    await context.logins.setPassword(user.userId, newPassword, user.sessionId ?? null)
    if (revokeKeys) await context.store.keys.revokeEverything(person.id)
  },
})

/** End one of your sessions, or all others. Takes effect on the next request. */
export const endSessions = defineWrite({
  scope: 'account',
  input: z.object({
    id: z.string().max(255).optional().describe('Default: all other sessions'),
    programs: z.boolean().default(false).describe('Also disconnect all programs that signed in, when all other sessions end'),
  }),
  async run({ actor, logins, store }: Needs<'keys', 'logins'>, { id, programs }) {
    const user = requireUser(actor)
    if (id === undefined) {
      await logins.endSessions(user.userId, user.sessionId ?? null)
      const held = programs ? await store.keys.listKeys(user.username) : []
      for (const key of held) if (key.clientId !== null && key.revokedAt === null) await store.keys.revokeKey(key.id)
    } else if (!(await logins.endSession(user.userId, id))) throw new AppError('not_found', 'Session not found.')
  },
})

/** Items of one answer of an export: few, as skills come with all their files. */
const EXPORT_PAGE = { prompts: 100, skills: 5 } as const

/** Your prompts or skills, or some of them by id, in the import format, in parts. */
export const exportOwnItems = defineProcedure({
  scope: 'account',
  input: z.object({
    collection: collectionInput,
    after: z.number().int().min(0).default(0),
    ids: z.array(refInput).max(MAX_BULK).optional(),
  }),
  async run({ actor, store }: Needs<'transfer'>, { collection, after, ids }) {
    const { userId } = requireUser(actor)
    const limit = EXPORT_PAGE[collection]
    const nextOf = (page: readonly { readonly order: number }[]) => (page.length < limit ? null : (page.at(-1)?.order ?? null))
    if (collection === 'prompts') {
      const page = await store.transfer.exportPrompts(userId, after, limit, ids)
      return { lines: page.map(toExportLine), skills: [], next: nextOf(page) }
    }
    const page = await store.transfer.exportSkills(userId, after, limit, ids)
    const skills = page.map(({ files, ...exported }) => ({ entry: toExportEntry(exported), files: files.map(toFileContent) }))
    return { lines: [], skills, next: nextOf(page) }
  },
})

/** Delete your account and everything you own for good, including the trash and all versions, or hand what you own to a team you maintain. */
export const deleteAccount = defineWrite({
  scope: 'account',
  input: z.object({
    password: z.string().default(''),
    username: z.string().describe('Your username, to confirm'),
    handOverTo: handOverInput,
  }),
  async run(context: Needs<'people', 'logins'>, { password, username, handOverTo }) {
    const user = requireUser(context.actor)
    if (username !== user.username) throw invalidInput('username', `Type your username, ${user.username}, to confirm.`)
    await requireProof(context, user, password)
    await context.store.people.deletePerson(user.userId, { handOverTo: handOverTo || undefined })
  },
})

/** A profile of a person or a team, visible to the person, to members of the team, and to readers who can see an item of theirs. */
export const showProfile = defineProcedure({
  scope: null,
  input: z.object({ username: refInput }),
  async run(context: Needs<'items' | 'people' | 'teams'>, { username }) {
    const { actor, store } = context
    const team = await store.teams.findTeam(username)
    const person = team ? null : await store.people.findPersonByName(username)
    const request = { query: null, filter: { authors: [team?.name ?? username] }, sort: 'newest', limit: 1, offset: 0 } as const
    const [prompts, skills] = await searchBoth(context, request)
    const isSelf = actor.kind === 'user' && actor.userId === person?.id
    const readerId = privateReaderId(actor)
    const isMember = team !== null && readerId !== null && (await store.teams.findTeamRole(readerId, team.id)) !== null
    const isSeen = prompts.total + skills.total > 0 || isSelf || isMember
    const shown = team ? { ...team, username: team.name, bio: team.description, website: null } : person
    if (!shown || !isSeen) throw new AppError('not_found', 'User not found.')
    const { username: name, displayName, bio, website } = shown
    return { username: name, displayName, bio, website, prompts: prompts.total, skills: skills.total, isTeam: team !== null, isMember }
  },
})

/** Which of the first steps you have done, and whether you have hidden them. */
export const showFirstSteps = defineProcedure({
  scope: 'account',
  run: async ({ actor, store }: Needs<'people'>) => await store.people.readFirstSteps(requireUser(actor).userId),
})

/** Hide the first steps on your home page for good. */
export const hideFirstSteps = defineProcedure({
  scope: 'account',
  async run({ actor, store }: Needs<'people'>) {
    await store.people.hideFirstSteps(requireUser(actor).userId)
  },
})

/** Longest draft, in UTF-16 units: the longest prompt and a better text for it, written as JSON. */
const MAX_DRAFT = 2_500_000

const kind = z.enum(['form', 'bulk']).default('form').describe('bulk: of an action on many items')

/** Keeps a form between two pages, so that the second one is reached by a redirect and the way back shows the first as it was. */
export const keepFormDraft = defineProcedure({
  scope: 'account',
  input: z.object({ kind, body: z.string() }),
  async run({ actor, store }: Needs<'formDrafts'>, input) {
    if (input.body.length > MAX_DRAFT) throw new AppError('too_large', 'The form is too large for a preview. Save it or shorten the text.')
    return { id: await store.formDrafts.saveFormDraft(requireUser(actor).userId, input.kind, input.body) }
  },
})

/** Your unfinished form; null once it has expired. */
export const showFormDraft = defineProcedure({
  scope: 'account',
  input: z.object({ kind, id: refInput }),
  async run({ actor, store }: Needs<'formDrafts'>, input) {
    const { userId } = requireUser(actor)
    return { body: isId(input.id) ? await store.formDrafts.findFormDraft(userId, input.kind, input.id.toLowerCase()) : null }
  },
})
