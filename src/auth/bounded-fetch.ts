import { AppError } from '../errors.ts'

/**
 * Fetches, and reads the whole answer, which must not be larger than `maxBytes` unpacked. Redirects are not followed: what is sent may hold a
 * secret.
 * @throws AppError `upstream_failed`
 */
export async function fetchBounded(url: string, init: RequestInit, maxBytes: number): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual' })
  const { status, headers, body } = response
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new AppError('upstream_failed', `answers with more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  // Only these may have a body.
  const hasBody = status >= 200 && status !== 204 && status !== 205 && status !== 304
  return new Response(hasBody ? Buffer.concat(chunks) : null, { status, headers })
}
