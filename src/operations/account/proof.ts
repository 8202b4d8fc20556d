import { AppError, invalidInput } from '../../errors.ts'
import { FRESH_MINUTES } from '../../library/sign-in-ways.ts'
import type { Needs, UserActor } from '../core/procedure.ts'

/**
 * Has a signed-in person prove who they are once more: by the password, or where they have none, by having signed in just now.
 * @throws AppError `invalid_input` naming the field, `forbidden`, `rate_limited`
 */
export async function requireProof({ logins }: Needs<never, 'logins'>, user: UserActor, password: string): Promise<void> {
  if (await logins.hasPassword(user.userId)) {
    if (!(await logins.isPasswordOf(user.userId, password))) throw invalidInput('password', 'Wrong password.')
    return
  }
  if (await logins.isFreshSession(user.userId, user.sessionId)) return
  throw new AppError('forbidden', `This needs a sign-in of the last ${FRESH_MINUTES} minutes. Sign out, sign in again, and come back.`)
}
