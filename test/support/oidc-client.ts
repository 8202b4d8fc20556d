/** This service at the provider of the tests. */
export const OIDC_CLIENT = { id: 'commonplace', secret: 'a secret of the client that no log may hold' } as const
