import { type LookupAddress, promises } from 'node:dns'
import { type RequestOptions, request } from 'node:https'
import { isPublicRoutableHost } from '@better-auth/core/utils/host'
import { z } from 'zod'
import { isLoopback } from '../../domain/text/addresses.ts'

/** Schemes without a dot that editors and other well-known apps have. Others are names of domains backwards (RFC 8252, section 7.1). */
const SCHEMES_OF_APPS = new Set([
  'claude:',
  'cursor:',
  'goose:',
  'jetbrains:',
  'kiro:',
  'raycast:',
  'vscode:',
  'vscode-insiders:',
  'vscodium:',
  'warp:',
  'windsurf:',
  'zed:',
])
const MAX_ADDRESSES = 20
const MAX_ADDRESS = 1000

/** The fields of a registration that are read (RFC 7591); the plugin checks the rest. Unknown fields are left out. */
const registration = z.object({
  redirect_uris: z.array(z.string().max(MAX_ADDRESS)).min(1).max(MAX_ADDRESSES),
  client_name: z.string().max(200).optional(),
  client_uri: z.string().max(MAX_ADDRESS).optional(),
  grant_types: z.array(z.string().max(100)).max(10).optional(),
  response_types: z.array(z.string().max(100)).max(10).optional(),
  token_endpoint_auth_method: z.string().max(100).optional(),
  application_type: z.string().max(100).optional(),
  software_id: z.string().max(200).optional(),
  software_version: z.string().max(200).optional(),
})

/** A registration for the plugin, with the addresses it is to keep where it must not see them; or why there is none. */
export type Registration =
  | { readonly body: Readonly<Record<string, unknown>>; readonly redirectUris: readonly string[] | null }
  | { readonly error: 'invalid_client_metadata' | 'invalid_redirect_uri'; readonly fault: string }

/**
 * Reads the registration of a program. Programs on a person's own machine seldom say that they are native (OpenID Connect Registration,
 * section 2), so the addresses tell. The plugin takes schemes of apps only as names of domains backwards; editors have short ones, such as
 * `cursor:`. It registers another address in the place of theirs.
 */
export function readRegistration(sent: unknown): Registration {
  const parsed = registration.safeParse(sent)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const field = issue?.path.join('.') || 'the registration'
    return { error: 'invalid_client_metadata', fault: `${field}: ${issue?.message ?? 'is not valid'}` }
  }
  const { data } = parsed
  const urls = data.redirect_uris.map((text) => URL.parse(text))
  if (urls.includes(null)) return { error: 'invalid_redirect_uri', fault: 'redirect_uris must be absolute addresses.' }
  const strange = urls.find((url) => url !== null && !['https:', 'http:'].includes(url.protocol) && !isSchemeOfApp(url.protocol))
  if (strange) {
    const fault = `redirect_uris must begin with https:, with http: on this machine, or with a scheme of an app such as com.example.app: (not ${strange.protocol}).`
    return { error: 'invalid_redirect_uri', fault }
  }
  const isOfApp = (url: URL | null) => url !== null && isSchemeOfApp(url.protocol) && !/[#@\\]|\s/.test(url.href)
  const isNative = urls.some((url) => isOfApp(url) || (url !== null && url.protocol === 'http:' && isLoopback(url.hostname)))
  const grants = data.grant_types?.filter((grant) => grant === 'authorization_code' || grant === 'refresh_token') ?? []
  const body = {
    ...data,
    redirect_uris: data.redirect_uris.map((text, index) => (isOfApp(urls[index] ?? null) ? `app.of.its.own:/${index}` : text)),
    grant_types: [...new Set(['authorization_code', 'refresh_token', ...grants])],
    response_types: ['code'],
    ...(isNative && { application_type: 'native' }),
  }
  return { body, redirectUris: urls.some(isOfApp) ? data.redirect_uris : null }
}

/** Whether an app may have a scheme: to open any other does something on the machine that nobody asked for. */
function isSchemeOfApp(protocol: string): boolean {
  return SCHEMES_OF_APPS.has(protocol) || /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/.test(protocol)
}

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
