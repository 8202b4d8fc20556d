import type { Hono } from 'hono'
import { listAuditEvents } from '../../operations/admin/audit.ts'
import type { Output } from '../../operations/core/define-operation.ts'
import { callLocally } from '../../operations/core/invoke.ts'
import type { HttpEnv, MakeContext } from '../call.ts'
import type { Route } from '../route.ts'
import { downloadHeaders, type SendPieces } from './download.ts'

const PATH = '/admin/activity/export.jsonl'
/** Events read at once. */
const PAGE = 500
const FILTERS = ['username', 'action', 'since', 'target']

type Page = Output<typeof listAuditEvents>

/** The audit log as administrators see it, a line of JSON for each event, narrowed as the page that links here is. */
export function addAuditExportRoute(app: Hono<HttpEnv>, makeContext: MakeContext, sendPieces: SendPieces): Route {
  app.get(PATH, async (c) => {
    const call = callLocally(() => makeContext(c.get('call').actor))
    const filters = Object.fromEntries(FILTERS.flatMap((name) => (c.req.query(name) ? [[name, c.req.query(name)]] : [])))
    const read = async (cursor?: string) => await call(listAuditEvents, { ...filters, cursor, limit: PAGE })
    // Checked before the response starts, so that unauthorised callers get an error status.
    const first = await read()
    return sendPieces(c.get('call').caller, lines(first, read), downloadHeaders('application/jsonl', 'commonplace-activity.jsonl'))
  })
  return { method: 'GET', path: PATH, kind: 'download', cost: 50 }
}

async function* lines(first: Page, read: (cursor: string) => Promise<Page>): AsyncGenerator<Uint8Array> {
  const utf8 = new TextEncoder()
  for (let page = first; ; page = await read(page.nextCursor)) {
    yield utf8.encode(page.events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    if (page.nextCursor === null) return
  }
}
