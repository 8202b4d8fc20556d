import type { Hono } from 'hono'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { exportOwnItems } from '../../operations/account/account.ts'
import { showFormDraft } from '../../operations/account/form-drafts.ts'
import { callLocally } from '../../operations/core/invoke.ts'
import { listCategories } from '../../operations/items/list-categories.ts'
import type { HttpEnv, MakeContext } from '../call.ts'
import type { Route } from '../route.ts'
import { downloadHeaders, type SendPieces } from './download.ts'
import { packItems } from './packed-items.ts'

const collection = z.enum(['prompts', 'skills'])
/** What the page of one's own items keeps for this download, since an address cannot hold hundreds of ids. */
const selection = z.object({ collection, ids: z.array(z.string()) })

/** Some of a person's items as an exported library. */
export function addSelectionExportRoute(app: Hono<HttpEnv>, makeContext: MakeContext, sendPieces: SendPieces): Route {
  app.get('/library/export.zip', async (c) => {
    const call = callLocally(() => makeContext(c.get('call').actor))
    const { body } = await call(showFormDraft, { kind: 'bulk', id: c.req.query('selection') ?? '' })
    const chosen = selection.safeParse(JSON.parse(body ?? 'null'))
    if (!chosen.success) throw new AppError('not_found', 'This selection has expired. Select the items again.')
    const { categories } = await call(listCategories, { all: true })
    const { ids } = chosen.data
    const read = (input: { collection: 'prompts' | 'skills'; after: number }) =>
      call(exportOwnItems, { ...input, ids: input.collection === chosen.data.collection ? ids : [] })
    return sendPieces(
      c.get('call').caller,
      packItems(read, categories, async function* () {}),
      downloadHeaders('application/zip', `commonplace-${chosen.data.collection}.zip`),
    )
  })
  return { method: 'GET', path: '/library/export.zip', kind: 'download', cost: 50 }
}
