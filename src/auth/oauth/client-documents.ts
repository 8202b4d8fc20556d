import { type LookupAddress, promises } from 'node:dns'
import { type RequestOptions, request } from 'node:https'
import { isPublicRoutableHost } from '@better-auth/core/utils/host'

/** Bytes of an answer that are read. The plugins refuse documents long before that. */
const MAX_BYTES = 256 * 1024

/** Finds all addresses of a name. */
type Resolve = (hostname: string) => Promise<LookupAddress[]>

const resolveByName: Resolve = (hostname) => promises.lookup(hostname, { all: true, verbatim: true })

/**
 * Fetches the metadata document of a client, whose address a stranger chose: over https, from the one address that was checked, without
 * following redirects. The caller bounds the time; the body is read at once, so that no connection outlives the call.
 * @param allowedAddresses IP addresses that are allowed though they are not public
 */
export function fetchClientDocument(allowedAddresses: readonly string[], resolve = resolveByName) {
  return async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const asked = new Request(input, init)
    const url = new URL(asked.url)
    if (url.protocol !== 'https:') throw new TypeError('A metadata document is fetched over https only')
    const addresses = await resolve(url.hostname)
    const [first] = addresses
    const isAllowed = ({ address }: LookupAddress) => isPublicRoutableHost(address) || allowedAddresses.includes(address)
    if (!first || !addresses.every(isAllowed)) throw new TypeError('A metadata document must be at public addresses')
    return await readAnswer(url, {
      agent: false,
      headers: { ...Object.fromEntries(asked.headers), host: url.host },
      signal: init?.signal ?? asked.signal,
      lookup: pinTo(first),
    })
  }
}

/** Sends a request, and reads its answer whole, or the first `MAX_BYTES` of it. */
function readAnswer(url: URL, options: RequestOptions): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (answer) => {
      const status = answer.statusCode ?? 500
      const headers = new Headers()
      for (const [name, value] of Object.entries(answer.headers)) for (const one of [value ?? []].flat()) headers.append(name, one)
      const chunks: Buffer[] = []
      let bytes = 0
      const end = () => {
        answer.destroy()
        // Only a document has a body that anybody reads.
        resolve(new Response(status === 200 ? Buffer.concat(chunks) : null, { status: status < 200 ? 500 : status, headers }))
      }
      if (status !== 200) return end()
      answer.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes > MAX_BYTES) end()
      })
      answer.once('end', end)
      answer.once('error', reject)
    })
    sent.once('error', reject)
    sent.end()
  })
}

/** Connects to the address that was checked, whatever the name has become since. */
function pinTo({ address, family }: LookupAddress) {
  type Found = (error: null, address: string | LookupAddress[], family?: number) => void
  return (_host: string, options: { all?: boolean | undefined }, found: Found) => {
    if (options.all) found(null, [{ address, family }])
    else found(null, address, family)
  }
}
