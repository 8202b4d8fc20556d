import pg from 'pg'
import { expect, it } from 'vitest'
import { createStatementNames } from './postgres-statements.ts'

it('texts that are run again and again get a name, the same for ever, and no more than some hundred do', () => {
  const names = createStatementNames()
  expect([1, 2, 3, 4].map(() => names.nameOf('select 1'))).toEqual([undefined, undefined, 'commonplace_0', 'commonplace_0'])
  const given = new Set<string>()
  for (let n = 0; n < 5_000; n++) for (let run = 0; run < 3; run++) given.add(names.nameOf(`select ${n}`) ?? '')
  given.delete('')
  expect(given.size).toBe(200)
  expect(names.nameOf('select 1')).toBe('commonplace_0')
})

it('names are given up when a server does not know one, and for nothing else', () => {
  const names = createStatementNames()
  for (let run = 0; run < 3; run++) names.nameOf('select 1')
  const error = new pg.DatabaseError('x', 1, 'error')
  error.code = '42601'
  expect([names.isToBlame(error), names.nameOf('select 1')]).toEqual([false, 'commonplace_0'])
  error.code = '26000'
  expect([names.isToBlame(error), names.nameOf('select 1')]).toEqual([true, undefined])
})
