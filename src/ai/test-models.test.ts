import { expect, test } from 'vitest'
import { createTestModels } from './test-models.ts'

test('callers take turns at the places for models', async () => {
  const keys = { model: null, openaiBaseUrl: null, openaiKey: null, anthropicKey: null, googleKey: null, concurrency: 2 }
  const { inPlace } = createTestModels({ models: [], dailyTokens: null, dailyUsd: null }, keys)
  const order: string[] = []
  const ask = (caller: string) => inPlace(caller, async () => order.push(caller))
  await Promise.all([...Array.from({ length: 30 }, () => ask('mallory')), ask('ada')])
  expect(order.indexOf('ada')).toBeLessThan(4)
  expect(order).toHaveLength(31)
})
