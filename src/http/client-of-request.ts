import type { Exchange } from '../exchange.ts'
import type { ClientOfRequest } from '../library/client-of-request.ts'
import { clientAddress } from './guards.ts'
import { callerOfAddress } from './rate-limits.ts'

/** Tells where requests came from. @param trustedProxies how many proxies stand in front */
export function createClientReader(trustedProxies: number): (exchange: Exchange) => ClientOfRequest {
  // Many requests in a row come from the same place.
  let last = { address: '', caller: callerOfAddress('') }
  return ({ remoteAddress, header }) => {
    const address = clientAddress(remoteAddress, header('x-forwarded-for') ?? null, trustedProxies)
    if (address !== last.address) last = { address, caller: callerOfAddress(address) }
    return { address, caller: last.caller, userAgent: header('user-agent') ?? null, cookies: header('cookie') ?? '' }
  }
}
