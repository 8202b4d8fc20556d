import type { Kysely } from 'kysely'
import type { WriteContext } from './items/write-context.ts'
import type { Database } from './schema.ts'

/** The row of the public address, beside those of the secrets. */
const SERVICE_URL = 'service_url'

/** The service's secrets and its address. */
export function secretStore(reader: Kysely<Database>, context: WriteContext) {
  const findValue = async (name: string) =>
    (await reader.selectFrom('secret').select('value').where('name', '=', name).executeTakeFirst())?.value ?? null
  return {
    /** A secret of the service by name, made from `make` on first use and kept. */
    async ensureSecret(name: 'sealing_key', make: () => string): Promise<string> {
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
    /** The address at which the service was last reached, or null when it never listened. */
    findServiceUrl: () => findValue(SERVICE_URL),
    /** Notes the address at which the service is reached from now on. */
    async keepServiceUrl(url: string): Promise<void> {
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
