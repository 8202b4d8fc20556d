import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Random } from '../../src/library/ports.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { openSqlite } from '../../src/storage/dialects/sqlite.ts'

/** An engine the store's contract suite runs on. Another engine is another row. */
export interface Engine {
  readonly name: string
  /** A fresh, empty database. `reopen` opens the same data again, as another process would. */
  create(): Promise<{ open(): OpenDatabase; remove(): Promise<void> }>
}

export const ENGINES: readonly Engine[] = [
  {
    name: 'sqlite',
    async create() {
      const folder = mkdtempSync(join(tmpdir(), 'commonplace-store-'))
      return {
        open: () => openSqlite(join(folder, 'library.db')),
        remove: async () => rmSync(folder, { recursive: true, force: true }),
      }
    },
  },
]

/** Randomness that counts, so that what a test makes can be told apart. */
export function countingRandom(): Random {
  let count = 0
  return {
    id: () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`,
    letters: (length) => String(++count).padStart(length, 'x'),
    fraction: () => 0,
  }
}
