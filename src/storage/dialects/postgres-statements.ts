import { createHash } from 'node:crypto'
import pg from 'pg'

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
