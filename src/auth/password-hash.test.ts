import { hashPassword } from 'better-auth/crypto'
import { describe, expect, it } from 'vitest'
import { hashingMemory, isWeakerHash, passwordHasher } from './password-hash.ts'

const PASSWORD = 'correct horse ﬁ'

describe('a hash', () => {
  it('of OWASP’s cost says so, and is checked', async () => {
    const owasp = passwordHasher('owasp')
    const hash = await owasp.hash(PASSWORD)
    expect(hash).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(await owasp.verify({ hash, password: 'correct horse fi' })).toBe(true)
    expect(await owasp.hash(PASSWORD)).not.toBe(hash)
  })

  it('of one kind is checked under the setting of the other', async () => {
    const [standard, owasp] = [passwordHasher('standard'), passwordHasher('owasp')]
    const [old, strong] = [await hashPassword(PASSWORD), await owasp.hash(PASSWORD)]
    expect(await standard.hash(PASSWORD)).toMatch(/^[0-9a-f]{32}:[0-9a-f]{128}$/)
    for (const hasher of [standard, owasp])
      for (const hash of [old, strong]) {
        expect(await hasher.verify({ hash, password: PASSWORD })).toBe(true)
        expect(await hasher.verify({ hash, password: 'wrong' })).toBe(false)
      }
    expect([isWeakerHash(old, 'owasp'), isWeakerHash(strong, 'owasp'), isWeakerHash(strong, 'standard')]).toEqual([true, false, false])
  })

  it('that asks for too much is refused', async () => {
    const hash = `$scrypt$ln=40,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
    await expect(passwordHasher('owasp').verify({ hash, password: PASSWORD })).rejects.toThrow()
  })

  it('takes the memory that is counted', () => {
    expect([hashingMemory('standard'), hashingMemory('owasp')]).toEqual([32 * 2 ** 20, 128 * 2 ** 20])
  })
})
