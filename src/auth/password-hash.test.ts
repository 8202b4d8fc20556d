import { scryptSync } from 'node:crypto'
import { setImmediate as settle } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { hashingMemory, isWeakerHash, passwordHasher, queueHashing } from './password-hash.ts'

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

/** A hasher that says how many work at once, and ends one when told. */
function slowHasher() {
  const ends: (() => void)[] = []
  let running = 0
  let most = 0
  const work = async <T>(result: T): Promise<T> => {
    running++
    most = Math.max(most, running)
    await new Promise<void>((resolve) => ends.push(resolve))
    running--
    return result
  }
  return { hasher: { hash: (password: string) => work(`hash of ${password}`), verify: () => work(true) }, ends, most: () => most }
}
const MIB = 2 ** 20

it('works on two at once, and on all in their order', async () => {
  const { hasher, ends, most } = slowHasher()
  const queue = queueHashing(hasher, 32 * MIB)
  const done: string[] = []
  const all = ['a', 'b', 'c', 'd', 'e'].map((password) => queue.hash(password).then((hash) => done.push(hash)))
  for (let n = 0; n < 5; n++) {
    await settle()
    ends.shift()?.()
  }
  await Promise.all(all)
  expect(done).toEqual(['a', 'b', 'c', 'd', 'e'].map((password) => `hash of ${password}`))
  expect(most()).toBe(2)
})

it('refuses who comes when too many wait, and takes others again later', async () => {
  const { hasher, ends } = slowHasher()
  const queue = queueHashing(hasher, 32 * MIB)
  const all = Array.from({ length: 102 }, (_, index) => queue.hash(String(index)))
  await expect(queue.verify({ hash: '', password: '' })).rejects.toMatchObject({ code: 'unavailable' })
  for (let n = 0; n < 102; n++) {
    while (ends.length === 0) await settle()
    ends.shift()?.()
  }
  await Promise.all(all)
  const late = queue.verify({ hash: '', password: '' })
  await settle()
  ends.shift()?.()
  expect(await late).toBe(true)
})

it('gives a place free when hashing fails', async () => {
  const queue = queueHashing({ hash: () => Promise.reject(new Error('broken')), verify: () => Promise.resolve(false) }, 32 * MIB)
  for (let n = 0; n < 5; n++) await expect(queue.hash('x')).rejects.toThrow('broken')
  expect(await queue.verify({ hash: '', password: '' })).toBe(false)
})

it('works on one at a time when one takes all the memory there is for it', async () => {
  const { hasher, ends, most } = slowHasher()
  const queue = queueHashing(hasher, 128 * MIB)
  const all = ['a', 'b', 'c'].map((password) => queue.hash(password))
  for (let n = 0; n < 3; n++) {
    await settle()
    ends.shift()?.()
  }
  await Promise.all(all)
  expect(most()).toBe(1)
})
