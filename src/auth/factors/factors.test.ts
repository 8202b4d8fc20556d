import { describe, expect, it } from 'vitest'
import { findStep, makeSecret, readCode, showSecret } from './factors.ts'

/** The secret of RFC 6238, appendix B, whose codes there have eight digits: apps show the last six. */
const SECRET = '12345678901234567890'

describe('codes of an app', () => {
  it.each([
    [59, '287082', 1],
    [1_111_111_109, '081804', 37_037_036],
    [1_234_567_890, '005924', 41_152_263],
    [2_000_000_000, '279037', 66_666_666],
  ])('at second %d are those of RFC 6238', async (second, code, step) => {
    expect(await findStep(SECRET, code, second * 1000)).toBe(step)
  })

  it('are read with spaces and hyphens, and nothing else', () => {
    expect(readCode(' 123 456 ')).toEqual({ kind: 'code', value: '123456' })
    expect(readCode('ABCD-efgh-2345-6777')).toEqual({ kind: 'recovery', value: 'abcdefgh23456777' })
    for (const typed of ['', '12345', '1234567', '１２３４５６', '123456x', 'abcd-efgh-0189-aaaa', '-'.repeat(90)])
      expect(readCode(typed), typed).toBeNull()
  })

  it('have a key that apps read from the address', () => {
    const { secret, uri } = showSecret(SECRET, 'library.example.org', 'ada')
    expect(secret).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
    expect(uri).toBe(`otpauth://totp/library.example.org:ada?secret=${secret}&issuer=library.example.org&digits=6&period=30`)
    expect(makeSecret()).toHaveLength(22)
    expect(makeSecret()).not.toBe(makeSecret())
  })
})
