import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { AppError, ERROR_CODES, type ErrorCode, toAppError } from '../../errors.ts'
import type { Instances } from '../../library/ports/instances.ts'

/** How long an instance may take to begin an answer: one that has gone says nothing. */
const BEGUN_WITHIN_MS = 3_000
/** Longest message that is passed on: answers to questions and calls of prompts are far shorter, and what is passed on goes through the database. */
const MAX_MESSAGE_BYTES = 256 * 1024
/** How often each of the two says that it is still there while an answer is open, and after which silence the other believes it gone. */
const PULSE_MS = 10_000
const SILENCE_MS = 35_000

/** A request as another instance is asked to answer it for a session it holds. The headers are those the session's server reads. */
const relayed = z.object({
  sha256: z.string(),
  method: z.string(),
  headers: z.record(z.string(), z.string()),
  // Streams that are opened bring none.
  message: z.unknown().optional(),
})
type RelayedRequest = z.infer<typeof relayed>

const errorCode = z.custom<ErrorCode>((value) => typeof value === 'string' && Object.hasOwn(ERROR_CODES, value))

/** What instances write to each other; `id` is of one request. */
const letter = z.discriminatedUnion('is', [
  z.object({ is: z.literal('request'), id: z.string(), from: z.string(), request: relayed }),
  z.object({ is: z.literal('gone'), id: z.string() }),
  z.object({ is: z.literal('refused'), id: z.string(), code: errorCode, message: z.string() }),
  z.object({ is: z.literal('head'), id: z.string(), status: z.number(), headers: z.record(z.string(), z.string()) }),
  z.object({ is: z.literal('piece'), id: z.string(), base64: z.string() }),
  z.object({ is: z.literal('pulse'), id: z.string() }),
  z.object({ is: z.literal('end'), id: z.string() }),
  z.object({ is: z.literal('left'), id: z.string() }),
  z.object({ is: z.literal('session ended'), sha256: z.string() }),
])
type Letter = z.infer<typeof letter>

/** Headers of a request that its session's server looks at. */
const RELAYED_HEADERS = ['accept', 'content-type', 'mcp-session-id', 'mcp-protocol-version', 'last-event-id']

/** Passes requests of sessions between the instances that share a store. */
export interface Relay {
  /** Has the holder of a session answer; null when it does not hold it (any more). */
  ask(holder: string, sha256: string, request: Request, message: unknown): Promise<Response | null>
  /** Tells the holder that a session has ended. */
  tellEnded(holder: string, sha256: string): Promise<void>
  /** Takes in what another instance wrote. */
  receive(body: string): void
  close(): void
}

/** What this instance does for others; `handle` gives null for a session it does not hold. */
export interface RelayDuties {
  handle(request: RelayedRequest): Promise<Response | null>
  end(sha256: string): Promise<void>
  /** Hears of what failed here while another instance waited for it. */
  onFault(error: AppError): void
}

/** An answer under way from another instance. */
interface Waiting {
  receive(letter: Letter): void
  fail(): void
}

