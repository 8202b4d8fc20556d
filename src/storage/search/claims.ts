import type { Kysely } from 'kysely'
import type { WriteContext } from '../items/write-context.ts'
import type { Database } from '../schema.ts'

/** Lease time of a claim: other instances may take the items over when it ends. */
const CLAIM_MS = 10_000

/** Which items this instance encodes, so that no other one does the same work. */
export type Claims = ReturnType<typeof createClaims>

/** Claims of items by model, in `embedding_claim`. */
export function createClaims(context: WriteContext, { instance, isShared }: { readonly instance: string; readonly isShared: boolean }) {
  const release = async (db: Kysely<Database>, model: string, seqs: readonly number[]): Promise<void> => {
    if (isShared && seqs.length > 0)
      await db.deleteFrom('embedding_claim').where('model', '=', model).where('item_seq', 'in', seqs).execute()
  }
  return {
    /** Lease time in milliseconds; null for a single instance, which claims nothing. */
    claimMs: isShared ? CLAIM_MS : null,
    /**
     * Claims items for this instance, and returns those it got, in the given order: without those that another instance has claimed, or has
     * saved a vector of since the caller looked.
     */
    async claim<Row extends { readonly seq: number }>(model: string, rows: readonly Row[]): Promise<readonly Row[]> {
      if (!isShared || rows.length === 0) return rows
      const now = context.clock()
      const until = new Date(now + CLAIM_MS).toISOString()
      const mine = await context.sideTransaction(async (db) => {
        const claimed = await db
          .insertInto('embedding_claim')
          .values(
            rows
              .map(({ seq }) => seq)
              .toSorted((a, b) => a - b)
              .map((seq) => ({ item_seq: seq, model, instance, until })),
          )
          .onConflict((conflict) =>
            conflict
              .columns(['item_seq', 'model'])
              .doUpdateSet({ instance, until })
              .where((eb) =>
                eb.or([eb('embedding_claim.instance', '=', instance), eb('embedding_claim.until', '<', new Date(now).toISOString())]),
              ),
          )
          .returning('item_seq')
          .execute()
        const seqs = new Set(claimed.map((row) => row.item_seq))
        if (seqs.size === 0) return seqs
        // A claim ends in the transaction that saves the vector, so whoever gets the next claim sees the vector.
        const done = await db
          .selectFrom('item_vector')
          .select('item_seq')
          .where('model', '=', model)
          .where('item_seq', 'in', [...seqs])
          .execute()
        const saved = done.map((row) => row.item_seq)
        await release(db, model, saved)
        for (const seq of saved) seqs.delete(seq)
        return seqs
      })
      return rows.filter((row) => mine.has(row.seq))
    },
    async renew(model: string): Promise<void> {
      const until = new Date(context.clock() + CLAIM_MS).toISOString()
      await context.sideTransaction((db) =>
        db.updateTable('embedding_claim').set({ until }).where('model', '=', model).where('instance', '=', instance).execute(),
      )
    },
    /** Ends the claims of items whose vectors are saved in this transaction. */
    release,
  }
}
