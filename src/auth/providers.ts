import type { Configuration, CustomFetch } from 'openid-client'
import { z } from 'zod'
import type { Arriving, ProviderSettings } from '../domain/sign-in/sign-in-ways.ts'
import { AppError } from '../errors.ts'
import { type Claims, fetchGitHubClaims, gitHubServer, toArriving } from './provider-claims.ts'

/** The fields of an error of `openid-client` or the network that are read. Nothing else is looked at: the rest holds codes and tokens. */
const faultShape = z.object({
  name: z.string().catch(''),
  code: z.string().catch(''),
  error: z.string().catch(''),
  status: z.number().catch(0),
  cause: z.object({ code: z.string().catch(''), claim: z.string().catch('') }).catch({ code: '', claim: '' }),
})

/** Errors of the protocol that providers send back, as clauses (RFC 6749, section 4.1.2.1; OpenID Connect Core, section 3.1.2.6). */
const ANSWERS: Readonly<Record<string, string>> = {
  invalid_client: 'does not accept this service: check the client id and the client secret',
  unauthorized_client: 'does not let this service sign people in',
  invalid_grant: 'does not accept its own code any more. Start again',
  invalid_scope: 'does not know a scope that this service asks for',
  login_required: 'could not sign you in',
  consent_required: 'needs your consent',
  server_error: 'has an error',
  temporarily_unavailable: 'is not available now. Try again in a moment',
}
/** The refusals of openid-client, as clauses. */
const REFUSALS: Readonly<Record<string, string>> = {
  OAUTH_TIMEOUT: 'did not answer in time',
  OAUTH_ABORT: 'did not answer in time',
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: 'sent an ID token that has expired or is not good yet; check the clocks',
  OAUTH_JWT_CLAIM_COMPARISON_FAILED: 'sent an ID token that is not for this service and this sign-in',
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: 'describes itself as another issuer, or answers about another person',
  OAUTH_KEY_SELECTION_FAILED: 'signed with a key that it does not publish',
  OAUTH_RESPONSE_IS_NOT_JSON: 'did not answer in JSON',
  OAUTH_RESPONSE_IS_NOT_CONFORM: 'did not answer as the protocol says',
  OAUTH_PARSE_ERROR: 'did not answer as the protocol says',
  OAUTH_INVALID_RESPONSE: 'sent an answer that is not right: its signature, issuer or state is wrong',
  OAUTH_UNSUPPORTED_OPERATION: 'uses a part of the protocol that is not supported here',
}

/**
 * Why signing in at a provider failed, in a sentence for the person and the log. It has nothing of the answer in it but error codes of
 * closed lists.
 */
function describeProviderFault(name: string, thrown: unknown): AppError {
  const own = [thrown, thrown instanceof Error ? thrown.cause : null].find((error) => error instanceof AppError)
  if (own instanceof AppError) return new AppError('upstream_failed', `${name} ${own.message}.`)
  const {
    name: kind,
    code,
    error,
    cause,
  } = faultShape.catch({ name: '', code: '', error: '', status: 0, cause: { code: '', claim: '' } }).parse(thrown)
  if (error === 'access_denied') return new AppError('forbidden', `The sign-in at ${name} was cancelled.`)
  const isLate = kind === 'TimeoutError' || kind === 'AbortError'
  const clause = ANSWERS[error] ?? (isLate ? REFUSALS['OAUTH_TIMEOUT'] : (REFUSALS[code] ?? REFUSALS[cause.code]))
  if (clause !== undefined) return new AppError('upstream_failed', `${name} ${clause}.`)
  if (/^E[A-Z_]{3,30}$|^UND_ERR_[A-Z_]{3,40}$/.test(cause.code)) {
    return new AppError('upstream_failed', `${name} cannot be reached (${cause.code}). Try again later.`)
  }
  return new AppError('upstream_failed', `Signing in at ${name} failed. Try again, or ask an administrator.`)
}

