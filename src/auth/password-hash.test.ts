import { scryptSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { hashingMemory, isWeakerHash, passwordHasher } from './password-hash.ts'

const PASSWORD = 'correct horse ﬁ'
const [standard, owasp] = [passwordHasher('standard'), passwordHasher('owasp')]

describe('a hash', () => {
  it('of OWASP’s cost says so, is checked, and has a salt of its own', async () => {
    const hash = await owasp.hash(PASSWORD)
    expect(hash).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(await owasp.verify({ hash, password: 'correct horse fi' })).toBe(true)
    expect(await owasp.hash(PASSWORD)).not.toBe(hash)
  })

  it('of one kind is checked under the setting of the other', async () => {
    const old = await standard.hash(PASSWORD)
    expect(old).toMatch(/^[0-9a-f]{32}:[0-9a-f]{128}$/)
    // As OWASP's, but cheap: a hash says what it cost.
    const key = scryptSync(PASSWORD.normalize('NFKC'), Buffer.alloc(16), 32, { N: 2 ** 10, r: 8, p: 1 })
    const cheap = `$scrypt$ln=10,r=8,p=1$${'A'.repeat(22)}$${key.toString('base64').replace('=', '')}`
    for (const hasher of [standard, owasp])
      for (const hash of [old, cheap]) {
        expect(await hasher.verify({ hash, password: PASSWORD })).toBe(true)
        expect(await hasher.verify({ hash, password: 'wrong' })).toBe(false)
      }
    expect([isWeakerHash(old, 'owasp'), isWeakerHash(cheap, 'owasp'), isWeakerHash(cheap, 'standard')]).toEqual([true, false, false])
  })

  it('that asks for too much is refused', async () => {
    const hash = `$scrypt$ln=40,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
    await expect(standard.verify({ hash, password: PASSWORD })).rejects.toThrow()
  })

  it('takes the memory that is counted', () => {
    expect([hashingMemory('standard'), hashingMemory('owasp')]).toEqual([32 * 2 ** 20, 128 * 2 ** 20])
  })
})
