import { z } from 'zod'
import type { OAuthServer } from '../../auth/oauth/oauth-server.ts'
import { AppError } from '../../errors.ts'
import { SCOPES } from '../../library/actor.ts'
import { CONNECTION_SECONDS } from '../../library/oauth.ts'
import { defineOperation, type Needs, requireUser } from '../core/define-operation.ts'
import { filterText, refInput } from '../core/inputs.ts'
import { clientOf } from './client-of.ts'
import { MAX_NARROWED, readWithin } from './keys.ts'

const queryInput = z.string().min(1).max(8_000).describe('The query of the consent page, which is signed')
const target = z.object({ to: z.string().describe('Where the browser goes next') })

type Uses = Needs<never, 'oauth'>

function requireOAuth(oauth: OAuthServer | null): OAuthServer {
  if (!oauth) throw new AppError('not_found', 'Programs do not sign in to this service.')
  return oauth
}

/** What a program asks its user for. */
export const showProgramRequest = defineOperation({
  name: 'show_program_request',
  title: 'Show what a program asks for',
  summary: 'Show the name of a program that asks to sign in, where it returns to, and the scopes it asks for.',
  scope: 'account',
  surfaces: {},
  input: z.object({ query: queryInput }),
  output: z.object({
    name: z.string(),
    publishedBy: z.string().nullable(),
    returnsTo: z.string(),
    scopes: z.array(z.enum(SCOPES)),
  }),
  async run({ oauth }: Uses, { query }) {
    const request = await requireOAuth(oauth).describeRequest(query)
    if (!request) throw new AppError('not_found', 'Unknown program. Start again from the program that sent you.')
    const { name, publishedBy, returnsTo, scopes } = request
    return { name, publishedBy, returnsTo, scopes: [...scopes] }
  },
})

/** Lets a program act for its user: it gets a key of theirs, which it reaches by tokens. */
export const connectProgram = defineOperation({
  name: 'connect_program',
  title: 'Connect a program',
  summary: 'Let a program act for you within scopes, and within a team or collections.',
  scope: 'account',
  writes: true,
  surfaces: {},
  input: z.object({
    query: queryInput,
    scopes: z.array(z.enum(SCOPES)).min(1, 'choose at least one permission'),
    team: filterText.describe('Name of a team you are in: the program sees nothing but its items'),
    collections: z.array(refInput).max(MAX_NARROWED).optional().describe('Collections: the program sees nothing but what is in them'),
  }),
  output: target,
  async run(context: Needs<'keys' | 'items' | 'collections', 'oauth' | 'clock'>, input) {
    const { actor, store, clock } = context
    const oauth = requireOAuth(context.oauth)
    const { userId, sessionId = null } = requireUser(actor)
    const within = await readWithin(store, actor, input)
    const request = await oauth.describeRequest(input.query)
    if (!request) throw new AppError('not_found', 'Unknown program. Start again from the program that sent you.')
    const scopes = request.scopes.filter((scope) => input.scopes.includes(scope))
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
export const refuseProgram = defineOperation({
  name: 'refuse_program',
  title: 'Refuse a program',
  summary: 'Tell a program that asked to sign in that you do not let it.',
  scope: 'account',
  surfaces: {},
  input: z.object({ query: queryInput }),
  output: target,
  run: async (context: Uses, { query }) => ({
    to: await requireOAuth(context.oauth).refuse(query, { userId: requireUser(context.actor).userId, client: clientOf(context) }),
  }),
})
