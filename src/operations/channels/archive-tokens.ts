import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { withinOf, withinSchema } from '../../domain/people/actor.ts'
import { AppError } from '../../errors.ts'
import { refInput } from '../core/inputs.ts'
import { defineProcedure, type Needs, requireUser } from '../core/procedure.ts'

/** Tokens made before others are served. */
const SEALED_AT_ONCE = 100
/** The purpose of sealed tokens. */
const PURPOSE = 'archive'
/** How long a token works: clients fetch an archive right after its address. */
const MAX_AGE_MS = 10 * 60_000

const archive = { scope: refInput, name: z.string().max(255), sha256: z.string().length(64) }
const tokenJson = z.object({
  ...archive,
  userId: z.string(),
  username: z.string(),
  keyId: z.string(),
  mayRead: z.boolean(),
  within: withinSchema.nullable(),
  until: z.number(),
})

/** An address for clients that send a key with an index and none with the archives it names. */
export const sealArchives = defineProcedure({
  scope: null,
  input: z.object({ archives: z.array(z.object(archive)) }),
  async run({ actor, sealer, clock }: Needs<never, 'sealer' | 'clock'>, { archives }) {
    const { userId, username, keyId, scopes } = requireUser(actor)
    if (keyId === undefined) throw new AppError('forbidden', 'Only an API key gets tokens for archives.')
    const until = clock() + MAX_AGE_MS
    const reader = { userId, username, keyId, mayRead: scopes.has('read'), within: withinOf(actor), until }
    const tokens: string[] = []
    for (const one of archives) {
      tokens.push(sealer.seal(PURPOSE, JSON.stringify({ ...one, ...reader })))
      if (tokens.length % SEALED_AT_ONCE === 0) await nextTurn()
    }
    return { tokens }
  },
})

/** The archive of a token, while it and the key it was given to work. */
export const openArchive = defineProcedure({
  scope: null,
  input: z.object({ token: z.string().max(4096) }),
  async run({ sealer, clock, store }: Needs<'keys', 'sealer' | 'clock'>, { token }) {
    const opened = tokenJson.safeParse(JSON.parse(sealer.open(PURPOSE, token) ?? 'null'))
    const isOver = !opened.success || opened.data.until <= clock() || (await store.keys.findOverKeys([opened.data.keyId])).length > 0
    if (isOver) throw new AppError('not_found', 'No archive here. Addresses of archives work for ten minutes; load the marketplace again.')
    const { until: _, ...rest } = opened.data
    return rest
  },
})
