import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTurns } from './turns.ts'

/** Turns on a clock that moves by the work that is done. */
function start() {
  let now = 0
  const turns = createTurns(() => now)
  const order: string[] = []
  return {
    turns,
    order,
    /** A request that takes some milliseconds once it is its turn. */
    async work(caller: string, cost: number, ms: number, name = caller) {
      const turn = turns.take(caller, cost)
      if (turn) await turn
      order.push(name)
      // A few microtasks, as work that awaits what is there already.
      for (let step = 0; step < 3; step++) await null
      now += ms
    },
  }
}

it('lets requests through at once as long as the turn is short', async () => {
  const { turns, work } = start()
  for (let count = 0; count < 3; count++) await work('a', 5, 3)
  expect(turns.take('a', 5)).toBeNull()
})

it('lets what does not fit wait, by caller in round robin, some milliseconds a turn', async () => {
  const { work, order } = start()
  await work('a', 5, 11, 'a0')
  const all = [work('a', 5, 6, 'a1'), work('a', 5, 6, 'a2'), work('a', 5, 6, 'a3'), work('b', 5, 6, 'b1'), work('c', 5, 6, 'c1')]
  expect(order).toEqual(['a0'])
  await nextTurn()
  // Ten milliseconds of waiting work: two requests of six.
  expect(order).toEqual(['a0', 'a1', 'b1'])
  await Promise.all(all)
  expect(order).toEqual(['a0', 'a1', 'b1', 'c1', 'a2', 'a3'])
})

it('lets light requests pass while dear ones wait, up to a longer turn', async () => {
  const { turns, work, order } = start()
  await work('a', 5, 20)
  const dear = work('a', 5, 1, 'dear')
  await work('b', 1, 30, 'light')
  expect(order).toEqual(['a', 'light'])
  expect(turns.take('b', 1)).toBeInstanceOf(Promise)
  await dear
})

it('keeps turns short while connections come in, and waiting work stands back for them, though not for ever', async () => {
  const { turns, work, order } = start()
  await work('a', 5, 11, 'a0')
  const waiting = work('a', 5, 1, 'a1')
  for (let turn = 0; turn < 20; turn++) {
    turns.noteConnection()
    await nextTurn()
  }
  expect(order).toEqual(['a0'])
  for (let turn = 0; turn < 20; turn++) {
    turns.noteConnection()
    await nextTurn()
  }
  await waiting
  expect(order).toEqual(['a0', 'a1'])
  await nextTurn()
  turns.noteConnection()
  expect(turns.take('a', 1)).toBeNull()
  await work('b', 1, 3)
  expect(turns.take('a', 1)).toBeInstanceOf(Promise)
})
