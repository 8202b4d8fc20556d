import { MEASURED } from './measured-requests.ts'
import type { RequestFigures, SizeFigures, Verdict } from './results.ts'

/** The connections at which processor time is judged. */
export const JUDGED_CONNECTIONS = 64
const SMALL = 1_257
const LARGE = 100_000
const START_MS = 700
const SMALL_RSS_MIB = 150
const LARGE_RSS_MIB = 400
/** A look-up in the large library, as a multiple of one in the small. */
const LOOK_UP_GROWTH = 1.3
const SEARCH = { name: 'search_prompts', connections: 10, p50Ms: 5, p99Ms: 25 }

/** Holds what was measured against the budgets. What was not measured has no verdict. */
export function judge(figures: readonly SizeFigures[]): Verdict[] {
  const verdicts: Verdict[] = []
  const add = (text: string, value: number | undefined, limit: number, unit: string) => {
    if (value !== undefined) verdicts.push({ text, value, limit, unit, isMet: value <= limit })
  }
  const small = figures.find(({ size }) => size === SMALL)
  const large = figures.find(({ size }) => size === LARGE)
  for (const { name, budget } of MEASURED) {
    if (budget !== undefined) add(`${name}: processor time beside the floor's`, find(small, name, JUDGED_CONNECTIONS)?.ratio, budget, ' ×')
  }
  for (const { name, beside } of MEASURED) {
    if (beside === undefined) continue
    const [plain, form] = [find(small, beside.name, JUDGED_CONNECTIONS), find(small, name, JUDGED_CONNECTIONS)]
    if (plain && form) add(`${name}: beside the plain one`, form.ratio / plain.ratio, beside.limit, ' ×')
  }
  add('first answer after the start', small?.startMs, START_MS, ' ms')
  add(`resident memory, ${SMALL.toLocaleString('en')} prompts`, small?.rssAfter, SMALL_RSS_MIB, ' MiB')
  if (!large) return verdicts
  for (const { name, isLookUp } of MEASURED) {
    const [before, after] = [find(small, name, JUDGED_CONNECTIONS), find(large, name, JUDGED_CONNECTIONS)]
    if (isLookUp && before && after) {
      add(
        `${name}: ${LARGE.toLocaleString('en')} prompts beside ${SMALL.toLocaleString('en')}`,
        after.ratio / before.ratio,
        LOOK_UP_GROWTH,
        ' ×',
      )
    }
  }
  const search = large.requests.find(({ name }) => name.startsWith(SEARCH.name))
  const ten = search && find(large, search.name, SEARCH.connections)
  add(`search, ${LARGE.toLocaleString('en')} prompts, ${SEARCH.connections} connections, p50`, ten?.p50Ms, SEARCH.p50Ms, ' ms')
  add(`search, ${LARGE.toLocaleString('en')} prompts, ${SEARCH.connections} connections, p99`, ten?.p99Ms, SEARCH.p99Ms, ' ms')
  add(`resident memory, ${LARGE.toLocaleString('en')} prompts`, large.rssAfter, LARGE_RSS_MIB, ' MiB')
  return verdicts
}

function find(figures: SizeFigures | undefined, name: string, connections: number): RequestFigures['byConnections'][number] | undefined {
  return figures?.requests.find((one) => one.name === name)?.byConnections.find((one) => one.connections === connections)
}
