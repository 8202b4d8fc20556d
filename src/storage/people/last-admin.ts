import type { Kysely } from 'kysely'
import { AppError } from '../../errors.ts'
import type { Database } from '../schema.ts'

/** @throws AppError `conflict` when nobody could administer the service any more */
export async function refuseWithoutAdmin(db: Kysely<Database>, userId: string): Promise<void> {
  const admins = await db
    .selectFrom('user')
    .innerJoin('login', 'login.id', 'user.id')
    .select('user.id')
    .where('user.role', '=', 'admin')
    .where('user.suspended_at', 'is', null)
    .limit(2)
    .execute()
  if (admins.every((admin) => admin.id === userId)) {
    throw new AppError('conflict', 'This is the only administrator. Make somebody else an administrator first.')
  }
}
