import { readFileSync, statSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import {
  PROVIDER_TYPES,
  type ProviderSettings,
  type ProviderType,
  type SignInSettings,
  toGroupMap,
} from '../domain/sign-in/sign-in-ways.ts'
import { isLoopback } from '../domain/text/addresses.ts'
import { AppError } from '../errors.ts'
import type { Config } from './load-config.ts'

const MAX_FILE_BYTES = 256 * 1024
const MAX_PROVIDERS = 20

type Environment = Readonly<Record<string, string | undefined>>

/** The defaults of a type of provider. GitHub's issuer is found from its address. */
const PRESETS: Record<ProviderType, { name: string; issuer: string | null; scopes: string; nameClaim: string }> = {
  oidc: { name: 'OpenID Connect', issuer: null, scopes: 'openid profile email', nameClaim: 'preferred_username' },
  google: { name: 'Google', issuer: 'https://accounts.google.com', scopes: 'openid profile email', nameClaim: 'email' },
  microsoft: { name: 'Microsoft', issuer: null, scopes: 'openid profile email', nameClaim: 'preferred_username' },
  gitlab: { name: 'GitLab', issuer: 'https://gitlab.com', scopes: 'openid profile email', nameClaim: 'nickname' },
  github: { name: 'GitHub', issuer: 'https://github.com', scopes: 'read:user user:email', nameClaim: 'login' },
}
/** Tenants of Microsoft that stand for everybody: whoever has any account there would be let in. */
const SHARED_TENANT = /\/(?:common|organizations|consumers)(?:\/|$)/i

/** The fault of the address of an issuer, as the end of a sentence, or null. */
function issuerFault(text: string): string | null {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an https address, such as https://id.example.org'
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) return 'must be an https address; http works for loopback addresses alone'
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    return 'must have no query, fragment, user or password'
  }
  return null
}

const text = (max: number) => z.string().trim().min(1, 'must not be empty').max(max, `must have at most ${max} characters`)
const providerShape = z.strictObject({
  key: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be 1 to 32 characters of a-z, 0-9 and hyphen'),
  name: text(60).optional(),
  type: z.enum(PROVIDER_TYPES, `must be one of: ${PROVIDER_TYPES.join(', ')}`).default('oidc'),
  issuer: z
    .string()
    .superRefine((issuer, issues) => {
      const fault = issuerFault(issuer)
      if (fault !== null) issues.addIssue({ code: 'custom', message: fault })
    })
    .optional(),
  clientId: text(500),
  clientSecret: text(5_000).optional(),
  scopes: text(1_000).optional(),
  nameClaim: text(200).optional(),
  groupsClaim: text(200).default('groups'),
  groups: z.record(z.string(), z.union([z.string(), z.array(z.string()).max(50)])).default({}),
  signUp: z.boolean().default(true),
  domains: z
    .array(text(253).transform((domain) => domain.toLowerCase()))
    .max(100)
    .default([]),
  allowedGroups: z.array(text(300)).max(100).default([]),
})
const fileShape = z.strictObject({ providers: z.array(z.unknown()).max(MAX_PROVIDERS, `must have at most ${MAX_PROVIDERS} entries`) })

/**
 * Checks one provider. @param source what the sentence of a fault begins with
 * @throws AppError `invalid_input`
 */
function toProvider(raw: unknown, source: string): ProviderSettings {
  const parsed = providerShape.safeParse(raw)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    // No value is shown: it may be a secret in the wrong place.
    throw new AppError('invalid_input', `${source}: ${issue?.path.join('.') || 'the entry'} ${describe(issue)}.`)
  }
  const { key, type, groups, signUp, domains, ...given } = parsed.data
  const preset = PRESETS[type]
  const address = given.issuer ?? preset.issuer
  if (address === null) throw new AppError('invalid_input', `${source}: issuer is required for the type ${type}.`)
  if (type === 'microsoft' && SHARED_TENANT.test(address)) {
    throw new AppError(
      'invalid_input',
      `${source}: issuer must name one tenant by its id (https://login.microsoftonline.com/TENANT_ID/v2.0); with common, organizations or consumers anybody could sign in.`,
    )
  }
  const pairs = Object.entries(groups).flatMap(([group, meanings]) =>
    (typeof meanings === 'string' ? [meanings] : meanings).map((meaning) => [group, meaning] as const),
  )
  return {
    key,
    name: given.name ?? preset.name,
    type,
    issuer: type === 'github' ? `${address.replace(/\/+$/, '')}/login/oauth` : address,
    clientId: given.clientId,
    clientSecret: given.clientSecret ?? null,
    scopes: given.scopes ?? preset.scopes,
    nameClaim: given.nameClaim ?? preset.nameClaim,
    groupsClaim: given.groupsClaim,
    groups: readMap(pairs, `${source}: groups`),
    allowsSignUp: signUp,
    allowedDomains: domains,
    allowedGroups: given.allowedGroups,
  }
}

function describe(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === 'unrecognized_keys') return `has an unknown field: ${issue.keys.join(', ').slice(0, 80)}`
  if (issue?.code === 'invalid_type') return issue.path.length > 0 ? 'is missing or of the wrong type' : 'must be an object'
  return issue?.message ?? 'is not valid'
}

function readMap(pairs: readonly (readonly [string, string])[], source: string) {
  try {
    return toGroupMap(pairs)
  } catch (error) {
    throw error instanceof AppError ? new AppError('invalid_input', `${source} ${error.message}.`) : error
  }
}

