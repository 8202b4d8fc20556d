import { expect, it } from 'vitest'
import { createImprover, type ImproveSettings } from './improver.ts'

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
const create = (settings: Partial<ImproveSettings>) => createImprover({ ...SETTINGS, ...settings }, () => 'x')

it('lets one caller hold half of the places, and all callers all of them', () => {
  const { enter } = create({})
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

it('lets a caller have the only place', () => {
  const { enter } = create({ concurrency: 1 })
  enter('a')()
  enter('a')
  expect(() => enter('b')).toThrow()
})

it('takes its system prompt from nothing that could be read without end', () => {
  expect(() => create({ systemPromptFile: '/dev/null' })).toThrow('IMPROVE_SYSTEM_PROMPT_FILE: /dev/null is not a file.')
})
