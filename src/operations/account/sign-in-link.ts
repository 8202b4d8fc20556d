import { z } from 'zod'
import { AppError } from '../../errors.ts'
import type { Person } from '../../library/people.ts'
import { defineOperation, type Needs } from '../core/define-operation.ts'
import { clientOf } from './client-of.ts'

const tokenInput = z.string().min(1).max(200)
const cookies = z.array(z.string()).describe('Set-Cookie headers')

/** The person of a link that is good. @throws AppError `not_found`, `forbidden` for a suspended account */
async function requirePersonOf({ store }: Needs<'people'>, userId: string | null): Promise<Person> {
  const person = userId === null ? null : await store.people.findPerson(userId)
  if (!person) throw new AppError('not_found', 'This link is no longer valid. It works once, within ten minutes.')
  if (person.suspendedAt !== null) throw new AppError('forbidden', 'This account is suspended. Ask an administrator.')
  return person
}

/** A link that signs somebody in without a password or a provider: the way in when those do not work. */
export const createSignInLink = defineOperation({
  name: 'create_sign_in_link',
  title: 'Create a sign-in link',
  summary: 'A link that signs somebody in once, within ten minutes.',
  scope: 'admin',
  writes: true,
  surfaces: {},
  input: z.object({ username: z.string().max(64) }),
  output: z.object({ url: z.string() }),
  async run({ store, logins, baseUrl }: Needs<'people' | 'arrivals', 'baseUrl' | 'logins'>, { username }) {
    const person = await store.people.findPersonByName(username)
    if (!person) throw new AppError('not_found', `User "${username.slice(0, 80)}" not found.`)
    if (person.suspendedAt !== null) throw new AppError('conflict', `The account of ${person.username} is suspended.`)
    await store.arrivals.ensureLogin(person.id)
    return { url: `${baseUrl}/sign-in/link?token=${await logins.createSignInToken(person.id)}` }
  },
})

/** Whom a link signs in; it stays good. */
export const showSignInLink = defineOperation({
  name: 'show_sign_in_link',
  title: 'Check a sign-in link',
  summary: 'Show whom a sign-in link signs in.',
  scope: null,
  surfaces: {},
  input: z.object({ token: tokenInput }),
  output: z.object({ username: z.string() }),
  async run(context: Needs<'people', 'logins'>, { token }) {
    const { username } = await requirePersonOf(context, await context.logins.findSignInToken(token))
    return { username }
  },
})

/** Signs in by a link, which is used up. */
export const useSignInLink = defineOperation({
  name: 'use_sign_in_link',
  title: 'Sign in by a link',
  summary: 'Sign in with a sign-in link, which is used up.',
  scope: null,
  writes: true,
  surfaces: {},
  input: z.object({ token: tokenInput }),
  output: z.object({ cookies }),
  async run(context: Needs<'people', 'logins'>, { token }) {
    const person = await requirePersonOf(context, await context.logins.useSignInToken(token))
    const session = await context.logins.startSession(person.id, clientOf(context))
    context.count('sign_in')
    return session
  },
})
