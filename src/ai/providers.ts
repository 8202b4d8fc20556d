import { z } from 'zod'
import type { LanguageModel } from '../domain/ports/models.ts'
import { AppError } from '../errors.ts'
import { createBoundedFetch } from './bounded-fetch.ts'
import { createLanguageModel, type LoadModel, type Wait } from './language-model.ts'

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
    const choice = readWhole(text)?.choices[0]
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

function readWhole(text: string): z.infer<typeof wholeAnswer> | undefined {
  try {
    return wholeAnswer.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
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
