import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { AppError, ERROR_CODES, type ErrorCode, toAppError } from '../../errors.ts'
import type { Instances } from '../../library/ports/instances.ts'

/** How long an instance may take to begin an answer; one that is gone never does. */
const BEGUN_WITHIN_MS = 3_000
/** Longest relayed message. Relayed messages go through the database; answers to questions and prompt calls are far shorter. */
const MAX_MESSAGE_BYTES = 256 * 1024
/** Heartbeat of both sides while an answer is open, and the silence after which the other side counts as gone. */
const PULSE_MS = 10_000
const SILENCE_MS = 35_000

/** A relayed request, with the headers that the session's server reads. */
const relayed = z.object({
  sha256: z.string(),
  method: z.string(),
  headers: z.record(z.string(), z.string()),
  // Absent when a stream is opened.
  message: z.unknown().optional(),
})
type RelayedRequest = z.infer<typeof relayed>

const errorCode = z.custom<ErrorCode>((value) => typeof value === 'string' && Object.hasOwn(ERROR_CODES, value))

/** Messages between instances; `id` is of one request. The names are fixed: instances of two versions run side by side during an upgrade. */
const relayMessage = z.discriminatedUnion('is', [
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
type RelayMessage = z.infer<typeof relayMessage>

/** Headers of a request that its session's server looks at. */
const RELAYED_HEADERS = ['accept', 'content-type', 'mcp-session-id', 'mcp-protocol-version', 'last-event-id']

/** Relays requests of sessions between instances that share a store. */
export interface Relay {
  /** Has the session's holder answer; null when it no longer holds it. */
  ask(holder: string, sha256: string, request: Request, message: unknown): Promise<Response | null>
  /** Tells the holder that a session has ended. */
  tellEnded(holder: string, sha256: string): Promise<void>
  /** Takes a message from another instance. */
  receive(body: string): void
  close(): void
}

/** What other instances ask of this one. `handle` gives null for a session it does not hold. */
export interface RelayHandlers {
  handle(request: RelayedRequest): Promise<Response | null>
  end(sha256: string): Promise<void>
  /** Called with errors of this instance while another one waits for its answer. */
  onFault(error: AppError): void
}

/** An answer of another instance in progress. */
interface Waiting {
  receive(message: RelayMessage): void
  fail(): void
}

/** A relay over the mail of instances. */
export function createRelay(instances: Instances, handlers: RelayHandlers): Relay {
  /** Answers this instance waits for, and answers it is sending, by request. */
  const waiting = new Map<string, Waiting>()
  const sending = new Map<string, { cancel(): void; hear(): void }>()
  const send = async (to: string, body: RelayMessage): Promise<void> => await instances.sendMail(to, JSON.stringify(body))

  async function answer(from: string, id: string, request: RelayedRequest): Promise<void> {
    let isLeft = false
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
    const cancel = () => {
      isLeft = true
      reader?.cancel().catch(() => {})
    }
    // The asking instance may have died: a stream nobody reads would keep its client from opening another.
    const silence = setTimeout(cancel, SILENCE_MS)
    silence.unref()
    sending.set(id, { cancel, hear: () => silence.refresh() })
    const pulse = setInterval(() => void send(from, { is: 'pulse', id }).catch(() => {}), PULSE_MS)
    pulse.unref()
    try {
      const response = await handlers.handle(request)
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
      if (error.code === 'internal') handlers.onFault(error)
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
      if (request.signal.aborted) throw new AppError('unavailable', 'The client disconnected.')
      if (message !== undefined && Buffer.byteLength(JSON.stringify(message)) > MAX_MESSAGE_BYTES) {
        throw new AppError('too_large', `A session message can have up to ${MAX_MESSAGE_BYTES / 1024} KiB.`)
      }
      const id = randomUUID()
      const headers = Object.fromEntries(
        RELAYED_HEADERS.flatMap((name) => [[name, request.headers.get(name) ?? '']]).filter(([, value]) => value !== ''),
      )
      const head = Promise.withResolvers<{ status: number; headers: Record<string, string> } | null>()
      let stream: ReadableStreamDefaultController<Uint8Array> | undefined
      // A waiting reader gets the error; there may be none yet.
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
      // After the request itself: two messages sent at once may arrive in either order.
      const tellLeft = () => void sent.then(() => send(holder, { is: 'left', id })).catch(() => {})
      const leave = () => {
        over()
        head.reject(new AppError('unavailable', 'The client disconnected.'))
        tellLeft()
      }
      const fail = () => {
        over()
        // It may just be slow: its answer is no longer awaited.
        tellLeft()
        head.resolve(null)
        stream?.error(new AppError('unavailable', 'The instance handling this session stopped.'))
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
      const answerHead = await head.promise
      if (!answerHead) return null
      const hasBody = answerHead.status !== 202 && answerHead.status !== 204
      return new Response(hasBody ? body : null, { status: answerHead.status, headers: answerHead.headers })
    },
    tellEnded: (holder, sha256) => send(holder, { is: 'session ended', sha256 }),
    receive(text) {
      const one = readRelayMessage(text)
      if (!one) return
      if (one.is === 'request') void answer(one.from, one.id, one.request).catch(() => {})
      else if (one.is === 'session ended') void handlers.end(one.sha256).catch(() => {})
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

/** Null for a message this version does not know. */
function readRelayMessage(text: string): RelayMessage | null {
  try {
    return relayMessage.parse(JSON.parse(text))
  } catch {
    return null
  }
}
