import { z } from 'zod'
import { type DayUses, lastDays } from '../domain/people/usage.ts'
import type { LibraryStore } from '../storage/store.ts'
import { collectionInput, refInput, requireItem } from './core/inputs.ts'
import { defineProcedure, type Needs, requireUser } from './core/procedure.ts'

/** Days that are shown. */
const SHOWN_DAYS = 30
/** Copies of one item by one caller that count within ten minutes: anybody can say that they copied something. */
export const MAX_COPIES = 5
export const COPIES_WITHIN_MS = 600_000

/** Adds up the counts of one day that match. */
function countOn(uses: readonly DayUses[], onDay: string, matches: (use: DayUses) => boolean): number {
  return uses.reduce((sum, use) => (use.day === onDay && matches(use) ? sum + use.count : sum), 0)
}

const isOfKind = (kind: DayUses['kind']) => (use: DayUses) => use.kind === kind
const isCallOver = (surface: DayUses['surface']) => (use: DayUses) => use.kind === 'call' && use.surface === surface

/** Counts one more copy by all instances together, when there may be several. Each bounds its own before. */
async function isWithinCopies(instances: LibraryStore['instances'], now: number, who: string): Promise<boolean> {
  if (!instances.isShared) return true
  const name = `copies ${who}`
  const end = (Math.floor(now / COPIES_WITHIN_MS) + 1) * COPIES_WITHIN_MS
  const totals = await instances.addPoints(new Date(end).toISOString(), new Map([[name, 1]]))
  return (totals.get(name) ?? 0) <= MAX_COPIES
}

/** Count that the text of an item was copied from its page. */
export const countCopy = defineProcedure({
  scope: null,
  input: z.object({ collection: collectionInput, id: refInput, caller: z.string().max(300) }),
  async run(context: Needs<'items' | 'instances', 'clock' | 'isCounting'>, { caller, ...input }) {
    const { store, count, clock, isCounting } = context
    const item = await requireItem(context, input)
    if (isCounting && (await isWithinCopies(store.instances, clock(), `${caller} ${item.id}`))) count('copy', item)
  },
})

/** How often an item was copied, read by programs and viewed by others, by day; null where nothing is counted. Its readers were checked. */
export async function readItemUsage({ store, clock, isCounting }: Needs<'usage', 'clock' | 'isCounting'>, itemId: string) {
  if (!isCounting) return null
  const days = lastDays(clock(), SHOWN_DAYS)
  const uses = await store.usage.listItemUses(itemId, days[0] ?? '')
  return {
    days: days.map((onDay) => ({
      day: onDay,
      copies: countOn(uses, onDay, isOfKind('copy')),
      reads: countOn(uses, onDay, isOfKind('read')),
      views: countOn(uses, onDay, isOfKind('view')),
    })),
  }
}

/** How many calls each of your API keys made, by day. */
export const listKeyUsage = defineProcedure({
  scope: 'account',
  async run({ actor, store, clock, isCounting }: Needs<'keys' | 'usage', 'clock' | 'isCounting'>) {
    if (!isCounting) return { isCounting, days: [], keys: [] }
    const ids = (await store.keys.listKeys(requireUser(actor).username)).map(({ id }) => id)
    const days = lastDays(clock(), SHOWN_DAYS)
    const uses = await store.usage.listKeyUses(ids, days[0] ?? '')
    const keys = ids.map((id) => {
      const own = uses.filter(({ keyId, kind }) => keyId === id && kind === 'call')
      return { id, calls: days.map((day) => countOn(own, day, () => true)) }
    })
    return { isCounting, days, keys }
  },
})

/** How often the library was used, by day: numbers alone. */
export const showLibraryUsage = defineProcedure({
  scope: 'admin',
  async run({ store, clock, isCounting }: Needs<'usage', 'clock' | 'isCounting'>) {
    if (!isCounting) return { isCounting, days: [] }
    const days = lastDays(clock(), SHOWN_DAYS)
    const since = days[0] ?? ''
    const [uses, newItems] = await Promise.all([store.usage.listUses(since), store.usage.countNewItems(since)])
    return {
      isCounting,
      days: days.map((day) => {
        const on = (matches: (use: DayUses) => boolean) => countOn(uses, day, matches)
        return {
          day,
          newItems: newItems.find((entry) => entry.day === day)?.count ?? 0,
          searches: on(isOfKind('search')),
          emptySearches: on(isOfKind('empty_search')),
          mcpCalls: on(isCallOver('mcp')),
          restCalls: on(isCallOver('rest')),
          views: on(isOfKind('view')),
          copies: on(isOfKind('copy')),
          signIns: on(isOfKind('sign_in')),
          errors: on(isOfKind('error')),
        }
      }),
    }
  },
})
