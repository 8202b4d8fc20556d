import { z } from 'zod'
import type { OAuthServer } from '../../auth/oauth/oauth-server.ts'
import { DEFAULT_SCOPES } from '../../domain/people/actor.ts'
import { CONNECTION_SECONDS } from '../../domain/sign-in/oauth.ts'
import { AppError } from '../../errors.ts'
import { filterText, refInput } from '../core/inputs.ts'
import { clientOf, defineProcedure, defineWrite, type Needs, requireUser } from '../core/procedure.ts'
import { MAX_NARROWED, readWithin } from './keys.ts'

const queryInput = z.string().min(1).max(8_000).describe('The query of the consent page, which is signed')

type Uses = Needs<never, 'oauth'>

function requireOAuth(oauth: OAuthServer | null): OAuthServer {
  if (!oauth) throw new AppError('not_found', 'Programs do not sign in to this service.')
  return oauth
}

async function requireRequest(oauth: OAuthServer, query: string) {
  const request = await oauth.describeRequest(query)
  if (!request) throw new AppError('not_found', 'Unknown program. Start again from the program that sent you.')
  return request
}

/** The request of a program to its user. */
export const showProgramRequest = defineProcedure({
  scope: 'account',
  input: z.object({ query: queryInput }),
  async run({ oauth }: Uses, { query }) {
    const request = await requireRequest(requireOAuth(oauth), query)
    const { name, publishedBy, returnsTo, scopes } = request
    return { name, publishedBy, returnsTo, scopes: [...scopes] }
  },
})

/** Lets a program act for its user: it gets a key of theirs, which it reaches by tokens. */
export const connectProgram = defineWrite({
  scope: 'account',
  input: z.object({
    query: queryInput,
    scopes: z.array(z.enum(DEFAULT_SCOPES)).min(1, 'choose at least one permission'),
    team: filterText.describe('Name of a team you are in: the program sees nothing but its items'),
    collections: z.array(refInput).max(MAX_NARROWED).optional().describe('Collections: the program sees nothing but what is in them'),
  }),
  async run(context: Needs<'keys' | 'items' | 'collections', 'oauth' | 'clock'>, input) {
    const { actor, store, clock } = context
    const oauth = requireOAuth(context.oauth)
    const { userId, sessionId = null } = requireUser(actor)
    const within = await readWithin(store, actor, input)
    const request = await requireRequest(oauth, input.query)
    const scopes = request.scopes.filter((scope) => input.scopes.some((one) => one === scope))
    if (scopes.length === 0) throw new AppError('invalid_input', 'The program did not ask for these permissions.')
    const { to, keyId } = await oauth.allow(input.query, scopes, { userId, client: clientOf(context) })
    // The code in the address is of no use until the key is there.
    await store.keys.createKey({
      name: request.name,
      userId,
      // Nobody has the key itself.
      sha256: `connection ${keyId}`,
      scopes,
      expiresAt: new Date(clock() + CONNECTION_SECONDS * 1000).toISOString(),
      within,
      connection: { id: keyId, clientId: request.clientId, madeBy: sessionId },
    })
    return { to }
  },
})

/** Says no to a program. */
export const refuseProgram = defineProcedure({
  scope: 'account',
  input: z.object({ query: queryInput }),
  run: async (context: Uses, { query }) => ({
    to: await requireOAuth(context.oauth).refuse(query, { userId: requireUser(context.actor).userId, client: clientOf(context) }),
  }),
})
