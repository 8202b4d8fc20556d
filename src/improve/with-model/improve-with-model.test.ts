import { describe, expect, it } from 'vitest'
import type { Improver, LanguageModel, ModelRequest } from '../../domain/ports/models.ts'
import type { ImproveRequest } from '../improve-request.ts'
import { improveWithModel, type OnText } from './improve-with-model.ts'

const REQUEST: ImproveRequest = { prompt: 'Greet ${who}', outputType: 'text', outputFormat: 'text', inspirations: [] }
const IMPROVER: Improver = {
  model: null,
  systemPrompt: 'Improve it.',
  maxOutputTokens: 100,
  timeoutMs: 5000,
  budget: { requests: null, characters: null },
  drawLetters: () => 'm4rk',
  enter: () => () => {},
}

/** Improves as the operation does. */
const improve = (model: LanguageModel, improver: Improver, call: { signal?: AbortSignal; onText?: OnText } = {}) =>
  improveWithModel(model, REQUEST, improver, { deadline: AbortSignal.timeout(improver.timeoutMs), ...call })

/** A model that gives these answers in turn, word by word, and notes what it was asked. */
function scripted(...answers: readonly (string | (() => AsyncIterable<string>))[]): LanguageModel & { readonly asked: ModelRequest[] } {
  const asked: ModelRequest[] = []
  return {
    name: 'test/model',
    asked,
    async *streamText(request) {
      asked.push(request)
      const answer = answers[asked.length - 1] ?? ''
      if (typeof answer === 'string') yield* answer.split(/(?<= )/)
      else yield* answer()
    },
  }
}

/** Never gives a piece, and throws when the call is aborted, as a model does. */
const silent = (signal: () => AbortSignal) =>
  async function* () {
    await new Promise((_, reject) => signal().addEventListener('abort', () => reject(signal().reason)))
    yield ''
  }

describe('an answer that cannot be used', () => {
  it('is asked for again, saying why, and what was told is void', async () => {
    const model = scripted('Greet them.', 'Greet ${who} warmly.')
    const told: string[] = []
    const improved = await improve(model, IMPROVER, { onText: async (part) => void told.push(part.kind) })
    expect(improved).toBe('Greet ${who} warmly.')
    expect(told).toEqual(['delta', 'delta', 'restart', 'delta', 'delta', 'delta'])
    const [first, second] = model.asked
    expect(second?.system).toBe(first?.system)
    expect(second?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(second?.messages[0]).toEqual(first?.messages[0])
    expect(second?.messages[1]?.content).toBe('Greet them.')
    expect(second?.messages[2]?.content).toContain('<missing-m4rk>\n${who}\n</missing-m4rk>')
  })

  it('is not shown again when it is blank, and cut when it is long', async () => {
    const blank = scripted(' ', 'Greet ${who}')
    await improve(blank, IMPROVER)
    expect(blank.asked[1]?.messages.map(({ role }) => role)).toEqual(['user'])
    const long = scripted('x'.repeat(50_000), 'Greet ${who}')
    await improve(long, IMPROVER)
    expect(long.asked[1]?.messages[1]?.content.length).toBe(20_000)
  })
})

it('ends the call when the caller leaves', async () => {
  const caller = new AbortController()
  const model = scripted(silent(() => model.asked[0]?.signal ?? new AbortController().signal))
  const failed = improve(model, IMPROVER, { signal: caller.signal })
  caller.abort()
  await expect(failed).rejects.toMatchObject({ code: 'unavailable' })
})

it('ends the call when the time is over, though its reader does not read', async () => {
  const stalled = improve(scripted('word'), { ...IMPROVER, timeoutMs: 30 }, { onText: () => new Promise(() => {}) })
  const message = 'test/model did not finish within 0 seconds.'
  await expect(stalled).rejects.toMatchObject({ code: 'upstream_failed', message })
})
