import { displayNameField, emailField } from '../domain/people/account.ts'
import { readGroups, toGrants } from '../domain/people/groups.ts'
import type { Arriving } from '../domain/sign-in/arrivals.ts'
import type { ProviderSettings } from '../domain/sign-in/sign-in-ways.ts'
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
