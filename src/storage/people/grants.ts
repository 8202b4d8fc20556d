import type { Kysely } from 'kysely'
import type { WriteNotes } from '../items/item-parts.ts'
import type { Database } from '../schema.ts'

/**
 * The grants that a person's credentials give to others: keys, programs that act by a key of their own, and install links. A grant that a key or a session
 * made ends when that is revoked or ended from elsewhere; signing out ends none.
 */

const TOKEN_TABLES = ['oauth_access_token', 'oauth_refresh_token', 'oauth_consent'] as const

/** Revokes keys and links and disconnects programs, with what they made. Those that are revoked already change nothing. */
export async function endKeys(db: Kysely<Database>, audit: WriteNotes['audit'], ids: readonly string[], at: string): Promise<void> {
  if (ids.length === 0) return
  const ended = await db
    .updateTable('api_key')
    .set({ revoked_at: at })
    .where('id', 'in', ids)
    .where('revoked_at', 'is', null)
    .returning(['id', 'user_seq', 'client_id', 'kind'])
    .execute()
  if (ended.length === 0) return
  const endedIds = idsOf(ended)
  for (const table of TOKEN_TABLES) await db.deleteFrom(table).where('reference_id', 'in', endedIds).execute()
  for (const { id, user_seq: owner, client_id: client, kind } of ended) {
    const ofKey = client === null ? 'key_revoked' : 'program_disconnected'
    audit({ action: kind === 'link' ? 'install_link_revoked' : ofKey, targetId: id, ownerId: await idOf(db, owner) })
  }
  await endGrantsOf(db, audit, endedIds, at)
}

/** Ends the links and programs that keys or sessions made, by their ids. */
export async function endGrantsOf(db: Kysely<Database>, audit: WriteNotes['audit'], makers: readonly string[], at: string): Promise<void> {
  if (makers.length === 0) return
  const made = await db.selectFrom('api_key').select('id').where('made_by', 'in', makers).execute()
  await endKeys(db, audit, idsOf(made), at)
}

/** Ends every key, program and link of a person. */
export async function endEverything(db: Kysely<Database>, audit: WriteNotes['audit'], userId: string, at: string): Promise<void> {
  const owner = db.selectFrom('user').select('seq').where('id', '=', userId)
  const keys = await db.selectFrom('api_key').select('id').where('user_seq', 'in', owner).execute()
  await endKeys(db, audit, idsOf(keys), at)
}

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id)
}

async function idOf(db: Kysely<Database>, seq: number): Promise<string> {
  return (await db.selectFrom('user').select('id').where('seq', '=', seq).executeTakeFirstOrThrow()).id
}
