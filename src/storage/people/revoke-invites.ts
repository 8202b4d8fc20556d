import { type Kysely, sql } from 'kysely'
import type { Person } from '../../library/ports/people.ts'
import type { WriteNotes } from '../items/item-parts.ts'
import type { Database } from '../schema.ts'

/** Revokes the open invites somebody made. Where no event names the maker of one for an administrator, it may be theirs. */
export async function revokeInvitesOf(db: Kysely<Database>, notes: WriteNotes, person: Person, at: string): Promise<void> {
  const made = await db
    .selectFrom('invite')
    .leftJoin('audit_event', (join) =>
      join.onRef('audit_event.target_id', '=', 'invite.id').on('audit_event.action', '=', 'invite_created'),
    )
    .select('invite.id')
    .where('invite.used_at', 'is', null)
    .where('invite.revoked_at', 'is', null)
    .where('invite.expires_at', '>', at)
    .where((eb) =>
      eb.or([
        eb('audit_event.actor_id', '=', person.id),
        eb.and([eb('audit_event.seq', 'is', null), eb('invite.role', '=', 'admin'), sql<boolean>`${sql.lit(person.role)} = 'admin'`]),
      ]),
    )
    .execute()
  for (const { id } of made) {
    await db.updateTable('invite').set({ revoked_at: at }).where('id', '=', id).execute()
    notes.audit({ action: 'invite_revoked', targetId: id, ownerId: null })
  }
}
