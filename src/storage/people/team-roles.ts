import { type Kysely, sql } from 'kysely'
import type { TeamRole } from '../../library/teams.ts'
import { prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'

/**
 * Row numbers of those whose private items a user sees, as a condition's right side: their own, and of the teams they are in. None for null.
 */
export function ownersSeenBy(userId: string | null) {
  return sql<number>`(select "user".seq from "user" where "user".id = ${userId}
    union all select team_member.team_seq from team_member join "user" on "user".seq = team_member.user_seq where "user".id = ${userId})`
}

const roleOver = prepareQuery((db) =>
  db
    .selectFrom('team_member')
    .innerJoin('user as team', 'team.seq', 'team_member.team_seq')
    .innerJoin('user', 'user.seq', 'team_member.user_seq')
    .select('team_member.role')
    .where('user.id', '=', slot('userId'))
    .where('team.id', '=', slot('ownerId')),
)

/**
 * The role of a user over what an owner has: maintainer of their own things, or the role in the team; null for none. Read in the
 * transaction of a change, so that somebody who was removed meanwhile changes nothing: on both engines such transactions take turns.
 */
export async function findRole(db: Kysely<Database>, userId: string, ownerId: string): Promise<TeamRole | null> {
  if (userId === ownerId) return 'maintainer'
  const [member] = await roleOver(db, { userId, ownerId })
  return member?.role ?? null
}
