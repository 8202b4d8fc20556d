import { z } from 'zod'
import { AppError } from '../errors.ts'

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
export function describeProviderFault(name: string, thrown: unknown): AppError {
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
