import { setImmediate as settle } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { queueHashing } from './password-hasher.ts'

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
