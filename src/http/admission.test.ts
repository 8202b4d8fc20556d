import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type AdmissionLimits, createAdmission, createTurns, type Place } from './admission.ts'

const LIMITS: AdmissionLimits = {
  running: { all: 4, known: 3, anonymous: 1 },
  waiting: { all: 3, each: 2 },
  streams: { all: 3, each: 2 },
  unsentBytes: { all: 1000, each: 100 },
}

/** A place that is there at once. */
function enterNow(admission: ReturnType<typeof createAdmission>, caller: string, isKnown = false): Place {
  const place = admission.enter(caller, isKnown)
  if (place instanceof Promise) throw new Error('the request had to wait')
  return place
}

describe('places', () => {
  it('are given at once while there are some, then in order', async () => {
    const admission = createAdmission(LIMITS)
    const first = enterNow(admission, 'a')
    const order: string[] = []
    const waiting = ['second', 'third'].map(async (name) => {
      const place = await admission.enter('a', false)
      order.push(name)
      return place
    })
    expect(() => admission.enter('a', false)).toThrow(expect.objectContaining({ code: 'rate_limited', retryAfterSeconds: 1 }))
    enterNow(admission, 'b')
    expect(order).toEqual([])
    first.leave()
    first.leave()
    const second = await waiting[0]
    expect(order).toEqual(['second'])
    second?.leave()
    await waiting[1]
    expect(order).toEqual(['second', 'third'])
  })

  it('are not waited for by a client that left', async () => {
    const admission = createAdmission(LIMITS)
    const first = enterNow(admission, 'a')
    const client = new AbortController()
    const gone = [1, 2].map(() => Promise.resolve(admission.enter('a', false, () => client.signal)))
    client.abort()
    for (const one of gone) await expect(one).rejects.toMatchObject({ code: 'unavailable' })
    const waiting = [admission.enter('a', false), admission.enter('a', false)]
    first.leave()
    const second = await waiting[0]
    second?.leave()
    expect(await waiting[1]).toBeDefined()
  })

  it('are more for a caller with a key, and bounded over all callers', () => {
    const admission = createAdmission(LIMITS)
    for (let count = 0; count < 3; count++) enterNow(admission, 'key', true)
    expect(admission.enter('key', true)).toBeInstanceOf(Promise)
    enterNow(admission, 'a')
    expect(() => admission.enter('b', false)).toThrow(expect.objectContaining({ code: 'unavailable' }))
  })

  it('bound what waits over all callers', () => {
    const admission = createAdmission(LIMITS)
    enterNow(admission, 'a')
    enterNow(admission, 'b')
    for (const caller of ['a', 'a', 'b']) expect(admission.enter(caller, false)).toBeInstanceOf(Promise)
    expect(() => admission.enter('b', false)).toThrow(expect.objectContaining({ code: 'unavailable' }))
  })
})

describe('answers that are not read', () => {
  it('count until the place is left, of one caller and of all', () => {
    const admission = createAdmission(LIMITS)
    const [one, other] = [enterNow(admission, 'key', true), enterNow(admission, 'key', true)]
    one.holdAnswer(90)
    expect(() => other.holdAnswer(20)).toThrow(expect.objectContaining({ code: 'rate_limited' }))
    one.leave()
    other.holdAnswer(20)
    // A single answer is always sent, however large.
    enterNow(admission, 'a').holdAnswer(950)
    expect(() => enterNow(admission, 'b').holdAnswer(50)).toThrow(expect.objectContaining({ code: 'unavailable' }))
  })
})

describe('streams', () => {
  it('give their place to the next request, and have a bound of their own', async () => {
    const admission = createAdmission(LIMITS)
    const first = enterNow(admission, 'a')
    const waiting = admission.enter('a', false)
    first.becomeStream()
    const second = await waiting
    second.becomeStream()
    const third = enterNow(admission, 'a')
    expect(() => third.becomeStream()).toThrow(expect.objectContaining({ code: 'rate_limited' }))
    third.leave()
    enterNow(admission, 'b').becomeStream()
    expect(() => enterNow(admission, 'c').becomeStream()).toThrow(expect.objectContaining({ code: 'unavailable' }))
    first.leave()
    enterNow(admission, 'd').becomeStream()
  })
})

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
