import type { Kysely } from 'kysely'
import { AppError } from '../../errors.ts'
import type { Database } from '../schema.ts'

/** Maintainers whose accounts can act. A team without one is orphaned. */
export function activeMaintainers(db: Kysely<Database>) {
  return db
    .selectFrom('team_member')
    .innerJoin('user as maintainer', 'maintainer.seq', 'team_member.user_seq')
    .select('maintainer.username')
    .where('team_member.role', '=', 'maintainer')
    .where('maintainer.suspended_at', 'is', null)
    .where('maintainer.removal', 'is', null)
}

/** Whether a team has a maintainer whose account can act, besides one person. */
export async function hasOtherMaintainer(db: Kysely<Database>, teamSeq: number, userSeq: number): Promise<boolean> {
  const others = activeMaintainers(db).where('team_member.team_seq', '=', teamSeq).where('maintainer.seq', '<>', userSeq)
  return (await others.limit(1).executeTakeFirst()) !== undefined
}

/** @throws AppError `conflict` when nobody could manage the team without this person */
export async function requireOtherMaintainer(db: Kysely<Database>, teamSeq: number, userSeq: number): Promise<void> {
  if (await hasOtherMaintainer(db, teamSeq, userSeq)) return
  throw new AppError('conflict', 'This is the last maintainer of the team. Make somebody else a maintainer first.')
}
