import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Clock } from '../../domain/ports/environment.ts'
import { isObject } from '../../domain/text/json.ts'
import { initializeRequest } from '../messages.ts'

/** Lifetime of a session. */
const LIFETIME_MS = 24 * 3_600_000
/** Largest token, in characters; a client that declares more is served without a session. */
const MAX_TOKEN = 1024
const PURPOSE = 'mcp session'
/** How much of a client's name or version is kept. */
const NAME_LENGTH = 64

const claims = z.object({
  id: z.string(),
  owner: z.string(),
  endsAt: z.number(),
  protocolVersion: z.string(),
  /** The capabilities a server may use; what clients declare beside them stays out. */
  capabilities: z.object({
    elicitation: z.object({ form: z.object({}).optional(), url: z.object({}).optional() }).optional(),
    sampling: z.object({}).optional(),
  }),
  clientInfo: z.object({ name: z.string(), version: z.string() }),
})

/** A session as its token states it. */
export type SessionClaims = z.infer<typeof claims>

const clientInfo = z.object({ clientInfo: z.object({ name: z.string(), version: z.string() }) })

/** Seals and opens the tokens that are the ids of sessions. A token grants nothing: each request proves who its caller is. */
export type SessionTokens = ReturnType<typeof createSessionTokens>

/** @param sealer see `createSealer`; processes that share its key take each other's tokens */
export function createSessionTokens(
  sealer: { seal(purpose: string, text: string): string; open(purpose: string, token: string): string | null },
  clock: Clock,
) {
  return {
    /** The token of a new session; null when `initialize` declares more than a token holds. */
    seal(initialize: unknown, owner: string): string | null {
      const { protocolVersion, capabilities, ...rest } = initializeRequest.parse(initialize).params
      const named = clientInfo.safeParse(rest).data?.clientInfo ?? { name: '', version: '' }
      const { elicitation, sampling } = capabilities
      const modes = elicitation && { ...('form' in elicitation ? { form: {} } : {}), ...('url' in elicitation ? { url: {} } : {}) }
      const token = sealer.seal(
        PURPOSE,
        JSON.stringify({
          id: randomBytes(16).toString('base64url'),
          owner: digestOf(owner),
          endsAt: clock() + LIFETIME_MS,
          protocolVersion,
          capabilities: { ...(modes ? { elicitation: modes } : {}), ...(isObject(sampling) ? { sampling: {} } : {}) },
          clientInfo: { name: named.name.slice(0, NAME_LENGTH), version: named.version.slice(0, NAME_LENGTH) },
        } satisfies SessionClaims),
      )
      return token.length > MAX_TOKEN ? null : token
    },
    /** The claims of a token; null when it is not ours, has ended, or belongs to another owner. */
    open(token: string, owner: string): SessionClaims | null {
      const text = token.length > MAX_TOKEN ? null : sealer.open(PURPOSE, token)
      // A process of another version may have sealed it.
      const session = text === null ? undefined : claims.safeParse(JSON.parse(text)).data
      return session?.owner === digestOf(owner) && session.endsAt > clock() ? session : null
    },
  }
}

/** An owner, in few characters: by their key, or by their person and program, whose keys change with its permissions. */
function digestOf(owner: string): string {
  return createHash('sha256')
    .update(owner.replace(/ key \S+ program /, ' program '))
    .digest('base64url')
}
