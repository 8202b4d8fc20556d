import type { OAuthAnswer, OAuthServer } from '../auth/oauth/oauth-server.ts'
import { DEFAULT_SCOPES } from '../domain/people/actor.ts'
import { AppError } from '../errors.ts'
import { type Answer, jsonAnswer } from '../exchange.ts'
import { decodeBody } from '../http/body.ts'
import type { BoundRoute, Call } from '../http/call.ts'
import { MCP_PATH, RESOURCE_METADATA_PATH, SIGNED_IN_MCP_PATH } from '../http/sign-in-challenge.ts'
import { LIST_SCOPES } from './mcp-routes.ts'

/** Largest body of a request for tokens or a registration, in bytes. */
const MAX_BODY = 32 * 1024
/** Longest query of a request to sign in. */
const MAX_QUERY = 6_000
const FORM = 'application/x-www-form-urlencoded'
/** Points of a request that writes, and may fetch the document of a client. */
const COST = 10
/** Seconds for which programs may keep metadata. */
const METADATA_AGE = 'public, max-age=300'

/** The parts of the service that the routes use. */
interface OAuthSite {
  readonly baseUrl: string
  readonly name: string
}

/** The authorization server, and what tells programs of it (channels, section 7; RFC 8414, RFC 9728). */
export function oauthRoutes(oauth: OAuthServer, { baseUrl, name }: OAuthSite): readonly BoundRoute[] {
  const authorize = async (call: Call): Promise<Answer> => {
    const { exchange, actor, client } = call
    const query = exchange.search.slice(1)
    if (query.length > MAX_QUERY) throw new AppError('invalid_input', 'The request of the program is too long.')
    // People sign in first, and come back here.
    if (actor.kind === 'anonymous') return leadTo(`/sign-in?to=${encodeURIComponent(`${exchange.path}${exchange.search}`)}`)
    return toAnswer(await oauth.authorize(new URLSearchParams(query), { userId: actor.userId, client }))
  }
  const readPost = (call: Call) => ({
    type: call.exchange.header('content-type') ?? '',
    authorization: call.exchange.header('authorization'),
    body: decodeBody(call.body),
  })
  const readForm = (call: Call) => {
    const post = readPost(call)
    if (!post.type.toLowerCase().startsWith(FORM)) throw new AppError('unsupported_media_type', `Send the request as ${FORM}.`)
    return { ...post, type: FORM }
  }
  const endpoints = {
    // Clients that know no metadata ask at the root.
    '/oauth2/token /token': async (call: Call) => toAnswer(await oauth.exchange(readForm(call))),
    '/oauth2/revoke': async (call: Call) => toAnswer(await oauth.revoke(readForm(call))),
    '/oauth2/register /register': async (call: Call) =>
      toAnswer(await oauth.register({ ...readPost(call), type: 'application/json' }, call.client.caller)),
  }
  const metadata = { method: 'GET', kind: 'oauth', cost: 1 } as const
  const describeServer = async () => jsonAnswer(await oauth.readMetadata(), 200, { 'cache-control': METADATA_AGE })
  const describeResource = ({ exchange }: Call) => {
    const path = exchange.path.slice(RESOURCE_METADATA_PATH.length)
    const resource = `${baseUrl}${path === '' ? SIGNED_IN_MCP_PATH : path}`
    const described = {
      resource,
      authorization_servers: [baseUrl],
      scopes_supported: [...DEFAULT_SCOPES],
      bearer_methods_supported: ['header'],
      resource_name: name,
    }
    return jsonAnswer(described, 200, { 'cache-control': METADATA_AGE })
  }
  return [
    ...['/oauth2/authorize', '/authorize'].map(
      (path): BoundRoute => ({ method: 'GET', path, kind: 'page', cost: COST, isEntry: true, handle: authorize }),
    ),
    ...Object.entries(endpoints).flatMap(([paths, handle]) =>
      paths.split(' ').map((path): BoundRoute => ({ method: 'POST', path, kind: 'oauth', cost: COST, bodyLimit: MAX_BODY, handle })),
    ),
    { ...metadata, path: '/.well-known/oauth-authorization-server', handle: describeServer },
    // At the root is what programs with an address of their own choice look for: the one that always asks to sign in.
    ...['', ...[SIGNED_IN_MCP_PATH, MCP_PATH].flatMap((base) => LIST_SCOPES.map((scope) => base + scope))].map(
      (path): BoundRoute => ({ ...metadata, path: RESOURCE_METADATA_PATH + path, handle: describeResource }),
    ),
  ]
}

function leadTo(to: string): Answer {
  return { status: 302, headers: { location: to, 'cache-control': 'no-store' }, body: null }
}

function toAnswer(answer: OAuthAnswer): Answer {
  if ('to' in answer) return leadTo(answer.to)
  return {
    status: answer.status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...answer.headers },
    body: answer.json,
  }
}
