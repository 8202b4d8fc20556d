import type { Kysely } from 'kysely'
import type { RecordOf } from '../../library/history-records.ts'
import type { Database } from '../schema.ts'
import { SMALL_ROWS, walkTexts } from './pages.ts'

/** Who is in the teams, and the names these had before. Row numbers say the order, as an import keeps it. */
export async function* readTeams(db: Kysely<Database>): AsyncGenerator<RecordOf<'teamMember' | 'formerName'>> {
  for (let last = { team_seq: 0, user_seq: 0 }; ; ) {
    const { team_seq: teamSeq, user_seq: userSeq } = last
    const rows = await db
      .selectFrom('team_member')
      .innerJoin('user as team', 'team.seq', 'team_member.team_seq')
      .innerJoin('user as member', 'member.seq', 'team_member.user_seq')
      .selectAll('team_member')
      .select(['team.username as team', 'member.username as user'])
      .where((eb) => eb.or([eb('team_seq', '>', teamSeq), eb.and([eb('team_seq', '=', teamSeq), eb('user_seq', '>', userSeq)])]))
      .orderBy('team_seq')
      .orderBy('user_seq')
      .limit(SMALL_ROWS)
      .execute()
    for (const { team, user, role, joined_at } of rows) yield { record: 'teamMember', team, user, teamRole: role, joinedAt: joined_at }
    last = rows.at(-1) ?? last
    if (rows.length < SMALL_ROWS) break
  }
  const formerNames = async (after: string) =>
    await db
      .selectFrom('former_name')
      .innerJoin('user as team', 'team.seq', 'former_name.user_seq')
      .select(['former_name.username_key as name', 'team.username as team'])
      .where('former_name.username_key', '>', after)
      .orderBy('former_name.username_key')
      .limit(SMALL_ROWS)
      .execute()
  for await (const { name, team } of walkTexts(formerNames, (row) => row.name)) yield { record: 'formerName', name, team }
}
