import type { Kysely } from 'kysely'
import type { LibraryFigures } from '../domain/service/service.ts'
import type { OpenDatabase } from './dialects/dialect.ts'
import { countRows } from './items/item-rows.ts'
import { listLargestOwners } from './items/owner-usage.ts'
import type { WriteContext } from './items/write-context.ts'
import { addValue, putValue, readValue } from './kept-values.ts'
import { MIGRATIONS } from './migrations/index.ts'
import type { Database } from './schema.ts'
import type { SearchReader } from './search/search-reader.ts'

/** The service's secrets and its address. */
export function secretStore(reader: Kysely<Database>, context: WriteContext) {
  return {
    /** The secret from which keys are derived, made by `make` on first use and kept. */
    async ensureSecret(make: () => string): Promise<string> {
      const known = await readValue(reader, 'sealing_key')
      if (known !== null) return known
      return await context.transact(async (db, notes) => {
        const made = make()
        const secret = await addValue(db, 'sealing_key', made)
        if (secret === made) notes.audit({ action: 'setting_changed', targetId: null, ownerId: null, detail: { setting: 'sealing_key' } })
        return secret
      })
    },
    /** The address at which the service was last reached, or null when it never listened. */
    findServiceUrl: () => readValue(reader, 'service_url'),
    /** Notes the address at which the service is reached from now on. */
    async keepServiceUrl(url: string): Promise<void> {
      if ((await readValue(reader, 'service_url')) === url) return
      await context.transact(async (db, notes) => {
        await putValue(db, 'service_url', url)
        notes.audit({ action: 'setting_changed', targetId: null, ownerId: null, detail: { setting: 'service_url' } })
      })
    },
  }
}

/** Owners that are named: those who keep most. */
const MAX_OWNERS = 5

/** Figures of a library for operators. */
export function figureStore({ reader, measure }: OpenDatabase, search: SearchReader) {
  return {
    /** Counts rows over an index, so whoever asks often keeps the answer for a while. At the start it waits until search has read the library. */
    async readFigures(): Promise<LibraryFigures> {
      const isReady = search.isReady()
      // The index has what is not in the trash: counting that in the table would read every row with its text.
      const { countItems } = await search.current()
      const [prompts, skills] = [countItems('prompt'), countItems('skill')]
      const [items, users, logins, database, owners] = await Promise.all([
        countRows(reader.selectFrom('item')),
        countRows(reader.selectFrom('user').where('is_team', '=', 0)),
        countRows(reader.selectFrom('login')),
        measure(),
        listLargestOwners(reader, MAX_OWNERS),
      ])
      return {
        prompts,
        skills,
        // Somebody may have written between the two counts.
        inTrash: Math.max(0, items - prompts - skills),
        users,
        logins,
        schema: MIGRATIONS.at(-1)?.name ?? '',
        database,
        search: { isReady, items: prompts + skills },
        owners,
      }
    },
  }
}
