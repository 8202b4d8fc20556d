import type { Hono } from 'hono'
import { z } from 'zod'
import type { Operation } from '../../operations/core/define-operation.ts'
import { invokeLocally } from '../../operations/core/invoke.ts'
import type { HttpEnv, MakeContext } from '../call.ts'
import type { Route } from '../route.ts'
import { downloadHeaders, type SendPieces } from './download.ts'

const PATH = '/admin/activity/export.jsonl'
/** Events read at once. */
const PAGE = 500
const FILTERS = ['username', 'action', 'since', 'target']
const pageShape = z.object({ events: z.array(z.unknown()), nextCursor: z.string().nullable() })

/** The audit log as administrators see it, a line of JSON for each event, narrowed as the page that links here is. */
export function addAuditExportRoute(
  app: Hono<HttpEnv>,
  operations: readonly Operation[],
  makeContext: MakeContext,
  sendPieces: SendPieces,
): Route {
  app.get(PATH, async (c) => {
    const invoke = invokeLocally(operations, () => makeContext(c.get('call').actor))
    const filters = Object.fromEntries(FILTERS.flatMap((name) => (c.req.query(name) ? [[name, c.req.query(name)]] : [])))
    const read = async (cursor?: string) => pageShape.parse(await invoke('list_audit_events', { ...filters, cursor, limit: PAGE }))
    // Asked for before anything is sent: who may not read it is told so by a status.
    const first = await read()
    return sendPieces(c.get('call').caller, lines(first, read), downloadHeaders('application/jsonl', 'commonplace-activity.jsonl'))
  })
  return { method: 'GET', path: PATH, kind: 'download', cost: 50 }
}

async function* lines(
  first: z.infer<typeof pageShape>,
  read: (cursor: string) => Promise<z.infer<typeof pageShape>>,
): AsyncGenerator<Uint8Array> {
  const utf8 = new TextEncoder()
  for (let page = first; ; page = await read(page.nextCursor)) {
    yield utf8.encode(page.events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    if (page.nextCursor === null) return
  }
}
