import { expect, it, test } from 'vitest'
import { createImprover, createTestModels, type ImproveSettings } from './models.ts'

const SETTINGS: ImproveSettings = {
  model: null,
  openaiBaseUrl: null,
  openaiKey: null,
  anthropicKey: null,
  googleKey: null,
  timeoutMs: 1000,
  maxOutputTokens: 1,
  concurrency: 4,
  budget: { requests: null, characters: null },
  systemPromptFile: null,
}

it('lets one caller hold half of the places, and all callers all of them', () => {
  const { enter } = createImprover(SETTINGS, () => 'x')
  const leave = enter('a')
  enter('a')
  expect(() => enter('a')).toThrow(/^2 prompts of yours are being improved already/)
  enter('b')
  enter('b')
  expect(() => enter('c')).toThrow(/^4 prompts are being improved already/)
  leave()
  leave()
  enter('c')
  expect(() => enter('d')).toThrow(expect.objectContaining({ code: 'unavailable', retryAfterSeconds: 5 }))
})

test('callers take turns at the places for models', async () => {
  const keys = { model: null, openaiBaseUrl: null, openaiKey: null, anthropicKey: null, googleKey: null, concurrency: 2 }
  const { inPlace } = createTestModels({ models: [], dailyTokens: null, dailyUsd: null }, keys)
  const order: string[] = []
  const ask = (caller: string) => inPlace(caller, async () => order.push(caller))
  await Promise.all([...Array.from({ length: 30 }, () => ask('mallory')), ask('ada')])
  expect(order.indexOf('ada')).toBeLessThan(4)
  expect(order).toHaveLength(31)
})
