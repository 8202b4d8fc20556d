import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { shareNext } from './share-next.ts'

it('gives those who come during a run the next one, and never runs two at once', async () => {
  let [started, running, most] = [0, 0, 0]
  const share = shareNext(async () => {
    const number = ++started
    most = Math.max(most, ++running)
    await nextTurn()
    running--
    return number
  })
  const first = share()
  const during = [share(), share(), share()]
  // Asks again at every moment of the change from one run to the next.
  const after = first.then(async (number) => {
    const later: Promise<number>[] = []
    for (let tick = 0; tick < 10; tick++) {
      later.push(share())
      await Promise.resolve()
    }
    return [number, ...(await Promise.all(later))]
  })
  expect(await Promise.all(during)).toEqual([2, 2, 2])
  const numbers = await after
  expect(numbers[0]).toBe(1)
  for (const number of numbers.slice(1)) expect(number).toBeGreaterThan(1)
  expect(most).toBe(1)
})

it('goes on after a run that failed', async () => {
  let isBroken = true
  const share = shareNext(async () => {
    if (isBroken) throw new Error('broken')
    return 'done'
  })
  const [first, second] = [share(), share()]
  await expect(first).rejects.toThrow('broken')
  await expect(second).rejects.toThrow('broken')
  isBroken = false
  expect(await share()).toBe('done')
})
