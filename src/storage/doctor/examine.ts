import type { Kysely } from 'kysely'
import type { Clock, Random } from '../../domain/ports/environment.ts'
import type { WordVectors } from '../../search/vectors/word-vectors.ts'
import type { Dialect, OpenDatabase } from '../dialects/dialect.ts'
import { dropValue, putValue } from '../kept-values.ts'
import { findMissingColumns, MIGRATIONS, readMigrations } from '../migrations/index.ts'
import type { Database } from '../schema.ts'
import { createStore } from '../store.ts'
import { CHECKS } from './checks.ts'

/** Named faults of one check; the rest is counted. */
const MAX_NAMED = 20

/** The result of one check. */
export interface Finding {
  readonly check: string
  /** `skipped`: guaranteed by a server, or another schema. */
  readonly state: 'ok' | 'fault' | 'repaired' | 'skipped'
  readonly count: number
  /** The first faults, a phrase each. */
  readonly faults: readonly string[]
  /** Whether `--repair` can fix it. */
  readonly isRepairable: boolean
}

/** Runs every check on a snapshot of the library; changes nothing. */
export async function examine(db: Kysely<Database>, dialect: Pick<Dialect, 'findFaults' | 'readColumns' | 'readKey'>): Promise<Finding[]> {
  // A file whose schema cannot be read is damaged, not of another version.
  let isOurs = true
  const findings = [
    toFinding(
      'schema',
      await findSafely(async () => {
        const faults = await examineSchema(db, dialect)
        isOurs = faults.length === 0
        return faults
      }, true),
    ),
  ]
  for (const { name, find } of CHECKS) findings.push(toFinding(name, await findSafely(() => find(db, dialect), isOurs)))
  return findings
}

/** A check that fails on a damaged library has found a fault; with another schema it proves nothing. */
async function findSafely(find: () => Promise<readonly string[] | null>, isOurs: boolean): Promise<readonly string[] | null> {
  try {
    return await find()
  } catch (error) {
    return isOurs ? [error instanceof Error ? error.message : String(error)] : null
  }
}

async function examineSchema(db: Kysely<Database>, dialect: Pick<Dialect, 'findFaults' | 'readColumns' | 'readKey'>): Promise<string[]> {
  const applied = await readMigrations(db, dialect)
  const migrationNames = MIGRATIONS.map(({ name }) => name)
  const pending = migrationNames.filter((name) => !applied.has(name))
  const unknown = [...applied].filter((name) => !migrationNames.includes(name))
  return [
    ...unknown.map((name) => `"${name}" is not this version's`),
    ...pending.map((name) => `"${name}" is pending: start the service once`),
    ...(pending.length > 0 ? [] : (await findMissingColumns(db, dialect)).map((place) => `${place} is missing`)),
  ]
}

function toFinding(check: string, faults: readonly string[] | null): Finding {
  const state = faults === null ? 'skipped' : faults.length === 0 ? 'ok' : 'fault'
  const isRepairable = CHECKS.some(({ name, repair: mend }) => name === check && mend !== undefined)
  return { check, state, count: faults?.length ?? 0, faults: faults?.slice(0, MAX_NAMED) ?? [], isRepairable }
}

/**
 * Rebuilds the derived data that checks found missing, and checks again.
 * @returns the new findings; `repaired` where a fault was fixed
 */
export async function repair(
  database: OpenDatabase,
  findings: readonly Finding[],
  outside: { clock: Clock; random: Random; vectors: WordVectors | undefined },
): Promise<Finding[]> {
  const broken = new Set(findings.filter(({ state }) => state === 'fault').map(({ check }) => check))
  await database.transact(async (db) => {
    await dropValue(db, 'search_epoch')
    if (broken.has('search words')) await putValue(db, 'words_due', '')
  })
  for (const { name, repair: mend } of CHECKS)
    if (broken.has(name) && mend) await database.transact((db) => mend(db, database.dialect), { isLong: true })
  // Again: the service may have written a snapshot meanwhile.
  await database.transact((db) => dropValue(db, 'search_epoch'))
  // Reindexes items without words.
  if (broken.has('search words')) await createStore(database, outside)
  const after = await database.readSnapshot((db) => examine(db, database.dialect))
  return after.map((finding) => (finding.state === 'ok' && broken.has(finding.check) ? { ...finding, state: 'repaired' } : finding))
}
