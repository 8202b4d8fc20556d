import { setTimeout as sleep } from 'node:timers/promises'
import type { LanguageModel as SdkModel, streamText as SdkStreamText } from 'ai'
import { z } from 'zod'
import type { LanguageModel, ModelRequest } from '../domain/ports/models.ts'
import { tryJson } from '../domain/text/json.ts'
import { AppError } from '../errors.ts'
import { createBoundedFetch, describeFailure, type Failure, waitBeforeRetry } from './model-requests.ts'

/** Resolves after that many milliseconds; rejects when the signal is aborted. */
type Wait = (ms: number, signal: AbortSignal) => Promise<void>

/** A model of the SDK, and the parts of the SDK that talk to it: loaded when first needed, because that takes a second and much memory. */
interface Loaded {
  /** An object, never a bare name: names go to a gateway of the SDK's vendor. */
  readonly model: Exclude<SdkModel, string>
  readonly streamText: typeof SdkStreamText
  readonly readFailure: (error: unknown) => Failure | null
}

/** Makes a model of the SDK; imports its provider's package. */
type LoadModel = () => Promise<Loaded['model']>

/**
 * A model behind a provider of the AI SDK. Failures that may pass are tried again before the first piece of text, Retry-After honoured.
 * Nothing it throws holds the prompt, the answer or the key.
 */
function createLanguageModel(name: string, loadModel: LoadModel, wait: Wait = sleepFor): LanguageModel {
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

const wholeAnswer = z.looseObject({
  choices: z.tuple([z.looseObject({ message: z.looseObject({ content: z.string() }), finish_reason: z.string().nullish() })], z.unknown()),
})

/**
 * `fetch` for servers that speak OpenAI's protocol but do not stream: an answer that comes whole, as JSON, is turned into the
 * stream that was asked for. Everything else is handed on as it is.
 */
function streamWholeAnswers(fetcher: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await fetcher(input, init)
    if (!response.ok || !/^application\/json\b/i.test(response.headers.get('content-type') ?? '')) return response
    const text = await response.text()
    const choice = wholeAnswer.safeParse(tryJson(text)).data?.choices[0]
    if (!choice) return new Response(text, { status: response.status, headers: response.headers })
    const { message, finish_reason: reason } = choice
    const chunks = [
      { delta: { role: 'assistant', content: message.content }, finish_reason: null },
      { delta: {}, finish_reason: reason ?? 'stop' },
    ]
    const events = chunks.map((chunk) => `data: ${JSON.stringify({ choices: [{ index: 0, ...chunk }] })}\n\n`)
    return new Response(`${events.join('')}data: [DONE]\n\n`, { headers: { 'Content-Type': 'text/event-stream' } })
  }
}

/** Which model improves prompts, and the keys for it. */
export interface ModelSettings {
  /** Such as `openai/gpt-5`; null: none. */
  readonly model: string | null
  /** A server that speaks OpenAI's protocol, up to and with its version (`http://127.0.0.1:11434/v1`). */
  readonly openaiBaseUrl: string | null
  readonly openaiKey: string | null
  readonly anthropicKey: string | null
  readonly googleKey: string | null
  /** Waits before a retry. Tests pass one that takes no time. */
  readonly wait?: Wait
}

/** Most bytes of one response; the used part is much smaller. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/** A provider: the setting of its key, and its model factory. The address is explicit, so that the SDK reads none from the environment. */
interface Provider {
  readonly keySetting: string
  readonly key: (settings: ModelSettings) => string | null
  readonly load: (modelId: string, apiKey: string, fetch: typeof globalThis.fetch) => ReturnType<LoadModel>
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: {
    keySetting: 'OPENAI_API_KEY',
    key: (settings) => settings.openaiKey,
    async load(modelId, apiKey, fetch) {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI({ apiKey, baseURL: 'https://api.openai.com/v1', fetch })(modelId)
    },
  },
  anthropic: {
    keySetting: 'ANTHROPIC_API_KEY',
    key: (settings) => settings.anthropicKey,
    async load(modelId, apiKey, fetch) {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic({ apiKey, baseURL: 'https://api.anthropic.com/v1', fetch })(modelId)
    },
  },
  google: {
    keySetting: 'GOOGLE_GENERATIVE_AI_API_KEY',
    key: (settings) => settings.googleKey,
    async load(modelId, apiKey, fetch) {
      const { createGoogle } = await import('@ai-sdk/google')
      const baseURL = 'https://generativelanguage.googleapis.com/v1beta'
      return createGoogle({ apiKey, baseURL, fetch })(modelId)
    },
  },
}

/**
 * The configured model, or null. Nothing is loaded or called before its first use.
 * @throws AppError `invalid_input` for an unknown provider or a missing key
 */
export function resolveModel(settings: ModelSettings, fetcher: typeof fetch = fetch): LanguageModel | null {
  const name = settings.model
  if (name === null) return null
  const bounded = createBoundedFetch(MAX_ANSWER_BYTES, fetcher)
  if (settings.openaiBaseUrl !== null) {
    const modelId = name.replace(/^openai\//, '')
    if (modelId.trim() === '') throw new AppError('invalid_input', `IMPROVE_MODEL is "${name.slice(0, 100)}", which has no model name.`)
    // URL.parse takes the first part of the path of http:///v1 for the host.
    if (!/^https?:\/\/[^/?#]/i.test(settings.openaiBaseUrl)) {
      throw new AppError('invalid_input', 'OPENAI_BASE_URL has no host; use an address such as http://127.0.0.1:11434/v1.')
    }
    return createLanguageModel(name, loadCompatible(modelId, settings.openaiBaseUrl, settings.openaiKey, bounded), settings.wait)
  }
  const [, providerName = '', modelId = ''] = /^([^/]+)\/(.+)$/.exec(name) ?? []
  const provider = Object.hasOwn(PROVIDERS, providerName) ? PROVIDERS[providerName] : undefined
  if (!provider) {
    const known = Object.keys(PROVIDERS).map((one) => `${one}/MODEL`)
    throw new AppError(
      'invalid_input',
      `IMPROVE_MODEL is "${name.slice(0, 100)}", which has no known provider. Use ${known.join(', ')}, or set OPENAI_BASE_URL to the server of the model.`,
    )
  }
  const key = provider.key(settings)
  if (key === null) throw new AppError('invalid_input', `IMPROVE_MODEL is "${name.slice(0, 100)}", which needs ${provider.keySetting}.`)
  return createLanguageModel(name, () => provider.load(modelId, key, bounded), settings.wait)
}

/** Any server that speaks OpenAI's protocol; many of them want no key. */
function loadCompatible(modelId: string, baseURL: string, apiKey: string | null, fetch: typeof globalThis.fetch): LoadModel {
  return async () => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    return createOpenAICompatible({
      name: 'compatible',
      baseURL,
      fetch: streamWholeAnswers(fetch),
      ...(apiKey === null ? {} : { apiKey }),
    })(modelId)
  }
}
