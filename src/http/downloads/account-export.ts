import type { Hono } from 'hono'
import { exportOwnItems, showAccount } from '../../operations/account/account.ts'
import { listKeys } from '../../operations/account/keys.ts'
import type { Output } from '../../operations/core/define-operation.ts'
import { type CallOperation, callLocally } from '../../operations/core/invoke.ts'
import { listEmbeds } from '../../operations/embeds.ts'
import { listFavourites } from '../../operations/items/favourites.ts'
import { listCategories } from '../../operations/items/list-categories.ts'
import type { HttpEnv, MakeContext } from '../call.ts'
import type { Route } from '../route.ts'
import { downloadHeaders, type SendPieces } from './download.ts'
import { packItems } from './packed-items.ts'

/** Everything a person owns as a zip, read and packed as it is sent: an exported library and the account data. */
export function addAccountExportRoute(app: Hono<HttpEnv>, makeContext: MakeContext, sendPieces: SendPieces): Route {
  app.get('/settings/data/export.zip', async (c) => {
    const call = callLocally(() => makeContext(c.get('call').actor))
    // Checked before the response starts, so that anonymous callers get an error status.
    const { sessions: _, ...account } = await call(showAccount, {})
    const { keys } = await call(listKeys, {})
    const { embeds } = await call(listEmbeds, {})
    const { categories } = await call(listCategories, { all: true })
    const pieces = packItems(
      (input) => call(exportOwnItems, input),
      categories,
      async function* () {
        yield ['account.json', { ...account, keys, embeds }]
        yield ['favourites.json', await readFavourites(call)]
      },
    )
    return sendPieces(c.get('call').caller, pieces, downloadHeaders('application/zip', 'commonplace-export.zip'))
  })
  return { method: 'GET', path: '/settings/data/export.zip', kind: 'download', cost: 50 }
}

/** Favourites by address: their texts are others'. */
async function readFavourites(call: CallOperation) {
  const all: Output<typeof listFavourites>['items'] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const found = await call(listFavourites, { page, perPage: 100 })
    all.push(...found.items)
    pages = found.totalPages
  }
  return all
}
