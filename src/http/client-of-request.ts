import { getConnInfo } from '@hono/node-server/conninfo'
import type { Context } from 'hono'
import { z } from 'zod'
import type { ClientOfRequest } from '../library/account-ports.ts'
import { clientAddress, isLoopbackHost } from './guards.ts'
import { callerOfAddress } from './rate-limits.ts'
import type { HttpEnv } from './rest.ts'

/** What of the settings says where requests come from. */
export interface AddressSettings {
  /** Where the service listens. */
  readonly HOST: string
  /** How many proxies stand in front. */
  readonly TRUST_PROXY: number
}

/** The client's address, as far as the settings let it be believed; empty where there is no socket. */
export function addressOf(c: Context<HttpEnv>, settings: AddressSettings): string {
  return clientAddress(socketAddress(c), c.req.header('x-forwarded-for') ?? null, settings.TRUST_PROXY)
}

/** What a proxy adds to requests: one that has any did not surely come from this machine. */
const FORWARDING_HEADERS = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-real-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'via',
]

/** Where a request came from. It is local when the service is for this machine alone, and the socket, the name asked for, and the lack of any proxy's trace all say so. */
export function clientOf(c: Context<HttpEnv>, settings: AddressSettings, baseUrl: string): ClientOfRequest {
  // Browsers do not speak HTTP/1.0; proxies that say nothing of themselves often do.
  const isForwarded =
    settings.TRUST_PROXY > 0 || httpVersion(c) === '1.0' || FORWARDING_HEADERS.some((name) => c.req.header(name) !== undefined)
  // A service that others reach has no business with trusting its own machine: who comes from there may come through it.
  const isForOthers =
    !isLoopbackHost(new URL(baseUrl).host) || !isLoopbackHost(settings.HOST.includes(':') ? `[${settings.HOST}]` : settings.HOST)
  const socket = socketAddress(c).replace(/^::ffff:/i, '')
  return {
    address: addressOf(c, settings),
    caller: callerOfAddress(addressOf(c, settings)),
    isLocal: !isForwarded && !isForOthers && (socket === '127.0.0.1' || socket === '::1') && isLoopbackHost(c.req.header('host') ?? ''),
    userAgent: c.req.header('user-agent') ?? null,
    cookies: c.req.header('cookie') ?? '',
  }
}

/** Which HTTP the client, or a proxy, speaks; empty where there is no connection. */
function httpVersion(c: Context<HttpEnv>): string {
  const { incoming } = z
    .object({ incoming: z.object({ httpVersion: z.string() }).optional() })
    .catch({})
    .parse(c.env ?? {})
  return incoming?.httpVersion ?? ''
}

/** Requests that tests make without a port have no socket. */
function socketAddress(c: Context<HttpEnv>): string {
  try {
    return getConnInfo(c).remote.address ?? ''
  } catch {
    return ''
  }
}
