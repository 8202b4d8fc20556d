import { AppError } from '../errors.ts'

/**
 * `fetch` for talking to a model: redirects are not followed, because a key goes where it was meant to go or nowhere,
 * and a body fails with `upstream_failed` after `maxBytes` (counted as they are read, unpacked).
 */
export function createBoundedFetch(maxBytes: number, fetcher: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await fetcher(input, { ...init, redirect: 'manual' })
    if (!response.body) return response
    let bytes = 0
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          bytes += chunk.byteLength
          if (bytes <= maxBytes) controller.enqueue(chunk)
          else
            controller.error(
              new AppError('upstream_failed', `The model server sent more than ${maxBytes} bytes; the response was stopped.`),
            )
        },
      }),
    )
    return new Response(counted, { status: response.status, headers: response.headers })
  }
}
