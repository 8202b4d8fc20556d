import type { Kysely } from 'kysely'
import type { ServedVerdict } from '../../domain/check/policy.ts'
import { batches } from '../prepared.ts'
import type { Database } from '../schema.ts'

/** The verdicts on versions that are served, by row number. An item that was not checked yet is left out. */
export async function readVerdicts(db: Kysely<Database>, seqs: readonly number[]): Promise<ReadonlyMap<number, ServedVerdict>> {
  const found = new Map<number, ServedVerdict>()
  for (const part of batches(seqs)) {
    const rows = await selectVerdicts(db).where('item_seq', 'in', part).execute()
    for (const { seq, id: _, ...verdict } of rows) found.set(seq, verdict)
  }
  return found
}

/** Selects verdicts as they are served, with the number and the id of their item. */
export function selectVerdicts(db: Kysely<Database>) {
  return db
    .selectFrom('verdict')
    .innerJoin('item', 'item.seq', 'verdict.item_seq')
    .select(['item.seq', 'item.id', 'verdict.version', 'rule_set as ruleSet', 'high', 'medium', 'low', 'waived'])
}
