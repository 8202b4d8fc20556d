import { afterEach, describe, expect, it, vi } from 'vitest'
import { type ModelSettings, resolveModel } from './providers.ts'

const NONE: ModelSettings = { model: null, openaiBaseUrl: null, openaiKey: null, anthropicKey: null, googleKey: null }
const KEYS = { openaiKey: 'sk-1', anthropicKey: 'sk-2', googleKey: 'sk-3' }

describe('resolveModel', () => {
  it('gives none when none is named, whatever else is set', () => {
    expect(resolveModel({ ...NONE, ...KEYS, openaiBaseUrl: 'http://127.0.0.1:1/v1' })).toBeNull()
  })

  it.each(['openai/gpt-5', 'anthropic/claude-opus-5', 'google/gemini-3', 'google/models/gemini-3'])('knows %s, by that name', (model) => {
    expect(resolveModel({ ...NONE, ...KEYS, model })?.name).toBe(model)
  })

  it.each(['llama3', 'openai/llama3', 'anthropic/claude', 'org/model:7b'])('asks for %s at a server of its own, without a key', (model) => {
    expect(resolveModel({ ...NONE, model, openaiBaseUrl: 'http://127.0.0.1:1/v1' })?.name).toBe(model)
  })

  it.each(['gpt-5', 'openai', 'openai/', '/gpt-5', 'mistral/large', 'constructor/x', '__proto__/x'])(
    'refuses %s: no provider known',
    (model) => {
      expect(() => resolveModel({ ...NONE, ...KEYS, model })).toThrow(
        expect.objectContaining({
          code: 'invalid_input',
          message: expect.stringMatching(/^IMPROVE_MODEL is .*openai\/MODEL.*OPENAI_BASE_URL/),
        }),
      )
    },
  )

  it('refuses a server without a host, and a model without a name', () => {
    const refused = (model: string, openaiBaseUrl: string) => () => resolveModel({ ...NONE, model, openaiBaseUrl })
    expect(refused('openai/', 'http://127.0.0.1:1/v1')).toThrow(/^IMPROVE_MODEL is "openai\/", which has no model name\.$/)
    expect(refused('llama3', 'http:///v1')).toThrow(/^OPENAI_BASE_URL has no host/)
  })

  it.each([
    ['openai/gpt-5', 'openaiKey', 'OPENAI_API_KEY'],
    ['anthropic/claude', 'anthropicKey', 'ANTHROPIC_API_KEY'],
    ['google/gemini', 'googleKey', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ])('refuses %s without its own key, and names the setting', (model, own, setting) => {
    expect(() => resolveModel({ ...NONE, ...KEYS, [own]: null, model })).toThrow(
      expect.objectContaining({ code: 'invalid_input', message: `IMPROVE_MODEL is "${model}", which needs ${setting}.` }),
    )
  })
})

/** What a provider's API answers to a question, in its own way. */
const EVENTS: Record<string, readonly (readonly [event: string | null, data: object])[]> = {
  'openai/gpt-5': [
    ['response.created', { type: 'response.created', response: { id: 'r', created_at: 1, model: 'gpt-5' } }],
    ['response.output_item.added', { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm' } }],
    ['response.output_text.delta', { type: 'response.output_text.delta', item_id: 'm', delta: 'Better ' }],
    ['response.output_text.delta', { type: 'response.output_text.delta', item_id: 'm', delta: 'so.' }],
    ['response.output_item.done', { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'm' } }],
    ['response.completed', { type: 'response.completed', response: { usage: { input_tokens: 1, output_tokens: 1 } } }],
  ],
  'anthropic/claude-opus-5': [
    [
      'message_start',
      {
        type: 'message_start',
        message: { id: 'm', model: 'c', role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
      },
    ],
    ['content_block_start', { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }],
    ['content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Better ' } }],
    ['content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'so.' } }],
    ['content_block_stop', { type: 'content_block_stop', index: 0 }],
    ['message_delta', { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } }],
    ['message_stop', { type: 'message_stop' }],
  ],
  'google/gemini-3': [
    [null, { candidates: [{ content: { role: 'model', parts: [{ text: 'Better ' }] } }] }],
    [null, { candidates: [{ content: { role: 'model', parts: [{ text: 'so.' }] }, finishReason: 'STOP' }] }],
  ],
}

const REQUEST = {
  system: 'the system',
  messages: [{ role: 'user', content: 'the question' }],
  maxOutputTokens: 77,
  timeoutMs: 5000,
  signal: AbortSignal.timeout(60_000),
} as const

function toEventStream(events: readonly (readonly [string | null, object])[]): Response {
  const lines = events.map(([event, data]) => `${event ? `event: ${event}\n` : ''}data: ${JSON.stringify(data)}\n\n`)
  return new Response(lines.join(''), { headers: { 'Content-Type': 'text/event-stream' } })
}

describe('each provider', () => {
  const ADDRESSES = {
    'openai/gpt-5': ['https://api.openai.com/v1/responses', 'authorization', 'Bearer sk-1'],
    'anthropic/claude-opus-5': ['https://api.anthropic.com/v1/messages', 'x-api-key', 'sk-2'],
    'google/gemini-3': [
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-3:streamGenerateContent?alt=sse',
      'x-goog-api-key',
      'sk-3',
    ],
  } as const
  const ENVIRONMENT = ['OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN']
  afterEach(() => vi.unstubAllEnvs())

  it.each(Object.entries(ADDRESSES))(
    '%s is asked at its own address with its own key, whatever the environment says',
    async (model, [url, header, key]) => {
      for (const name of ENVIRONMENT) vi.stubEnv(name, 'https://elsewhere.example')
      const sent: { url: string; headers: Headers; body: string }[] = []
      const found = resolveModel({ ...NONE, ...KEYS, model }, async (target, init) => {
        sent.push({ url: String(target), headers: new Headers(init?.headers), body: String(init?.body) })
        expect(init?.redirect).toBe('manual')
        return toEventStream(EVENTS[model] ?? [])
      })
      const pieces = await Array.fromAsync(found?.streamText(REQUEST) ?? [])
      expect(pieces.join('')).toBe('Better so.')
      expect(sent.map((one) => [one.url, one.headers.get(header)])).toEqual([[url, key]])
      for (const part of ['the system', 'the question', '77']) expect(sent[0]?.body).toContain(part)
      if (model.startsWith('openai/')) expect(JSON.parse(sent[0]?.body ?? '')).toMatchObject({ store: false })
    },
  )

  it.each(Object.keys(ADDRESSES))('%s is believed only when it came to its end', async (model) => {
    const events = EVENTS[model] ?? []
    const found = resolveModel({ ...NONE, ...KEYS, model }, async () => toEventStream(events.slice(0, model.startsWith('google') ? 1 : 4)))
    await expect(Array.fromAsync(found?.streamText(REQUEST) ?? [])).rejects.toMatchObject({
      code: 'upstream_failed',
      message: `The response of ${model} was cut off.`,
    })
  })

  it.each(Object.keys(ADDRESSES))('%s is not named with its key when it refuses', async (model) => {
    const found = resolveModel({ ...NONE, ...KEYS, model }, async (_, init) =>
      Response.json({ error: { message: `bad ${JSON.stringify([...new Headers(init?.headers)])}` } }, { status: 401 }),
    )
    const failed = Array.fromAsync(found?.streamText(REQUEST) ?? [])
    await expect(failed).rejects.toMatchObject({ code: 'upstream_failed', message: `${model} returned 401 (the key was rejected).` })
    // A cause would be the SDK's error, which holds the request and all it said.
    await expect(failed).rejects.not.toHaveProperty('cause')
  })
})
