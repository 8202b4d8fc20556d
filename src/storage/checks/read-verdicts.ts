import type { Kysely } from 'kysely'
import type { ServedVerdict } from '../../domain/check/policy.ts'
import { batches } from '../batches.ts'
import type { Database } from '../schema.ts'

/** The verdicts on versions that are served, by row number. An item that was not checked yet is left out. */
export async function readVerdicts(db: Kysely<Database>, seqs: readonly number[]): Promise<ReadonlyMap<number, ServedVerdict>> {
  const found = new Map<number, ServedVerdict>()
  for (const part of batches(seqs)) {
    const rows = await db
      .selectFrom('verdict')
      .select(['item_seq', 'version', 'rule_set', 'high', 'medium', 'low', 'waived'])
      .where('item_seq', 'in', part)
      .execute()
    for (const { item_seq: seq, rule_set: ruleSet, ...counts } of rows) found.set(seq, { ruleSet, ...counts })
  }
  return found
}
