import { createHash } from 'node:crypto'
import { z } from 'zod'
import { readCookie, writeCookie } from '../../library/cookies.ts'
import type { Clock } from '../../library/ports/environment.ts'
import type { FactorSealer } from './factors.ts'

const COOKIE = 'commonplace.second-step'
const PURPOSE = 'second step'
/** How long somebody whose password was right has for the second step. */
const STEP_SECONDS = 300

const stateShape = z.object({ userId: z.string(), isRemembered: z.boolean(), password: z.string(), until: z.number() })

/** Whose password was right, and how they want to be signed in. */
interface SecondStep {
  readonly userId: string
  readonly isRemembered: boolean
}

/** What a browser holds between the password and the second step: a sealed cookie, which is no session. */
export interface SecondSteps {
  /** @param passwordHash the stored form of the password that was right: another one ends the step */
  make(step: SecondStep, passwordHash: string): string
  /** The step of a browser; null when there is none, or it is over. */
  find(cookies: string, findPasswordHash: (userId: string) => Promise<string | null>): Promise<SecondStep | null>
  /** The Set-Cookie header that ends it. */
  readonly end: string
}

export function createSecondSteps(settings: {
  readonly sealer: FactorSealer
  readonly clock: Clock
  readonly baseUrl: string
}): SecondSteps {
  const { sealer, clock, baseUrl } = settings
  const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 22)
  const write = (value: string) => writeCookie(COOKIE, value, baseUrl, { maxAgeSeconds: STEP_SECONDS, sameSite: 'Lax' })
  return {
    make: (step, passwordHash) =>
      write(sealer.seal(PURPOSE, JSON.stringify({ ...step, password: digest(passwordHash), until: clock() + STEP_SECONDS * 1000 }))),
    async find(cookies, findPasswordHash) {
      const opened = sealer.open(PURPOSE, readCookie(COOKIE, cookies, baseUrl) ?? '')
      if (opened === null) return null
      const { userId, isRemembered, password, until } = stateShape.parse(JSON.parse(opened))
      if (until < clock()) return null
      const hash = await findPasswordHash(userId)
      return hash !== null && digest(hash) === password ? { userId, isRemembered } : null
    },
    end: write(''),
  }
}
