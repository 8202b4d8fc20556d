import { LRUCache } from 'lru-cache'
import type { BoundRoute, Call, MakeContext } from '../http/call.ts'
import { callLocally } from '../operations/core/invoke.ts'
import { COPIES_WITHIN_MS, countCopy, MAX_COPIES } from '../operations/usage.ts'
import { refuseForeignForm } from './forms.ts'
import type { Words } from './site.ts'

/** Callers with their items that are remembered. */
const MAX_KNOWN = 10_000

/** The addresses to which the script of a page says that the text was copied. The answer is the same whether it counts or not. */
export function copyBeaconRoutes(makeContext: MakeContext, baseUrl: string, wordsFor: (call: Call) => Words): BoundRoute[] {
  const known = new LRUCache<string, number>({ max: MAX_KNOWN, ttl: COPIES_WITHIN_MS, noUpdateTTL: true })
  return (['prompts', 'skills'] as const).map((collection) => ({
    method: 'POST',
    path: `/${collection}/{ref}/copied`,
    kind: 'page',
    cost: 3,
    async handle(call) {
      const { exchange, actor, caller, params } = call
      refuseForeignForm(exchange, baseUrl, wordsFor(call))
      const id = params['ref'] ?? ''
      const name = `${caller} ${id}`
      const copies = known.get(name) ?? 0
      if (copies < MAX_COPIES) {
        await callLocally(() => makeContext(actor))(countCopy, { collection, id, caller })
        known.set(name, copies + 1)
      }
      return { status: 204, headers: {}, body: null }
    },
  }))
}