/** The sealed state of a browser between leaving for a provider and coming back. */
interface Journey {
  readonly state: string
  /** Null where the provider issues no ID tokens. */
  readonly nonce: string | null
  /** Of PKCE (RFC 7636). */
  readonly verifier: string
}

/** Sign-in by other services: OpenID Connect, and GitHub's OAuth. */
export type Providers = ReturnType<typeof createProviders>

/**
 * Fetches, and reads the whole answer, which must not be larger than `maxBytes` unpacked. Redirects are not followed: what is sent may hold a
 * secret.
 * @throws AppError `upstream_failed`
 */
async function fetchBounded(url: string, init: RequestInit, maxBytes: number): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual' })
  const { status, headers, body } = response
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new AppError('upstream_failed', `answers with more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  // Only these may have a body.
  const hasBody = status >= 200 && status !== 204 && status !== 205 && status !== 304
  return new Response(hasBody ? Buffer.concat(chunks) : null, { status, headers })
}

/** Largest answer, unpacked. */
const MAX_ANSWER_BYTES = 512 * 1024
/** How far the clocks of the two services may differ, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 30
/** How long a provider's own description is used; its keys are asked for anew by openid-client when one is unknown. */
const DISCOVERED_MS = 3_600_000
/** Signatures that are taken: asymmetric ones. The client secret signs nothing. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'Ed25519', 'EdDSA']

type Library = typeof import('openid-client')

/**
 * Sign-in by OpenID Connect (Core 1.0, code flow) with PKCE, state, nonce and the issuer's identification (RFC 9207), by openid-client. The
 * signature of an ID token is checked as well, though the token came over TLS.
 * @param list from the settings: at most 20
 * @param timeoutSeconds time for each answer of a provider
 */
export function createProviders(list: readonly ProviderSettings[], clock: () => number, timeoutSeconds = 5) {
  /** One entry for each provider of the settings. */
  const discovered = new Map<string, { readonly configuration: Promise<Configuration>; readonly untilMs: number }>()
  const configure = async (provider: ProviderSettings): Promise<{ library: Library; configuration: Configuration }> => {
    const library = await import('openid-client')
    const known = discovered.get(provider.issuer)
    if (known && known.untilMs > clock()) return { library, configuration: await known.configuration }
    const configuration = discover(library, provider, timeoutSeconds)
    discovered.set(provider.issuer, { configuration, untilMs: clock() + DISCOVERED_MS })
    // A provider that is down is asked again by the next person.
    configuration.catch(() => discovered.delete(provider.issuer))
    return { library, configuration: await configuration }
  }
  const explained = async <T>(provider: ProviderSettings, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      // The library's errors hold answers, codes and tokens, so they are no cause.
      throw error instanceof AppError && error.message.endsWith('.') ? error : describeProviderFault(provider.name, error)
    }
  }
  return {
    list,
    /**
     * The address at the provider to which a browser is sent.
     * @throws AppError `upstream_failed` when the provider cannot be reached, or is not what the settings say
     */
    begin: (provider: ProviderSettings, redirectUri: string): Promise<{ readonly url: string; readonly journey: Journey }> =>
      explained(provider, async () => {
        const { library, configuration } = await configure(provider)
        const journey = {
          state: library.randomState(),
          nonce: provider.type === 'github' ? null : library.randomNonce(),
          verifier: library.randomPKCECodeVerifier(),
        }
        const url = library.buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri,
          response_type: 'code',
          scope: provider.scopes,
          state: journey.state,
          code_challenge: await library.calculatePKCECodeChallenge(journey.verifier),
          code_challenge_method: 'S256',
          ...(journey.nonce === null ? {} : { nonce: journey.nonce }),
        })
        requireSafeAddress(url.href, provider)
        return { url: url.href, journey }
      }),
    /**
     * Checks the answer of a provider and reads who came. No token is kept.
     * @param answered the address to which the provider sent the browser back, with its query
     * @throws AppError `upstream_failed`, or `forbidden` when the provider or its settings let this person not in
     */
    finish: (provider: ProviderSettings, answered: URL, { state, nonce, verifier }: Journey): Promise<Arriving> =>
      explained(provider, async () => {
        const { library, configuration } = await configure(provider)
        const tokens = await library.authorizationCodeGrant(configuration, answered, {
          expectedState: state,
          pkceCodeVerifier: verifier,
          ...(nonce === null ? {} : { expectedNonce: nonce, idTokenExpected: true }),
        })
        const claims =
          provider.type === 'github'
            ? await fetchGitHubClaims(library, configuration, tokens.access_token, provider)
            : await readClaims(library, configuration, tokens)
        return toArriving(provider, claims)
      }),
  }
}

type Tokens = Awaited<ReturnType<Library['authorizationCodeGrant']>>

/** The ID token's claims, and beside them what only the UserInfo endpoint says, which must be about the same person. */
async function readClaims(library: Library, configuration: Configuration, tokens: Tokens): Promise<Claims> {
  const claims = tokens.claims()
  if (!claims) throw new AppError('upstream_failed', 'sent no ID token')
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims
  return { ...(await library.fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims }
}

async function discover(library: Library, provider: ProviderSettings, timeoutSeconds: number): Promise<Configuration> {
  const { clientId, clientSecret, issuer, type } = provider
  const metadata = { [library.clockTolerance]: CLOCK_TOLERANCE_SECONDS }
  const isLoopback = issuer.startsWith('http:')
  // Bytes are copied: `fetch` takes none that may be in shared memory.
  const fetcher: CustomFetch = (url, { body, ...options }) =>
    fetchBounded(url, { ...options, body: body instanceof Uint8Array ? Buffer.from(body) : (body ?? null) }, MAX_ANSWER_BYTES)
  const configuration =
    type === 'github'
      ? new library.Configuration(gitHubServer(issuer), clientId, metadata, library.ClientSecretPost(clientSecret ?? undefined))
      : await library.discovery(new URL(issuer), clientId, metadata, chooseAuthentication(library, clientSecret), {
          timeout: timeoutSeconds,
          [library.customFetch]: fetcher,
          ...(isLoopback ? { execute: [library.allowInsecureRequests] } : {}),
        })
  configuration.timeout = timeoutSeconds
  configuration[library.customFetch] = fetcher
  if (isLoopback) library.allowInsecureRequests(configuration)
  if (type === 'github') return configuration
  const server = configuration.serverMetadata()
  for (const address of [server.authorization_endpoint, server.token_endpoint, server.jwks_uri]) requireSafeAddress(address, provider)
  if (server.userinfo_endpoint !== undefined) requireSafeAddress(server.userinfo_endpoint, provider)
  const algorithms = server.id_token_signing_alg_values_supported
  if (algorithms && !algorithms.some((algorithm) => ALGORITHMS.includes(algorithm))) {
    throw new AppError('upstream_failed', 'signs in no way that is supported')
  }
  library.enableNonRepudiationChecks(configuration)
  return configuration
}

/** Sends the secret as the provider says it takes it: by HTTP Basic (the default of RFC 8414), or else in the body. */
function chooseAuthentication(library: Library, secret: string | null): ReturnType<Library['ClientSecretBasic']> {
  if (secret === null) return library.None()
  const [basic, post] = [library.ClientSecretBasic(secret), library.ClientSecretPost(secret)]
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const isPost = !methods.includes('client_secret_basic') && methods.includes('client_secret_post')
    return (isPost ? post : basic)(server, client, body, headers)
  }
}

/** Endpoints are as safe as their issuer: https, or http on a loopback issuer. @throws AppError `upstream_failed` */
function requireSafeAddress(address: string | undefined, { issuer }: ProviderSettings): void {
  const protocol = URL.parse(address ?? '')?.protocol
  if (protocol === 'https:' || (protocol === 'http:' && issuer.startsWith('http:'))) return
  throw new AppError('upstream_failed', 'describes itself with an address that is missing or not https')
}
