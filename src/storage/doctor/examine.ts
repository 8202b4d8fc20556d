import type { Kysely } from 'kysely'
import type { Clock, Random } from '../../library/ports/environment.ts'
import type { WordVectors } from '../../search/vectors/word-vectors.ts'
import { findMissingColumns } from '../copy/library-columns.ts'
import type { Dialect, OpenDatabase } from '../dialects/dialect.ts'
import { MIGRATIONS, readMigrations } from '../migrations/index.ts'
import type { Database } from '../schema.ts'
import { createStore } from '../store.ts'
import { CHECKS } from './checks.ts'

/** Faults of one check that are named; the others are counted. */
const MAX_NAMED = 20

/** What came of one check. */
export interface Finding {
  readonly check: string
  /** `skipped`: a server sees to it, or the schema is another. */
  readonly state: 'ok' | 'fault' | 'repaired' | 'skipped'
  readonly count: number
  /** The first faults, a phrase each. */
  readonly faults: readonly string[]
  /** Whether `--repair` can mend it. */
  readonly isRepairable: boolean
}

/** Runs every check on the library as it is at one moment; nothing is changed. */
export async function examine(db: Kysely<Database>, dialect: Pick<Dialect, 'findFaults' | 'readColumns'>): Promise<Finding[]> {
  // A file so damaged that its schema cannot be read is not one of another version.
  let isOurs = true
  const findings = [
    toFinding(
      'schema',
      await findSafely(async () => {
        const faults = await examineSchema(db, dialect)
        isOurs = faults.length === 0
        return faults
      }, true),
      false,
    ),
  ]
  for (const { name, find, repair: mend } of CHECKS) {
    findings.push(toFinding(name, await findSafely(() => find(db, dialect), isOurs), mend !== undefined))
  }
  return findings
}

/** A check that cannot read a damaged library has found a fault; one that cannot read another schema says nothing. */
async function findSafely(find: () => Promise<readonly string[] | null>, isOurs: boolean): Promise<readonly string[] | null> {
  try {
    return await find()
  } catch (error) {
    return isOurs ? [error instanceof Error ? error.message : String(error)] : null
  }
}

async function examineSchema(db: Kysely<Database>, dialect: Pick<Dialect, 'findFaults' | 'readColumns'>): Promise<string[]> {
  const applied = await readMigrations(db, dialect)
  const known = MIGRATIONS.map(({ name }) => name)
  const pending = known.filter((name) => !applied.has(name))
  const unknown = [...applied].filter((name) => !known.includes(name))
  return [
    ...unknown.map((name) => `"${name}" is not this version's`),
    ...pending.map((name) => `"${name}" is pending: start the service once`),
    ...(pending.length > 0 ? [] : findMissingColumns(await dialect.readColumns(db)).map((place) => `${place} is missing`)),
  ]
}

function toFinding(check: string, faults: readonly string[] | null, isRepairable: boolean): Finding {
  const state = faults === null ? 'skipped' : faults.length === 0 ? 'ok' : 'fault'
  return { check, state, count: faults?.length ?? 0, faults: faults?.slice(0, MAX_NAMED) ?? [], isRepairable }
}

/**
 * Makes again what the checks found missing and can be made of the rest, and looks again.
 * @returns what there is now; `repaired` where there was a fault before
 */
export async function repair(
  database: OpenDatabase,
  findings: readonly Finding[],
  outside: { clock: Clock; random: Random; vectors: WordVectors | undefined },
): Promise<Finding[]> {
  const broken = new Set(findings.filter(({ state }) => state === 'fault').map(({ check }) => check))
  for (const { name, repair: mend } of CHECKS) if (broken.has(name) && mend) await database.transact(mend, { isLong: true })
  // Reads the words of items that have none now.
  if (broken.has('search words')) await createStore(database, outside)
  const after = await database.readSnapshot((db) => examine(db, database.dialect))
  return after.map((finding) => (finding.state === 'ok' && broken.has(finding.check) ? { ...finding, state: 'repaired' } : finding))
}