/** Puts in what `${NAME}` stands for, in secrets alone. @throws AppError `invalid_input` for a variable that is not set */
function fillSecrets(raw: unknown, environment: Environment, source: string): unknown {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw
  const fill = (value: unknown): unknown =>
    typeof value !== 'string'
      ? value
      : value.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
          const found = environment[name]?.trim()
          if (!found) throw new AppError('invalid_input', `${source} names the variable ${name.slice(0, 80)}, which is not set.`)
          return found
        })
  return Object.fromEntries(
    Object.entries(raw).map(([field, value]) => [field, field === 'clientId' || field === 'clientSecret' ? fill(value) : value]),
  )
}

function readProvidersFile(path: string, environment: Environment): ProviderSettings[] {
  const refuse = (what: string, cause?: unknown): never => {
    throw new AppError('invalid_input', `OIDC_FILE ${what}.`, { cause })
  }
  let content: unknown
  try {
    const stats = statSync(path)
    if (!stats.isFile() || stats.size > MAX_FILE_BYTES) refuse('must name a regular file of at most 256 KiB')
    // JSON is YAML too.
    content = parse(readFileSync(path, 'utf8'), { maxAliasCount: 0 })
  } catch (error) {
    if (error instanceof AppError) throw error
    // The message of the parser quotes the file, which may hold secrets.
    refuse(
      error instanceof Error && 'code' in error && 'syscall' in error
        ? `must name a readable file (${error.code})`
        : 'is not valid YAML or JSON',
    )
  }
  const parsed = fileShape.safeParse(content)
  if (!parsed.success) return refuse('must have a list named providers, with at most 20 entries, and nothing else')
  return parsed.data.providers.map((entry, index) => {
    const source = `OIDC_FILE, provider ${index + 1}`
    return toProvider(fillSecrets(entry, environment, source), source)
  })
}

function providerOfSettings(config: Config): ProviderSettings[] {
  if (config.OIDC_CLIENT_ID === null) {
    if (config.OIDC_ISSUER === null && config.OIDC_TYPE === 'oidc' && config.OIDC_CLIENT_SECRET === null) return []
    throw new AppError('invalid_input', 'Sign-in by OpenID Connect also needs OIDC_CLIENT_ID.')
  }
  if (config.OIDC_ISSUER === null && PRESETS[config.OIDC_TYPE].issuer === null) {
    throw new AppError('invalid_input', 'OIDC_CLIENT_ID also needs OIDC_ISSUER, the address of the provider.')
  }
  const { OIDC_GROUPS: groups } = config
  const provider = toProvider(
    {
      key: config.OIDC_TYPE,
      type: config.OIDC_TYPE,
      clientId: config.OIDC_CLIENT_ID,
      ...(config.OIDC_NAME === null ? {} : { name: config.OIDC_NAME }),
      ...(config.OIDC_ISSUER === null ? {} : { issuer: config.OIDC_ISSUER }),
      ...(config.OIDC_CLIENT_SECRET === null ? {} : { clientSecret: config.OIDC_CLIENT_SECRET }),
      ...(config.OIDC_SCOPES === null ? {} : { scopes: config.OIDC_SCOPES }),
      ...(config.OIDC_NAME_CLAIM === null ? {} : { nameClaim: config.OIDC_NAME_CLAIM }),
      groupsClaim: config.OIDC_GROUPS_CLAIM,
      signUp: config.OIDC_SIGN_UP,
      domains: config.OIDC_DOMAINS,
      allowedGroups: config.OIDC_ALLOWED_GROUPS,
    },
    'The settings OIDC_*',
  )
  return [{ ...provider, groups }]
}

function proxyOfSettings(config: Config): SignInSettings['proxy'] {
  const header = config.AUTH_PROXY_HEADER
  if (header === null) {
    if (config.AUTH_PROXY_TRUSTED.length === 0) return null
    throw new AppError('invalid_input', 'AUTH_PROXY_TRUSTED also needs AUTH_PROXY_HEADER, the header with the person’s name.')
  }
  if (config.AUTH_PROXY_TRUSTED.length === 0) {
    throw new AppError(
      'invalid_input',
      'AUTH_PROXY_HEADER also needs AUTH_PROXY_TRUSTED, the addresses of the proxy: from any other address, anybody could send that header.',
    )
  }
  return {
    header,
    nameHeader: config.AUTH_PROXY_NAME_HEADER,
    emailHeader: config.AUTH_PROXY_EMAIL_HEADER,
    groupsHeader: config.AUTH_PROXY_GROUPS_HEADER,
    groups: config.AUTH_PROXY_GROUPS,
    trusted: config.AUTH_PROXY_TRUSTED,
    signOutUrl: config.AUTH_PROXY_SIGN_OUT_URL,
  }
}

/**
 * How people sign in, from the settings and the file of OIDC_FILE.
 * @throws AppError `invalid_input` with a sentence that names the setting, and never shows a value
 */
export function readSignInSettings(config: Config, environment: Environment = process.env): SignInSettings {
  const providers = [...providerOfSettings(config), ...(config.OIDC_FILE === null ? [] : readProvidersFile(config.OIDC_FILE, environment))]
  for (const [index, { key, issuer }] of providers.entries()) {
    const others = providers.slice(0, index)
    if (others.some((other) => other.key === key)) throw new AppError('invalid_input', `Two sign-in providers have the key "${key}".`)
    // What a provider calls a person may differ from client to client.
    if (others.some((other) => other.issuer === issuer)) {
      throw new AppError('invalid_input', `Two sign-in providers have the issuer ${issuer}.`)
    }
  }
  if (config.OIDC_ONLY && providers.length === 0) {
    throw new AppError('invalid_input', 'OIDC_ONLY=true needs a provider: set OIDC_ISSUER and OIDC_CLIENT_ID, or OIDC_FILE.')
  }
  const proxy = proxyOfSettings(config)
  return { hasPasswords: !config.OIDC_ONLY && proxy === null, providers, proxy }
}
