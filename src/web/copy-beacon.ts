import type { Hono } from 'hono'
import { LRUCache } from 'lru-cache'
import type { Call, HttpEnv, MakeContext } from '../http/call.ts'
import type { Route } from '../http/route.ts'
import { callLocally } from '../operations/core/invoke.ts'
import { COPIES_WITHIN_MS, countCopy, MAX_COPIES } from '../operations/usage.ts'
import { refuseForeignForm } from './forms.ts'
import type { Words } from './site.ts'

/** Callers with their items that are remembered. */
const MAX_KNOWN = 10_000

const ROUTES = (['prompts', 'skills'] as const).map((collection) => ({
  collection,
  route: { method: 'POST', path: `/${collection}/{ref}/copied`, kind: 'page', cost: 3 } as const satisfies Route,
}))

/** Adds the addresses to which the script of a page says that the text was copied. The answer is the same whether it counts or not. */
export function addCopyBeacon(
  app: Hono<HttpEnv>,
  makeContext: MakeContext,
  baseUrl: string,
  wordsFor: (call: Call) => Words,
): readonly Route[] {
  const known = new LRUCache<string, number>({ max: MAX_KNOWN, ttl: COPIES_WITHIN_MS, noUpdateTTL: true })
  for (const { collection } of ROUTES) {
    app.post(`/${collection}/:ref/copied`, async (c) => {
      const call = c.get('call')
      const { exchange, actor, caller } = call
      refuseForeignForm(exchange, baseUrl, wordsFor(call))
      const id = c.req.param('ref')
      const name = `${caller} ${id}`
      const copies = known.get(name) ?? 0
      if (copies < MAX_COPIES) {
        await callLocally(() => makeContext(actor))(countCopy, { collection, id, caller })
        known.set(name, copies + 1)
      }
      return c.body(null, 204)
    })
  }
  return ROUTES.map(({ route }) => route)
}
