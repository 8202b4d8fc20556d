import type { Configuration, ServerMetadata } from 'openid-client'
import { z } from 'zod'
import { displayNameField, emailField } from '../domain/people/account.ts'
import { type Arriving, type ProviderSettings, readGroups, toGrants } from '../domain/sign-in/sign-in-ways.ts'
import { isObject } from '../domain/text/json.ts'
import { AppError } from '../errors.ts'

/** Longest subject (OpenID Connect Core, section 2). */
const MAX_SUBJECT = 255
/** Claims tried for a name where the provider's own is missing. */
const NAME_CLAIMS = ['preferred_username', 'nickname', 'email', 'name']

/** The claims of a provider about a person. */
export type Claims = Readonly<Record<string, unknown>>

/** A claim by its name; where there is none, dots in the name lead into objects. */
function readClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  return name.split('.').reduce<unknown>((value, part) => (isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined), claims)
}

function readText(claims: Claims, name: string): string {
  const value = readClaim(claims, name)
  return typeof value === 'string' ? value.trim() : ''
}

/** Whether the provider left the groups out because there are too many (Entra ID, "groups overage claim"). */
function leavesOut(claims: Claims, claim: string): boolean {
  const elsewhere = claims['_claim_names']
  return claims['hasgroups'] === true || (isObject(elsewhere) && Object.hasOwn(elsewhere, claim))
}

/**
 * Somebody as their provider describes them. A person without a groups claim is in no group.
 * @throws AppError `forbidden` for somebody whom the settings of the provider do not let in, `upstream_failed` without a good subject
 */
export function toArriving(provider: ProviderSettings, claims: Claims): Arriving {
  const { issuer, nameClaim, groupsClaim, groups: map, allowsSignUp, allowedDomains, allowedGroups } = provider
  const subject = claims['sub']
  if (typeof subject !== 'string' || subject === '' || subject.length > MAX_SUBJECT || /[\p{Cc}]/u.test(subject)) {
    throw new AppError('upstream_failed', `${provider.name} did not say who signed in.`)
  }
  const isVerified = claims['email_verified'] === true || claims['email_verified'] === 'true'
  const email = isVerified ? (emailField.safeParse(readText(claims, 'email')).data ?? null) : null
  const groups = leavesOut(claims, groupsClaim) ? null : readGroups(readClaim(claims, groupsClaim))
  if (allowedDomains.length > 0 && !allowedDomains.includes(email?.split('@')[1] ?? '')) {
    throw new AppError('forbidden', `Your account at ${provider.name} has no verified address of a domain that may sign in here.`)
  }
  if (allowedGroups.length > 0 && !allowedGroups.some((group) => groups?.includes(group))) {
    throw new AppError('forbidden', `Your account at ${provider.name} is in no group that may sign in here.`)
  }
  const name = [nameClaim, ...NAME_CLAIMS].map((claim) => readText(claims, claim)).find((text) => text !== '') ?? ''
  return {
    provider: issuer,
    subject,
    name,
    displayName: displayNameField.safeParse(readText(claims, 'name')).data || null,
    email,
    grants: map.length === 0 || groups === null ? null : toGrants(map, groups),
    allowsNew: allowsSignUp,
  }
}

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
