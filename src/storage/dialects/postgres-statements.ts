import { createHash } from 'node:crypto'
import pg from 'pg'
import { AppError, type StorageFault } from '../../errors.ts'

/** After this many runs a statement gets a name, so that the server caches its plan. */
const RUNS_BEFORE_A_NAME = 3
/** Most names, and most counted statements: each connection of the server caches a plan per name. */
const MOST_NAMES = 200
const MOST_COUNTED = 2_000

/** Errors of unknown or duplicate statement names (a pooler switched connections), and of plans that became stale through an upgrade. */
const NAME_FAULTS = new Set(['26000', '42P05', '0A000'])

/** Of the digest of a statement, in hex digits: two texts never share a name, whoever gives it. */
const NAME_LENGTH = 24

/** Names frequent statements, so that the server plans them once for each connection. */
export function createStatementNames() {
  const names = new Map<string, string>()
  const runs = new Map<string, number>()
  let isOn = true
  return {
    nameOf(text: string): string | undefined {
      if (!isOn) return undefined
      const known = names.get(text)
      if (known !== undefined || names.size >= MOST_NAMES) return known
      const count = (runs.get(text) ?? 0) + 1
      if (count < RUNS_BEFORE_A_NAME) {
        if (runs.size >= MOST_COUNTED) runs.clear()
        runs.set(text, count)
        return undefined
      }
      runs.delete(text)
      // A pooler gives one connection of the server to several of ours, and to other processes: there too, a name must mean one text.
      const name = `commonplace_${createHash('sha256').update(text).digest('hex').slice(0, NAME_LENGTH)}`
      names.set(text, name)
      return name
    },
    /** Whether a name caused a failure. From then on no names are used, and the statement may be retried without. */
    isToBlame(error: unknown): boolean {
      if (!(error instanceof pg.DatabaseError) || !NAME_FAULTS.has(error.code ?? '')) return false
      isOn = false
      return true
    },
  }
}

/** Kinds of failure: the server cannot be reached, another transaction conflicted, or the statement itself failed. */
export type Fault = 'unreachable' | 'collision' | 'statement'

/** SQLSTATE classes and codes (postgresql.org/docs/current/errcodes-appendix.html). */
const STATES_OF_CONNECTION = /^(08|57P0[1-5]$|53300$)/
/** Deadlock, serialization failure. */
const STATES_OF_COLLISION = new Set(['40P01', '40001'])
const SYSTEM_CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'EPIPE', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])
/** Messages of pg, which gives no codes, for a connection that ended or timed out. */
const MESSAGES_OF_CONNECTION =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|timeout expired)/

/** Sentences for callers. The server's own message goes to the log. */
const SENTENCES: Readonly<Record<string, string>> = {
  '55P03': 'Another process has been writing to the library for too long; try again.',
  '57014': 'The database took too long; try again.',
  '53100': 'The library cannot be written to: the disk of the database is full.',
  '25006': 'The library cannot be written to: the database accepts no writes at the moment.',
  '53200': 'The database is out of memory. Try again in a moment.',
  '28000': 'The database rejects its user.',
  '28P01': 'The database rejects the password of its user.',
  '26000': 'The connection to the database was changed. Try again.',
  '42P05': 'The connection to the database was changed. Try again.',
  '0A000': 'The tables of the library were changed. Try again.',
  '3D000': 'The database does not exist on the server.',
}

/** Those that are disk faults. */
const FAULTS: Readonly<Record<string, StorageFault>> = { '53100': 'full', '25006': 'readonly' }

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** The SQLSTATE of an error, including those for which pg gives no code. */
function stateOf(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  if (message === 'Query read timeout') return '57014'
  // A missing password.
  if (message.startsWith('SASL: ')) return '28P01'
  return codeOf(error)
}

/** Which kind of fault it was. */
export function faultOf(error: unknown): Fault {
  const code = codeOf(error)
  if (STATES_OF_COLLISION.has(code)) return 'collision'
  const isOfConnection =
    error instanceof pg.DatabaseError
      ? STATES_OF_CONNECTION.test(code)
      : SYSTEM_CODES.has(code) ||
        (error instanceof AggregateError && error.errors.some((one) => faultOf(one) === 'unreachable')) ||
        (error instanceof Error && MESSAGES_OF_CONNECTION.test(error.message))
  return isOfConnection ? 'unreachable' : 'statement'
}

/** The error for the caller, where a known cause says more than "internal". */
export function toKnownError(error: unknown): unknown {
  if (error instanceof AppError) return error
  if (faultOf(error) === 'unreachable') {
    const message = 'The database is unreachable or has no free connection. Try again in a moment.'
    return new AppError('unavailable', message, { cause: error, retryAfterSeconds: 2, fault: 'unreachable' })
  }
  const state = stateOf(error)
  const sentence = SENTENCES[state]
  return sentence === undefined ? error : new AppError('unavailable', sentence, { cause: error, fault: FAULTS[state] ?? 'other' })
}

/** Whether a pooler refused a setting of the connection. */
export function isSettingRefused(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '08P01' && error.message.includes('startup parameter')
}
