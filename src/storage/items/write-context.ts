import type { Kysely } from 'kysely'
import type { OwnerQuota } from '../../domain/people/usage.ts'
import type { Clock, Random } from '../../domain/ports/environment.ts'
import type { TransactOptions } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'
import type { WriteNotes } from './item-parts.ts'

/** The transactions, time and randomness that writes use. */
export interface WriteContext {
  readonly clock: Clock
  /** The time as the tables have it: ISO 8601 in UTC. */
  now(): string
  readonly random: Random
  /** The most that an owner may keep. */
  readonly quota: OwnerQuota
  /** @throws AppError `unavailable` where the disk is nearly full */
  requireRoom(): void
  /** For reads: the reading connection, or the open transaction. */
  readonly reader: Kysely<Database>
  /** Runs `work` in a transaction: a new one, or the one that is open. */
  transact<T>(
    work: (db: Kysely<Database>, notes: WriteNotes) => Promise<T>,
    options?: Pick<TransactOptions, 'isLarge'> & {
      /** Answers show nothing of what it writes, but for what it notes. */
      readonly isUnseen?: boolean
    },
  ): Promise<T>
  /** Runs `work` as `transact` does, for bookkeeping that no answer shows. `audit` records an event with it. */
  sideTransaction<T>(work: (db: Kysely<Database>, audit: WriteNotes['audit']) => Promise<T>): Promise<T>
  /**
   * Removes deleted text from the word index and from the engine's log, and frees its space. Does nothing inside an open transaction. Calls
   * during a run share the next one. False when a reader keeps the log.
   */
  sweep(): Promise<boolean>
  /** Empties the log only. */
  emptyLog(): Promise<boolean>
  /** Finishes interrupted removals and sweeps. */
  finishDeletions(): Promise<void>
}
