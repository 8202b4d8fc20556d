import pg from 'pg'
import { expect, it } from 'vitest'
import { createStatementNames } from './postgres-statements.ts'

it('texts that are run again and again get a name, the same for ever, and no more than some hundred do', () => {
  const names = createStatementNames()
  const name = 'commonplace_822ae07d4783158bc1912bb6'
  expect([1, 2, 3, 4].map(() => names.nameOf('select 1'))).toEqual([undefined, undefined, name, name])
  const given = new Set<string>()
  for (let n = 0; n < 5_000; n++) for (let run = 0; run < 3; run++) given.add(names.nameOf(`select ${n}`) ?? '')
  given.delete('')
  expect(given.size).toBe(200)
  expect(names.nameOf('select 1')).toBe(name)
})

it('names are given up when a server does not know one, and for nothing else', () => {
  const names = createStatementNames()
  for (let run = 0; run < 3; run++) names.nameOf('select 1')
  const error = new pg.DatabaseError('x', 1, 'error')
  error.code = '42601'
  expect([names.isToBlame(error), names.nameOf('select 1')]).toEqual([false, 'commonplace_822ae07d4783158bc1912bb6'])
  error.code = '26000'
  expect([names.isToBlame(error), names.nameOf('select 1')]).toEqual([true, undefined])
})

it('names of one text are equal, and of two texts different, also when two pools give them', () => {
  const [one, other] = [createStatementNames(), createStatementNames()]
  const nameBy = (names: typeof one, text: string) => [1, 2, 3].map(() => names.nameOf(text)).at(-1)
  expect(nameBy(one, 'delete from a where b = $1')).not.toBe(nameBy(other, 'select a from b where c = $1'))
  expect(nameBy(other, 'delete from a where b = $1')).toBe(nameBy(one, 'delete from a where b = $1'))
})
