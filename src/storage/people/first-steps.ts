import type { Kysely } from 'kysely'
import type { WriteContext } from '../items/write-context.ts'
import type { Database } from '../schema.ts'

/** The first steps that people have done, and whether they want to see them. */
export function firstStepsStore(reader: Kysely<Database>, context: WriteContext) {
  return {
    /** `hasKey`: one that is not revoked; `hasItem`: of any visibility, the trash included; `hasCompany`: somebody else is here, or invited. */
    async readFirstSteps(userId: string) {
      const user = await reader.selectFrom('user').select(['seq', 'hides_first_steps']).where('id', '=', userId).executeTakeFirst()
      const seq = user?.seq ?? 0
      const exists = async (query: { executeTakeFirst(): Promise<unknown> }) => (await query.executeTakeFirst()) !== undefined
      const keys = reader.selectFrom('api_key').select('seq').where('user_seq', '=', seq).where('kind', '=', 'key').limit(1)
      const items = reader.selectFrom('item').select('seq').where('owner_seq', '=', seq).where('kind', 'in', ['prompt', 'skill'])
      const invites = reader.selectFrom('invite').select('id').limit(1)
      return {
        hasKey: await exists(keys.where('revoked_at', 'is', null)),
        hasUsedKey: await exists(keys.where('last_used_at', 'is not', null)),
        hasItem: await exists(items.limit(1)),
        hasCompany: (await exists(invites)) || (await exists(reader.selectFrom('login').select('id').where('id', '!=', userId).limit(1))),
        isHidden: user?.hides_first_steps === 1,
      }
    },
    hideFirstSteps: (userId: string): Promise<void> =>
      context.transact(async (db) => {
        await db.updateTable('user').set({ hides_first_steps: 1 }).where('id', '=', userId).execute()
      }),
  }
}
