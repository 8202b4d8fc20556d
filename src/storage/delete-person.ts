import type { Kysely } from 'kysely'
import { AppError } from '../errors.ts'
import { encodePostings } from '../library/search/indexed-text.ts'
import type { WriteNotes } from './item-parts.ts'
import type { Database } from './schema.ts'

/** Items removed by one statement: engines limit the number of parameters. */
const ITEMS_A_STATEMENT = 200

/** Removes items with everything that was written of them; their slugs are noted as used. What the index holds of them is emptied and told. */
async function purgeItems(db: Kysely<Database>, notes: WriteNotes, seqs: readonly number[]): Promise<void> {
  await db
    .insertInto('retired_slug')
    .columns(['slug'])
    .expression(db.selectFrom('slug').select('slug').where('item_seq', 'in', seqs))
    .onConflict((c) => c.column('slug').doNothing())
    .execute()
  const digests = await db
    .selectFrom('skill_file')
    .select('sha256')
    .where('item_seq', 'in', seqs)
    .union(
      db
        .selectFrom('version_file')
        .innerJoin('version', 'version.seq', 'version_file.version_seq')
        .select('version_file.sha256')
        .where('version.item_seq', 'in', seqs),
    )
    .execute()
  await db.deleteFrom('slug').where('item_seq', 'in', seqs).execute()
  await db
    .deleteFrom('embedding_vector')
    .where('embedding_seq', 'in', db.selectFrom('embedding').select('seq').where('item_seq', 'in', seqs))
    .execute()
  await db.deleteFrom('embedding').where('item_seq', 'in', seqs).execute()
  await db
    .updateTable('item_words')
    .set({ words: encodePostings([]), vector: null, title_length: 0, body_length: 0 })
    .where('item_seq', 'in', seqs)
    .execute()
  // Tags, votes, versions and files go with the item.
  await db.deleteFrom('item').where('seq', 'in', seqs).execute()
  for (const seq of seqs) notes.index(seq, null)
  for (let at = 0; at < digests.length; at += ITEMS_A_STATEMENT) {
    await db
      .deleteFrom('blob')
      .where(
        'sha256',
        'in',
        digests.slice(at, at + ITEMS_A_STATEMENT).map((row) => row.sha256),
      )
      .where((eb) =>
        eb.not(
          eb.or([
            eb.exists(eb.selectFrom('skill_file').select('skill_file.sha256').whereRef('skill_file.sha256', '=', 'blob.sha256')),
            eb.exists(eb.selectFrom('version_file').select('version_file.sha256').whereRef('version_file.sha256', '=', 'blob.sha256')),
          ]),
        ),
      )
      .execute()
  }
}

/** Takes the votes of a user back, and counts those of the items anew. */
async function removeVotes(db: Kysely<Database>, notes: WriteNotes, userSeq: number): Promise<void> {
  const voted = await db.deleteFrom('vote').where('user_seq', '=', userSeq).returning('item_seq').execute()
  for (const { item_seq } of voted) {
    await db
      .updateTable('item')
      .set((eb) => ({ votes: eb('votes', '-', 1) }))
      .where('seq', '=', item_seq)
      .execute()
    notes.index(item_seq, null)
  }
}

/**
 * Removes a user with all they own, the trash and every version included, for good.
 * Somebody named as the author of what others own stays as a placeholder that knows no more than that name.
 * @throws AppError `not_found`
 */
export async function deletePerson(db: Kysely<Database>, notes: WriteNotes, userId: string): Promise<void> {
  const user = await db.selectFrom('user').select(['seq', 'username_key']).where('id', '=', userId).executeTakeFirst()
  if (!user) throw new AppError('not_found', 'This user does not exist.')
  await removeVotes(db, notes, user.seq)
  for (;;) {
    const items = await db
      .selectFrom('item')
      .select(['seq', 'kind', 'visibility'])
      .where('owner_seq', '=', user.seq)
      .orderBy('seq')
      .limit(ITEMS_A_STATEMENT)
      .execute()
    if (items.length === 0) break
    await purgeItems(
      db,
      notes,
      items.map((item) => item.seq),
    )
    for (const { kind, visibility } of items) notes.changed({ kind, ownerId: userId, isPublic: visibility === 'public' })
  }
  await db.deleteFrom('api_key').where('user_seq', '=', user.seq).execute()
  await db.deleteFrom('login').where('id', '=', userId).execute()
  const named =
    (await db.selectFrom('item').select('seq').where('author_seq', '=', user.seq).limit(1).executeTakeFirst()) ??
    (await db.selectFrom('version').select('seq').where('author_seq', '=', user.seq).limit(1).executeTakeFirst())
  if (!named) {
    await db.deleteFrom('user').where('seq', '=', user.seq).execute()
    return
  }
  const taken = await db.selectFrom('user').select('seq').where('contributor_key', '=', user.username_key).executeTakeFirst()
  await db
    .updateTable('user')
    .set({
      contributor_key: taken ? userId : user.username_key,
      role: 'user',
      display_name: null,
      bio: null,
      website: null,
      default_visibility: 'private',
    })
    .where('seq', '=', user.seq)
    .execute()
}
