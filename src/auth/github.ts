import type { Configuration, ServerMetadata } from 'openid-client'
import { z } from 'zod'
import type { ProviderSettings } from '../domain/sign-in/sign-in-ways.ts'
import { AppError } from '../errors.ts'
import type { Claims } from './claims.ts'

type Library = typeof import('openid-client')

const PAGE = 100
const userShape = z.object({ id: z.number().int().positive(), login: z.string(), name: z.string().nullish() })
const emailsShape = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))
const organizationsShape = z.array(z.object({ login: z.string() }))
const teamsShape = z.array(z.object({ slug: z.string(), organization: z.object({ login: z.string() }) }))

/** GitHub speaks OAuth without discovery. `issuer` ends with `/login/oauth`, as the settings made it. */
export function gitHubServer(issuer: string): ServerMetadata {
  return { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/access_token` }
}

/** The REST API beside a web address: GitHub's own, or the one of a GitHub Enterprise Server. */
function apiOf(issuer: string): string {
  const { origin } = new URL(issuer)
  return origin === 'https://github.com' ? 'https://api.github.com' : `${origin}/api/v3`
}

/**
 * A person at GitHub, as claims: the id, the verified primary address, and where the settings map groups, organizations (`acme`)
 * and teams (`acme/platform`).
 * @throws AppError `upstream_failed`
 */
export async function fetchGitHubClaims(
  library: Library,
  configuration: Configuration,
  token: string,
  { issuer, groups, allowedGroups, groupsClaim }: ProviderSettings,
): Promise<Claims> {
  const get = async <T>(path: string, shape: z.ZodType<T>): Promise<T> => {
    const headers = new Headers({ accept: 'application/vnd.github+json' })
    const url = new URL(`${apiOf(issuer)}${path}`)
    const response = await library.fetchProtectedResource(configuration, token, url, 'GET', null, headers)
    if (!response.ok) throw new AppError('upstream_failed', `answers ${response.status} where its accounts are read`)
    const parsed = shape.safeParse(await response.json().catch(() => null))
    if (!parsed.success) throw new AppError('upstream_failed', 'did not answer as its documentation says')
    return parsed.data
  }
  const user = await get('/user', userShape)
  const primary = (await get('/user/emails', emailsShape)).find((address) => address.primary && address.verified)
  const needsGroups = groups.length > 0 || allowedGroups.length > 0
  const organizations = needsGroups ? await get(`/user/orgs?per_page=${PAGE}`, organizationsShape) : []
  const teams = needsGroups ? await get(`/user/teams?per_page=${PAGE}`, teamsShape) : []
  return {
    sub: String(user.id),
    login: user.login,
    name: user.name ?? '',
    ...(primary ? { email: primary.email, email_verified: true } : {}),
    [groupsClaim]: [...organizations.map(({ login }) => login), ...teams.map(({ slug, organization }) => `${organization.login}/${slug}`)],
  }
}
