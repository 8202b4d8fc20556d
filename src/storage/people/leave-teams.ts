import type { Kysely } from 'kysely'
import { AppError } from '../../errors.ts'
import type { WriteNotes } from '../items/item-parts.ts'
import type { Database } from '../schema.ts'
import { hasOtherMaintainer } from './team-maintainers.ts'
import { markDeleted } from './teams.ts'

/** Teams that a refusal names. */
const NAMED = 5

/**
 * Ends the memberships of a person who is being removed, and the teams that have nobody and nothing else.
 * @throws AppError `conflict` for the last maintainer of a team with other members or items, unless an administrator removes them: then
 * the team is orphaned
 */
export async function leaveTeams(
  db: Kysely<Database>,
  notes: WriteNotes,
  person: { readonly id: string },
  { isByAdmin, at }: { readonly isByAdmin: boolean; readonly at: string },
): Promise<void> {
  const memberships = await db
    .selectFrom('team_member')
    .innerJoin('user as team', 'team.seq', 'team_member.team_seq')
    .innerJoin('user as member', 'member.seq', 'team_member.user_seq')
    .select((eb) => [
      'team_member.role',
      'team.seq',
      'team.id',
      'team.username as name',
      'member.seq as user_seq',
      eb
        .exists(
          eb
            .selectFrom('team_member as other')
            .select('other.user_seq')
            .whereRef('other.team_seq', '=', 'team_member.team_seq')
            .whereRef('other.user_seq', '<>', 'team_member.user_seq'),
        )
        .as('has_others'),
      eb.exists(eb.selectFrom('item').select('item.seq').whereRef('item.owner_seq', '=', 'team_member.team_seq')).as('has_items'),
    ])
    .where('member.id', '=', person.id)
    .orderBy('team.username_key')
    .execute()
  const left: string[] = []
  for (const team of memberships) {
    const isNeeded = Boolean(team.has_others) || Boolean(team.has_items)
    if (isNeeded && team.role === 'maintainer' && !(await hasOtherMaintainer(db, team.seq, team.user_seq))) left.push(team.name)
    await db.deleteFrom('team_member').where('team_seq', '=', team.seq).where('user_seq', '=', team.user_seq).execute()
    notes.audit({ action: 'team_member_removed', targetId: person.id, ownerId: team.id })
    if (isNeeded) continue
    await markDeleted(db, team.seq, at)
    notes.audit({ action: 'team_deleted', targetId: team.id, ownerId: team.id })
  }
  if (left.length === 0 || isByAdmin) return
  const names = left
    .slice(0, NAMED)
    .map((name) => `"${name}"`)
    .join(', ')
  throw new AppError(
    'conflict',
    `This is the last maintainer of ${names}${left.length > NAMED ? ' and others' : ''}. Make somebody else a maintainer, or delete what the team owns and the team, first.`,
  )
}
