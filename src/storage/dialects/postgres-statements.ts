import pg from 'pg'

/** A text that was run so often on this process is worth the server's remembering its plan. */
const RUNS_BEFORE_A_NAME = 3
/** Names given, and texts counted: each connection of the server keeps a plan for each name. */
const MOST_NAMES = 200
const MOST_COUNTED = 2_000

/**
 * Codes of statements that a server does not know by name, or knows as another (a pooler gave us another connection), and of plans that an upgrade
 * by another instance made stale.
 */
const NAME_FAULTS = new Set(['26000', '42P05', '0A000'])

/** Gives names to statements that run again and again, so that the server reads and plans them once a connection. */
export interface StatementNames {
  nameOf(text: string): string | undefined
  /** Whether a failure came of a name; from then on no names are given, and the statement may be run again without. */
  isToBlame(error: unknown): boolean
}

/** No names yet. */
export function createStatementNames(): StatementNames {
  const names = new Map<string, string>()
  const runs = new Map<string, number>()
  let isOn = true
  return {
    nameOf(text) {
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
      const name = `commonplace_${names.size}`
      names.set(text, name)
      return name
    },
    isToBlame(error) {
      if (!(error instanceof pg.DatabaseError) || !NAME_FAULTS.has(error.code ?? '')) return false
      isOn = false
      return true
    },
  }
}
