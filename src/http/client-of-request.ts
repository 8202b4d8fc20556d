import type { Exchange } from '../exchange.ts'
import type { ClientOfRequest } from '../library/account-ports.ts'
import { clientAddress, isLoopbackHost } from './guards.ts'
import { callerOfAddress } from './rate-limits.ts'

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
 * and the lack of any proxy's trace all say so. Only pages care, so only `isPage` requests are looked at.
 */
export function createClientReader(settings: AddressSettings, baseUrl: string): (exchange: Exchange, isPage: boolean) => ClientOfRequest {
  // A service that others reach cannot trust its own machine: their requests may be relayed through it.
  const isForOthers =
    !isLoopbackHost(new URL(baseUrl).host) || !isLoopbackHost(settings.HOST.includes(':') ? `[${settings.HOST}]` : settings.HOST)
  const isLocal = ({ remoteAddress, httpVersion, header }: Exchange) => {
    const socket = remoteAddress.replace(/^::ffff:/i, '')
    // Browsers do not speak HTTP/1.0; proxies that say nothing of themselves often do.
    const isForwarded = settings.TRUST_PROXY > 0 || httpVersion === '1.0' || FORWARDING_HEADERS.some((name) => header(name) !== undefined)
    return !isForwarded && (socket === '127.0.0.1' || socket === '::1') && isLoopbackHost(header('host') ?? '')
  }
  // Many requests in a row come from the same place.
  let last = { address: '', caller: callerOfAddress('') }
  return (exchange, isPage) => {
    const address = clientAddress(exchange.remoteAddress, exchange.header('x-forwarded-for') ?? null, settings.TRUST_PROXY)
    if (address !== last.address) last = { address, caller: callerOfAddress(address) }
    return {
      address,
      caller: last.caller,
      isLocal: isPage && !isForOthers && isLocal(exchange),
      userAgent: exchange.header('user-agent') ?? null,
      cookies: exchange.header('cookie') ?? '',
    }
  }
}
