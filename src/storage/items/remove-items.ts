import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { logRemovals } from '../change-log.ts'
import { batches } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { markSweepDue } from '../service.ts'
import { retireChannelName, retireSlug } from '../slugs.ts'
import { seqOf } from './item-rows.ts'
import { addUsage, giveBackItems, giveBackVersions } from './owner-usage.ts'

/** Rows removed by one statement, which blocks the process while it runs. */
const ROWS_A_STATEMENT = 200

/** Removes items with all their data. The caller checks the right to do so, and updates the index. */
export async function removeItems(db: Kysely<Database>, seqs: readonly number[]): Promise<void> {
  // The slug of an item that was never public ends in random letters that are not drawn again. Keeping it would only reveal a title.
  const slugs = await db
    .selectFrom('slug')
    .innerJoin('item', 'item.seq', 'slug.item_seq')
    .select('slug.slug')
    .where('slug.item_seq', 'in', seqs)
    .where('item.was_public', '=', 1)
    .execute()
  const items = await db.selectFrom('item').select(['id', 'channel_name']).where('seq', 'in', seqs).execute()
  const names = items.flatMap(({ channel_name: name }) => name ?? [])
  for (const part of batches([...slugs.map(({ slug }) => retireSlug(slug)), ...names.map(retireChannelName)])) {
    await db
      .insertInto('retired_slug')
      .values(part.map((slug) => ({ slug })))
      .onConflict((c) => c.column('slug').doNothing())
      .execute()
  }
  await db.deleteFrom('slug').where('item_seq', 'in', seqs).execute()
  await logRemovals(db, seqs)
  const versions = await db.selectFrom('version').select('seq').where('item_seq', 'in', seqs).execute()
  await removeVersions(db, versions.map(seqOf))
  const files = await db.deleteFrom('skill_file').where('item_seq', 'in', seqs).returning('sha256').execute()
  await removeUnusedBlobs(db, files)
  for (const part of batches(items.map(({ id }) => id))) await db.deleteFrom('use_count').where('item_id', 'in', part).execute()
  await giveBackItems(db, seqs)
  // Foreign keys delete words, tags, votes, favourites, sources and vectors.
  for (const seq of seqs) {
    await db.deleteFrom('item').where('seq', '=', seq).execute()
    await nextTurn()
  }
}

/** Removes versions with their files. */
export async function removeVersions(db: Kysely<Database>, seqs: readonly number[]): Promise<void> {
  await markSweepDue(db, new Date().toISOString())
  for (const part of batches(seqs, ROWS_A_STATEMENT)) {
    const files = await db.deleteFrom('version_file').where('version_seq', 'in', part).returning('sha256').execute()
    await giveBackVersions(db, part)
    // The log of changes keeps no tags of versions that are gone.
    await db.updateTable('change').set({ tags: null }).where(isOf(part)).execute()
    await forgetRuns(db, part)
    await db.deleteFrom('version').where('seq', 'in', part).execute()
    await removeUnusedBlobs(db, files)
    await nextTurn()
  }
}

/** Whether a row names one of these versions by its item and number. */
function isOf(versionSeqs: readonly number[]) {
  return sql<boolean>`(item_seq, version) in (select item_seq, number from version where seq in (${sql.join(versionSeqs)}))`
}

/** Test runs and cases go with their versions, and all answers of models: all may quote them. */
async function forgetRuns(db: Kysely<Database>, versionSeqs: readonly number[]): Promise<void> {
  const items = db.selectFrom('version').select('item_seq').where('seq', 'in', versionSeqs)
  await db.deleteFrom('model_answer').where('item_seq', 'in', items).execute()
  // The newest cases are in force for what stays.
  const isOlder = sql<boolean>`version < (select max(newer.version) from case_set as newer where newer.item_seq = case_set.item_seq)`
  await db.deleteFrom('case_set').where(isOf(versionSeqs)).where(isOlder).execute()
  await db.deleteFrom('eval_run').where(isOf(versionSeqs)).execute()
}

/** Whether no item or version has a file with these contents. */
export const isUnused = sql<boolean>`not exists (select 1 from skill_file where skill_file.sha256 = blob.sha256)
  and not exists (select 1 from version_file where version_file.sha256 = blob.sha256)`

/** Removes the contents of files where nothing refers to them any more. */
export async function removeUnusedBlobs(db: Kysely<Database>, files: readonly { readonly sha256: string }[]): Promise<void> {
  for (const part of batches([...new Set(files.map(({ sha256 }) => sha256))])) {
    const removed = await db
      .deleteFrom('blob')
      .where('sha256', 'in', part)
      .where(isUnused)
      .returning(['owner_seq', sql<number>`octet_length(bytes)`.as('size')])
      .execute()
    for (const { owner_seq: owner, size } of removed) if (owner !== null) await addUsage(db, owner, { bytes: -Number(size) })
    await nextTurn()
  }
}
