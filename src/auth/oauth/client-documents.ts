import { lookup } from 'node:dns/promises'
import { request } from 'node:https'
import { Readable } from 'node:stream'
import { isPublicRoutableHost } from '@better-auth/core/utils/host'

/** Statuses whose answers have no body (Fetch, "null body status"). */
const WITHOUT_BODY = new Set([204, 205, 304])

/**
 * Fetches the metadata document of a client, whose address a stranger chose: over https, from the one address that was checked, without
 * following redirects. The caller bounds time and size.
 * @param allowedAddresses IP addresses that are allowed though they are not public
 */
export function fetchClientDocument(allowedAddresses: readonly string[]) {
  return async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const asked = new Request(input, init)
    const url = new URL(asked.url)
    if (url.protocol !== 'https:') throw new TypeError('A metadata document is fetched over https only')
    const addresses = await lookup(url.hostname, { all: true, verbatim: true })
    const [first] = addresses
    const isAllowed = ({ address }: { address: string }) => isPublicRoutableHost(address) || allowedAddresses.includes(address)
    if (!first || !addresses.every(isAllowed)) throw new TypeError('A metadata document must be at public addresses')
    const signal = init?.signal ?? asked.signal
    return await new Promise((resolve, reject) => {
      const options = {
        agent: false,
        headers: { ...Object.fromEntries(asked.headers), host: url.host },
        signal,
        lookup: pinTo(first),
      }
      const sent = request(url, options, (answer) => {
        const status = answer.statusCode ?? 500
        const headers = new Headers()
        for (const [name, value] of Object.entries(answer.headers)) for (const one of [value ?? []].flat()) headers.append(name, one)
        if (WITHOUT_BODY.has(status)) answer.resume()
        // The stream of Node and the one of the web are the same class, typed twice.
        resolve(new Response(WITHOUT_BODY.has(status) ? null : (Readable.toWeb(answer) as ReadableStream), { status, headers }))
      })
      sent.once('error', reject)
      sent.end()
    })
  }
}

/** Connects to the address that was checked, whatever the name has become since. */
function pinTo({ address, family }: { address: string; family: number }) {
  type Found = (error: null, address: string | { address: string; family: number }[], family?: number) => void
  return (_host: string, options: { all?: boolean | undefined }, found: Found) => {
    if (options.all) found(null, [{ address, family }])
    else found(null, address, family)
  }
}
