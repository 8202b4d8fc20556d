import { setTimeout as sleep } from 'node:timers/promises'
import type { LanguageModel as SdkModel, streamText as SdkStreamText } from 'ai'
import type { LanguageModel, ModelRequest } from '../domain/ports/models.ts'
import { AppError } from '../errors.ts'
import { describeFailure, type Failure, waitBeforeRetry } from './retries.ts'

/** Resolves after that many milliseconds; rejects when the signal is aborted. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>

/** A model of the SDK, and the parts of the SDK that talk to it: loaded when first needed, because that takes a second and much memory. */
interface Loaded {
  /** An object, never a bare name: names go to a gateway of the SDK's vendor. */
  readonly model: Exclude<SdkModel, string>
  readonly streamText: typeof SdkStreamText
  readonly readFailure: (error: unknown) => Failure | null
}

/** Makes a model of the SDK; imports its provider's package. */
export type LoadModel = () => Promise<Loaded['model']>

/**
 * A model behind a provider of the AI SDK. Failures that may pass are tried again before the first piece of text, Retry-After honoured.
 * Nothing it throws holds the prompt, the answer or the key.
 */
export function createLanguageModel(name: string, loadModel: LoadModel, wait: Wait = sleepFor): LanguageModel {
  let loading: Promise<Loaded> | undefined
  const load = async () => {
    loading ??= loadSdk(loadModel)
    return await loading
  }
  return {
    name,
    async *streamText(request) {
      const loaded = await load()
      const started = performance.now()
      for (let attempt = 0; ; attempt++) {
        let hasBegun = false
        try {
          for await (const text of attemptOnce(name, loaded, request)) {
            hasBegun = true
            yield text
          }
          return
        } catch (error) {
          request.signal.throwIfAborted()
          const failure = loaded.readFailure(error)
          const leftMs = request.timeoutMs - (performance.now() - started)
          const waitMs = failure && !hasBegun ? waitBeforeRetry(failure, attempt, leftMs, Date.now()) : null
          if (waitMs === null) throw toUpstreamError(name, error, failure, hasBegun)
          await wait(waitMs, request.signal)
        }
      }
    },
  }
}

const sleepFor: Wait = (ms, signal) => sleep(ms, undefined, { signal })

async function loadSdk(loadModel: LoadModel): Promise<Loaded> {
  const [{ streamText, APICallError }, model] = await Promise.all([import('ai'), loadModel()])
  // The SDK's warnings about model settings are of no use to a user.
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })
  return {
    model,
    streamText,
    readFailure: (error) =>
      APICallError.isInstance(error) ? { status: error.statusCode, retryAfter: error.responseHeaders?.['retry-after'] } : null,
  }
}

/** One call. When the reader stops early, the call is ended too. */
async function* attemptOnce(name: string, { model, streamText }: Loaded, request: ModelRequest): AsyncGenerator<string, void> {
  const left = new AbortController()
  try {
    const { stream } = streamText({
      model,
      ...(request.system !== '' && { system: request.system }),
      ...(request.temperature !== undefined && { temperature: request.temperature }),
      messages: request.messages.map(({ role, content }) => ({ role, content })),
      maxOutputTokens: request.maxOutputTokens,
      maxRetries: 0,
      abortSignal: AbortSignal.any([request.signal, left.signal]),
      // OpenAI alone can be asked so; what others keep is between them and the operator.
      providerOptions: { openai: { store: false } },
      // Without this the SDK prints the error, and the prompt with it.
      onError: () => {},
    })
    let isFinished = false
    for await (const part of stream) {
      if (part.type === 'text-delta') yield part.text
      else if (part.type === 'error') throw part.error
      else if (part.type === 'abort') request.signal.throwIfAborted()
      else if (part.type === 'finish') {
        const { inputTokens, outputTokens } = part.totalUsage
        if (inputTokens !== undefined && outputTokens !== undefined) request.onUsage?.({ input: inputTokens, output: outputTokens })
        refuseUnfinished(name, part.finishReason, part.rawFinishReason)
        isFinished = true
      }
    }
    if (!isFinished) throw wasCutOff(name)
  } finally {
    left.abort()
  }
}

/** @throws AppError `upstream_failed` unless the model finished its answer */
function refuseUnfinished(name: string, reason: string, rawReason: string | undefined): void {
  if (reason === 'length')
    throw new AppError('upstream_failed', `${name} reached the token limit; the operator can raise IMPROVE_MAX_TOKENS.`)
  if (reason === 'content-filter') throw new AppError('upstream_failed', `${name} refused to answer: its content filter stopped it.`)
  // Some servers have reasons of their own for a proper end; a stream that breaks off without a word has none.
  if (reason === 'error' || (reason !== 'stop' && rawReason === undefined)) throw wasCutOff(name)
}

/** A failure as callers see it. Causes are left out: the SDK's errors hold the request. */
function toUpstreamError(name: string, error: unknown, failure: Failure | null, hasBegun: boolean): AppError {
  const own = findOwn(error)
  if (own) return own
  if (hasBegun) return wasCutOff(name)
  if (!failure || failure.status === 200) return new AppError('upstream_failed', `${name} returned an unreadable response.`)
  return describeFailure(name, failure)
}

function wasCutOff(name: string): AppError {
  return new AppError('upstream_failed', `The response of ${name} was cut off.`)
}

/** An error of ours, as it is or wrapped by the SDK. */
function findOwn(error: unknown): AppError | null {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++) if (one instanceof AppError) return one
  return null
}
