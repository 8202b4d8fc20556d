import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../errors.ts'
import { faultOf, isSettingRefused, toKnownError } from './postgres-faults.ts'

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
