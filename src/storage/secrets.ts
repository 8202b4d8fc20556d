import type { Kysely } from 'kysely'
import type { ServiceStore } from '../library/ports/store.ts'
import type { WriteContext } from './items/write-context.ts'
import type { Database } from './schema.ts'

/** The row of the public address, beside those of the secrets. */
const SERVICE_URL = 'service_url'

/** The service's secrets and its address. */
export function secretStore(
  reader: Kysely<Database>,
  context: WriteContext,
): Pick<ServiceStore, 'ensureSecret' | 'findServiceUrl' | 'keepServiceUrl'> {
  const findValue = async (name: string) =>
    (await reader.selectFrom('secret').select('value').where('name', '=', name).executeTakeFirst())?.value ?? null
  return {
    async ensureSecret(name, make) {
      const existing = await findValue(name)
      if (existing !== null) return existing
      return await context.transact(async (db, notes) => {
        const inserted = await db
          .insertInto('secret')
          .values({ name, value: make() })
          .onConflict((c) => c.column('name').doNothing())
          .returning('name')
          .executeTakeFirst()
        if (inserted) notes.audit({ action: 'setting_changed', targetId: null, ownerId: null, detail: { setting: name } })
        const row = await db.selectFrom('secret').select('value').where('name', '=', name).executeTakeFirstOrThrow()
        return row.value
      })
    },
    findServiceUrl: () => findValue(SERVICE_URL),
    async keepServiceUrl(url) {
      if ((await findValue(SERVICE_URL)) === url) return
      await context.transact(async (db, notes) => {
        await db
          .insertInto('secret')
          .values({ name: SERVICE_URL, value: url })
          .onConflict((c) => c.column('name').doUpdateSet({ value: url }))
          .execute()
        notes.audit({ action: 'setting_changed', targetId: null, ownerId: null, detail: { setting: SERVICE_URL } })
      })
    },
  }
}
