/** Items removed in one transaction: others write in between, and engines limit parameters. */
export const ITEMS_A_BATCH = 100

/** Splits a list for statements with many values. */
export function* batches<T>(all: readonly T[], size: number = ITEMS_A_BATCH): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}
