import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../errors.ts'
import { createStatementNames, faultOf, isSettingRefused, toKnownError } from './postgres-statements.ts'

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

/** An error as the server sends it. */
function fromServer(code: string, message = 'what the server says'): pg.DatabaseError {
  const error = new pg.DatabaseError(message, message.length, 'error')
  error.code = code
  return error
}
const fromSystem = (code: string) => Object.assign(new Error(`connect ${code}`), { code })

describe('what went wrong', () => {
  it.each([
    ['the server shuts down', fromServer('57P01'), 'unreachable'],
    ['the server starts', fromServer('57P03'), 'unreachable'],
    ['no connection is free', fromServer('53300'), 'unreachable'],
    ['the connection failed', fromServer('08006'), 'unreachable'],
    ['nobody listens', fromSystem('ECONNREFUSED'), 'unreachable'],
    ['nobody listens at any address', new AggregateError([fromSystem('ECONNREFUSED'), fromSystem('ECONNREFUSED')]), 'unreachable'],
    ['the connection broke', new Error('Connection terminated unexpectedly'), 'unreachable'],
    ['none was free in time', new Error('timeout exceeded when trying to connect'), 'unreachable'],
    ['a deadlock', fromServer('40P01'), 'collision'],
    ['a serialization failure', fromServer('40001'), 'collision'],
    ['a statement that is wrong', fromServer('42601'), 'statement'],
    ['a statement that took too long', fromServer('57014'), 'statement'],
    ['a fault of our own', new TypeError('x is not a function'), 'statement'],
    ['something that is no error', 'x', 'statement'],
  ])('%s', (_, error, fault) => {
    expect(faultOf(error)).toBe(fault)
  })
})

it('what people can do something about is told as unavailable, in our words; the rest stays what it is', () => {
  const codes = ['57014', '55P03', '53100', '57P01', '28000', '28P01', '3D000', '26000', '42P05', '0A000']
  const said = ['Query read timeout', 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string']
  const sentences = [...codes.map((code) => fromServer(code)), ...said.map((text) => new Error(text))].map(toKnownError)
  for (const known of sentences) {
    expect(known).toMatchObject({ code: 'unavailable', message: expect.stringMatching(/^[A-Z].*[a-z.]$/) })
    expect(String(known)).not.toContain('what the server says')
  }
  expect(new Set(sentences.map(String)).size).toBe(9)
  for (const error of [fromServer('23505'), new TypeError('x'), new AppError('conflict', 'Taken.')]) expect(toKnownError(error)).toBe(error)
})

it('a pooler that lets nothing be set is told from other faults', () => {
  expect(isSettingRefused(fromServer('08P01', 'unsupported startup parameter: statement_timeout'))).toBe(true)
  for (const error of [fromServer('08P01'), new Error('unsupported startup parameter'), fromServer('57P01')]) {
    expect(isSettingRefused(error)).toBe(false)
  }
})
