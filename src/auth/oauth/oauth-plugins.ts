import { randomUUID } from 'node:crypto'
import { cimd } from '@better-auth/cimd'
import { oauthProvider } from '@better-auth/oauth-provider'
import type { BetterAuthPlugin } from 'better-auth'
import { DEFAULT_SCOPES } from '../../domain/people/actor.ts'
import { CONNECTION_SECONDS } from '../../domain/sign-in/keys.ts'
import type { OAuthSettings } from '../better-auth.ts'
import { ACCESS_TOKEN_PREFIX, consentKey, REFRESH_TOKEN_PREFIX } from '../credentials.ts'
import { hashToken } from '../login-adapter.ts'
import { fetchClientDocument } from './clients.ts'

/** Where people are asked. */
const CONSENT_PATH = '/oauth2/consent'

/** How long an access token works. A refresh token is used up by its use. */
const ACCESS_SECONDS = 3600
/** How long a refresh may be repeated with the same answer: clients that lost it, or run twice, are not signed out. */
const REPEAT_SECONDS = 30
/** How long somebody may take to answer on the consent page, and a code is good. */
const CODE_SECONDS = 600

/** Names of fields as our tables have them. */
function snakeCase(names: string): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [name, name.replaceAll(/[A-Z]+/g, (capitals) => `_${capitals.toLowerCase()}`)]))
}

const TOKEN_FIELDS = 'clientId sessionId userId referenceId authorizationCodeId requestedUserInfoClaims expiresAt createdAt'

/** Columns whose names differ from the plugin's. */
const SCHEMA = {
  oauthClient: {
    modelName: 'oauth_client',
    fields: snakeCase(
      'clientId clientSecret clientDiscoveryId skipConsent enableEndSession subjectType clientCredentialsScopes userId createdAt updatedAt softwareId softwareVersion softwareStatement redirectUris postLogoutRedirectUris backchannelLogoutUri backchannelLogoutSessionRequired tokenEndpointAuthMethod applicationType jwksUri grantTypes responseTypes requirePKCE dpopBoundAccessTokens referenceId',
    ),
  },
  oauthResource: {
    modelName: 'oauth_resource',
    fields: snakeCase(
      'accessTokenTtl refreshTokenTtl signingAlgorithm signingKeyId allowedScopes customClaims dpopBoundAccessTokensRequired createdAt updatedAt policyVersion',
    ),
  },
  oauthClientResource: { modelName: 'oauth_client_resource', fields: snakeCase('clientId resourceId createdAt') },
  oauthRefreshToken: {
    modelName: 'oauth_refresh_token',
    fields: snakeCase(`${TOKEN_FIELDS} rotatedAt rotationReplayResponse rotationReplayExpiresAt authTime`),
  },
  oauthAccessToken: { modelName: 'oauth_access_token', fields: snakeCase(`${TOKEN_FIELDS} refreshId`) },
  oauthConsent: {
    modelName: 'oauth_consent',
    fields: snakeCase('clientId userId referenceId requestedUserInfoClaims createdAt updatedAt'),
  },
  oauthClientAssertion: { modelName: 'oauth_client_assertion', fields: snakeCase('expiresAt') },
}

/**
 * The authorization server. Tokens are opaque, so that what is revoked stops at once. Every consent is asked for anew and
 * has a key of its own.
 */
export function oauthPlugins({ resources, readsDocuments, allowedAddresses }: OAuthSettings): BetterAuthPlugin[] {
  const provider = oauthProvider({
    scopes: [...DEFAULT_SCOPES, 'offline_access'],
    grantTypes: ['authorization_code', 'refresh_token'],
    disableJwtPlugin: true,
    loginPage: '/sign-in',
    consentPage: CONSENT_PATH,
    resources: resources.map((identifier) => ({ identifier, name: 'MCP' })),
    // They are for all programs.
    enforcePerClientResources: false,
    allowDynamicClientRegistration: true,
    allowUnauthenticatedClientRegistration: true,
    accessTokenExpiresIn: ACCESS_SECONDS,
    refreshTokenExpiresIn: CONNECTION_SECONDS,
    refreshTokenReuseInterval: REPEAT_SECONDS,
    codeExpiresIn: CODE_SECONDS,
    storeTokens: { hash: async (token) => hashToken(token) },
    generateOpaqueAccessToken: async () => newToken(ACCESS_TOKEN_PREFIX),
    generateRefreshToken: async () => newToken(REFRESH_TOKEN_PREFIX),
    postLogin: {
      page: CONSENT_PATH,
      shouldRedirect: () => false,
      // Nobody has consented to a number that is new, so people are always asked.
      consentReferenceId: () => consentKey.getStore() ?? randomUUID(),
    },
    schema: SCHEMA,
  })
  const documents = cimd({ fetchClientMetadataResource: fetchClientDocument(allowedAddresses), metadataProfile: 'mcp-2026-07-28' })
  // The documentation of the provider for OpenAPI is not typed for exact optional properties.
  return [provider as unknown as BetterAuthPlugin, ...(readsDocuments ? [documents] : [])]
}

function newToken(prefix: string): string {
  return prefix + Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')
}