/** A relay over the mail of instances. */
export function createRelay(instances: Instances, duties: RelayDuties): Relay {
  /** Answers this instance waits for, and answers it is sending, by request. */
  const waiting = new Map<string, Waiting>()
  const sending = new Map<string, { cancel(): void; hear(): void }>()
  const send = async (to: string, body: Letter): Promise<void> => await instances.sendMail(to, JSON.stringify(body))

  async function answer(from: string, id: string, request: RelayedRequest): Promise<void> {
    let isLeft = false
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
    const cancel = () => {
      isLeft = true
      reader?.cancel().catch(() => {})
    }
    // Who asked may have gone without a word: a stream nobody reads would keep its client from opening another.
    const silence = setTimeout(cancel, SILENCE_MS)
    silence.unref()
    sending.set(id, { cancel, hear: () => silence.refresh() })
    const pulse = setInterval(() => void send(from, { is: 'pulse', id }).catch(() => {}), PULSE_MS)
    pulse.unref()
    try {
      const response = await duties.handle(request)
      if (!response) return await send(from, { is: 'gone', id })
      await send(from, { is: 'head', id, status: response.status, headers: Object.fromEntries(response.headers) })
      reader = response.body?.getReader()
      while (reader && !isLeft) {
        const { done, value } = await reader.read()
        if (done) break
        await send(from, { is: 'piece', id, base64: Buffer.from(value).toString('base64') })
      }
      if (isLeft) await reader?.cancel().catch(() => {})
      await send(from, { is: 'end', id })
    } catch (thrown) {
      const error = toAppError(thrown)
      if (error.code === 'internal') duties.onFault(error)
      const { code, message } = error
      await send(from, { is: 'refused', id, code, message })
    } finally {
      clearInterval(pulse)
      clearTimeout(silence)
      sending.delete(id)
    }
  }

  return {
    async ask(holder, sha256, request, message) {
      if (request.signal.aborted) throw new AppError('unavailable', 'The client left.')
      if (message !== undefined && Buffer.byteLength(JSON.stringify(message)) > MAX_MESSAGE_BYTES) {
        throw new AppError('too_large', `A message of a session may have up to ${MAX_MESSAGE_BYTES / 1024} KiB.`)
      }
      const id = randomUUID()
      const headers = Object.fromEntries(
        RELAYED_HEADERS.flatMap((name) => [[name, request.headers.get(name) ?? '']]).filter(([, value]) => value !== ''),
      )
      const head = Promise.withResolvers<{ status: number; headers: Record<string, string> } | null>()
      let stream: ReadableStreamDefaultController<Uint8Array> | undefined
      // Whoever waits for it hears of a refusal; nobody may be waiting yet.
      head.promise.catch(() => {})
      const pulse = setInterval(() => void send(holder, { is: 'pulse', id }).catch(() => {}), PULSE_MS)
      pulse.unref()
      const over = () => {
        clearTimeout(timer)
        clearInterval(pulse)
        waiting.delete(id)
        request.signal.removeEventListener('abort', leave)
      }
      let sent = Promise.resolve()
      // After the request itself: two letters that are sent at once may arrive in either order.
      const tellLeft = () => void sent.then(() => send(holder, { is: 'left', id })).catch(() => {})
      const leave = () => {
        over()
        head.reject(new AppError('unavailable', 'The client left.'))
        tellLeft()
      }
      const fail = () => {
        over()
        // It may only have been slow: what it has begun is not waited for.
        tellLeft()
        head.resolve(null)
        stream?.error(new AppError('unavailable', 'The instance that answered has gone.'))
      }
      let timer = setTimeout(fail, BEGUN_WITHIN_MS)
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          stream = controller
        },
        cancel: leave,
      })
      waiting.set(id, {
        fail,
        receive(one) {
          clearTimeout(timer)
          if (one.is === 'gone') {
            over()
            head.resolve(null)
            return
          }
          timer = setTimeout(fail, SILENCE_MS)
          timer.unref()
          if (one.is === 'refused') {
            over()
            const refusal = new AppError(one.code, one.message)
            head.reject(refusal)
            stream?.error(refusal)
          }
          if (one.is === 'head') head.resolve({ status: one.status, headers: one.headers })
          if (one.is === 'piece') stream?.enqueue(Buffer.from(one.base64, 'base64'))
          if (one.is === 'end') {
            over()
            stream?.close()
          }
        },
      })
      request.signal.addEventListener('abort', leave, { once: true })
      try {
        sent = send(holder, { is: 'request', id, from: instances.instance, request: { sha256, method: request.method, headers, message } })
        await sent
      } catch (error) {
        over()
        throw error
      }
      const known = await head.promise
      if (!known) return null
      const hasBody = known.status !== 202 && known.status !== 204
      return new Response(hasBody ? body : null, { status: known.status, headers: known.headers })
    },
    tellEnded: (holder, sha256) => send(holder, { is: 'session ended', sha256 }),
    receive(text) {
      const one = readLetter(text)
      if (!one) return
      if (one.is === 'request') void answer(one.from, one.id, one.request).catch(() => {})
      else if (one.is === 'session ended') void duties.end(one.sha256).catch(() => {})
      else if (one.is === 'left') sending.get(one.id)?.cancel()
      else if (one.is === 'pulse' && sending.has(one.id)) sending.get(one.id)?.hear()
      else waiting.get(one.id)?.receive(one)
    },
    close() {
      for (const one of [...waiting.values()]) one.fail()
      for (const one of [...sending.values()]) one.cancel()
    },
  }
}

/** An instance of another version may write what this one does not know. */
function readLetter(text: string): Letter | null {
  try {
    return letter.parse(JSON.parse(text))
  } catch {
    return null
  }
}
