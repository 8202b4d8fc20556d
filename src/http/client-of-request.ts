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

/**
 * Tells where a request came from. It is local when the service is for this machine alone, and the socket, the name asked for,
 * and the lack of any proxy's trace all say so; only pages care, so it is only looked at for them.
 */
export function createClientReader(
  settings: AddressSettings,
  baseUrl: string,
  isPage: (path: string) => boolean,
): (c: Context<HttpEnv>) => ClientOfRequest {
  // A service that others reach has no business with trusting its own machine: who comes from there may come through it.
  const isForOthers =
    !isLoopbackHost(new URL(baseUrl).host) || !isLoopbackHost(settings.HOST.includes(':') ? `[${settings.HOST}]` : settings.HOST)
  const isLocal = (c: Context<HttpEnv>) => {
    const socket = socketAddress(c).replace(/^::ffff:/i, '')
    // Browsers do not speak HTTP/1.0; proxies that say nothing of themselves often do.
    const isForwarded =
      settings.TRUST_PROXY > 0 || httpVersion(c) === '1.0' || FORWARDING_HEADERS.some((name) => c.req.header(name) !== undefined)
    return !isForwarded && (socket === '127.0.0.1' || socket === '::1') && isLoopbackHost(c.req.header('host') ?? '')
  }
  return (c) => {
    const address = clientAddress(socketAddress(c), c.req.header('x-forwarded-for') ?? null, settings.TRUST_PROXY)
    return {
      address,
      caller: callerOfAddress(address),
      isLocal: !isForOthers && isPage(c.req.path) && isLocal(c),
      userAgent: c.req.header('user-agent') ?? null,
      cookies: c.req.header('cookie') ?? '',
    }
  }
}

const nodeEnv = z.object({ incoming: z.object({ httpVersion: z.string() }).optional() }).catch({})

/** Which HTTP the client, or a proxy, speaks; empty where there is no connection. */
function httpVersion(c: Context<HttpEnv>): string {
  return nodeEnv.parse(c.env ?? {}).incoming?.httpVersion ?? ''
}

/** Requests that tests make without a port have no socket. */
function socketAddress(c: Context<HttpEnv>): string {
  try {
    return getConnInfo(c).remote.address ?? ''
  } catch {
    return ''
  }
}
