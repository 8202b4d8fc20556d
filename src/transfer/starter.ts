import { fileURLToPath } from 'node:url'
import type { LibraryStore } from '../storage/store.ts'
import { importLibrary } from './library-folder.ts'

/** The owner of the starter library. */
const OWNER = 'commonplace'
/** Two folders below the root, as the sources and the built program both stand. */
const FOLDER = new URL('../../starter', import.meta.url)

/** Fills an empty library in one transaction, so that only one of several instances does. Returns the number of items. */
export async function loadStarter(store: LibraryStore): Promise<number> {
  if (!(await store.service.isEmpty())) return 0
  return await store.inTransaction(async (transaction) => {
    if (!(await transaction.service.isEmpty())) return 0
    const { report } = await importLibrary(transaction, fileURLToPath(FOLDER), { owner: OWNER, visibility: 'public' })
    return report.created
  })
}
