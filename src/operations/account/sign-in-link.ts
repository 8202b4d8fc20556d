import { z } from 'zod'
import { AppError } from '../../errors.ts'
import type { Person } from '../../library/people.ts'
import { clientOf, defineProcedure, type Needs } from '../core/procedure.ts'

const tokenInput = z.string().min(1).max(200)

/** The person of a link that is good. @throws AppError `not_found`, `forbidden` for a suspended account */
async function requirePersonOf({ store }: Needs<'people'>, userId: string | null): Promise<Person> {
  const person = userId === null ? null : await store.people.findPerson(userId)
  if (!person) throw new AppError('not_found', 'This link is no longer valid. It works once, within ten minutes.')
  if (person.suspendedAt !== null) throw new AppError('forbidden', 'This account is suspended. Ask an administrator.')
  return person
}

/** A link that signs somebody in without a password or a provider: the way in when those do not work. */
export const createSignInLink = defineProcedure({
  scope: 'admin',
  writes: true,
  input: z.object({ username: z.string().max(64) }),
  async run({ store, logins, baseUrl }: Needs<'people' | 'arrivals', 'baseUrl' | 'logins'>, { username }) {
    const person = await store.people.findPersonByName(username)
    if (!person) throw new AppError('not_found', `User "${username.slice(0, 80)}" not found.`)
    if (person.suspendedAt !== null) throw new AppError('conflict', `The account of ${person.username} is suspended.`)
    await store.arrivals.ensureLogin(person.id)
    return { url: `${baseUrl}/sign-in/link?token=${await logins.createSignInToken(person.id)}` }
  },
})

/** Whom a link signs in; it stays good. */
export const showSignInLink = defineProcedure({
  scope: null,
  input: z.object({ token: tokenInput }),
  async run(context: Needs<'people', 'logins'>, { token }) {
    const { username } = await requirePersonOf(context, await context.logins.findSignInToken(token))
    return { username }
  },
})

/** Signs in by a link, which is used up. */
export const useSignInLink = defineProcedure({
  scope: null,
  writes: true,
  input: z.object({ token: tokenInput }),
  async run(context: Needs<'people', 'logins'>, { token }) {
    const person = await requirePersonOf(context, await context.logins.useSignInToken(token))
    const session = await context.logins.startSession(person.id, clientOf(context))
    context.count('sign_in')
    return session
  },
})
