import { z } from 'zod'
import { readCookie, writeCookie } from '../domain/sign-in/cookies.ts'
import type { Context } from '../operations/core/procedure.ts'

const COOKIE = 'flash'
/** A redirect is followed at once; this is for slow networks. */
const SHOWN_WITHIN_MS = 60_000

const sealed = z.object({ until: z.number(), value: z.unknown() })

/**
 * Carries a secret that is shown once, such as a new key, from the form that creates it to the next page, so that reloading creates no other.
 * Between the two the browser carries it in a cookie, sealed (AES-256-GCM) for one session and one page, for at most a minute; the page
 * removes it. The service stores it nowhere, every instance can open it, and it is in no address, log or history.
 */
export function createFlash({ sealer, clock, actor }: Context, cookies: string, baseUrl: string) {
  const session = actor.kind === 'user' ? actor.sessionId : undefined
  const purposeOf = (page: string) => `flash ${session} ${page}`
  const write = (value: string) => writeCookie(COOKIE, value, baseUrl, { maxAgeSeconds: SHOWN_WITHIN_MS / 1000, sameSite: 'Strict' })
  return {
    /** A `Set-Cookie` header with a value for one page; null for anonymous readers. */
    put(page: string, value: unknown): string | null {
      if (session === undefined) return null
      return write(sealer.seal(purposeOf(page), JSON.stringify({ until: clock() + SHOWN_WITHIN_MS, value })))
    },
    /** The value for a page, which is given once, with the header that removes it; null when there is none. */
    take<T>(page: string, shape: z.ZodType<T>): { readonly value: T; readonly cookie: string } | null {
      const token = session === undefined ? null : readCookie(COOKIE, cookies, baseUrl)
      const text = token === null ? null : sealer.open(purposeOf(page), token)
      if (text === null) return null
      const { until, value } = sealed.parse(JSON.parse(text))
      const parsed = shape.safeParse(value)
      return parsed.success && clock() <= until ? { value: parsed.data, cookie: write('') } : null
    },
  }
}
