import { describe, expect, it } from 'vitest'
import { createApiKey, readApiKey } from './credentials.ts'

const KEY = createApiKey(new Uint8Array(32).fill(1))
const OTHER = createApiKey(new Uint8Array(32).fill(2))
const read = (...headers: [string, string][]) => readApiKey(new Headers(headers))

describe('readApiKey', () => {
  it.each<[string, string]>([
    ['PROMPTS_API_KEY', KEY],
    ['prompts_api_key', KEY],
    ['PROMPTS-API-KEY', KEY],
    ['X-API-Key', KEY],
    ['Authorization', `Bearer ${KEY}`],
    ['Authorization', `bearer   ${KEY}`],
    ['X-API-Key', `  ${KEY}  `],
  ])('finds it in %s: %s', (name, value) => {
    expect(read([name, value])).toBe(KEY)
  })

  it('is null without any', () => {
    expect(read()).toBeNull()
    expect(read(['Cookie', `key=${KEY}`])).toBeNull()
  })

  it.each<[string, string]>([
    ['PROMPTS_API_KEY', ''],
    ['PROMPTS-API-KEY', '   '],
    ['X-API-Key', ''],
    ['Authorization', ''],
    ['Authorization', 'Bearer'],
    ['Authorization', 'Bearer '],
  ])('takes an empty %s (%j) as absent', (name, value) => {
    expect(read([name, value])).toBeNull()
    expect(read([name, value], ['X-API-Key', KEY])).toBe(KEY)
  })

  it.each(['Bearer eyJhbGciOi.J9.abc', 'Bearer sk-123', `Basic ${btoa(`ann:${KEY}`)}`, 'Digest username="x"'])('ignores %s', (value) => {
    expect(read(['Authorization', value])).toBeNull()
    expect(read(['Authorization', value], ['X-API-Key', KEY])).toBe(KEY)
  })

  it('takes the same key given twice', () => {
    expect(read(['PROMPTS_API_KEY', KEY], ['X-API-Key', KEY], ['Authorization', `Bearer ${KEY}`])).toBe(KEY)
    expect(read(['X-API-Key', KEY], ['X-API-Key', KEY])).toBe(KEY)
    expect(read(['Authorization', `Bearer ${KEY}`], ['Authorization', `Bearer ${KEY}`])).toBe(KEY)
  })

  it.each<[[string, string], [string, string]]>([
    [
      ['PROMPTS_API_KEY', KEY],
      ['X-API-Key', OTHER],
    ],
    [
      ['X-API-Key', KEY],
      ['X-API-Key', OTHER],
    ],
    [
      ['PROMPTS-API-KEY', KEY],
      ['Authorization', `Bearer ${OTHER}`],
    ],
    [
      ['X-API-Key', KEY],
      ['PROMPTS_API_KEY', 'not-a-key'],
    ],
  ])('refuses two different ones (%#), and shows neither', (one, two) => {
    expect(() => read(one, two)).toThrow(expect.objectContaining({ code: 'invalid_input' }))
    expect(() => read(one, two)).not.toThrow(/cpb_[0-9A-Za-z]/)
  })

  it.each<[string, string]>([
    ['X-API-Key', 'not-a-key'],
    ['PROMPTS_API_KEY', `${KEY}x`],
    ['Authorization', 'Bearer cpb_short'],
    ['Authorization', 'Bearer cpb_broken in two'],
  ])('does not hide a malformed one in %s: %s', (name, value) => {
    expect(read([name, value])).not.toBeNull()
  })
})
