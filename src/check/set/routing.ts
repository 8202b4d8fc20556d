import { z } from 'zod'
import { cosineOf, medianOf, round, toDirections } from './likeness.ts'
import { type ListedSkill, MAX_QUERY, type Routing, refOf } from './report.ts'

/** A request, and the id of the skill that should answer it, or should not. */
export interface TriggerQuery {
  readonly query: string
  readonly skill: string
  readonly shouldTrigger: boolean
}

/** Least cosine of a query and a skill that answers it (docs/decisions/0037). */
const MIN_COSINE = 0.25

const triggerFile = z.array(z.object({ query: z.string().min(1).max(MAX_QUERY), should_trigger: z.boolean() }))

/** The trigger queries of a file in `evals/` (agentskills.io), a list of `query` and `should_trigger`; none in another file. */
export function readTriggerFile(text: string, skill: string): TriggerQuery[] {
  try {
    const read = triggerFile.parse(JSON.parse(text))
    return read.map(({ query, should_trigger: shouldTrigger }) => ({ query, skill, shouldTrigger }))
  } catch {
    return []
  }
}

/**
 * Ranks the listed skills for each query, as an agent reads them: by name and description. Skills and queries without a vector are left out.
 * @param asked vectors of the queries, of unit length
 */
export function routeQueries(
  skills: readonly ListedSkill[],
  listed: readonly (Int8Array | null)[],
  queries: readonly TriggerQuery[],
  asked: readonly (Float32Array | null)[],
): Routing {
  const directions = toDirections(listed)
  const confusions: Routing['confusions'] = []
  const margins: number[] = []
  let routed = 0
  for (const [number, { query, skill: id, shouldTrigger }] of queries.entries()) {
    const place = skills.findIndex((skill) => skill.id === id)
    const [vector, skill] = [asked[number], skills[place]]
    if (!vector || !skill || !directions[place]) continue
    routed++
    const unit = Float64Array.from(vector)
    const cosines = directions.map((direction) => (direction ? cosineOf({ unit }, direction) : -1))
    const own = cosines[place] ?? -1
    const best = Math.max(-1, ...cosines.toSpliced(place, 1))
    const margin = own - best
    if (shouldTrigger) margins.push(margin)
    if ((margin > 0 && own >= MIN_COSINE) === shouldTrigger) continue
    const other = best < MIN_COSINE ? undefined : skills[cosines.findIndex((value, at) => at !== place && value === best)]
    const instead = shouldTrigger ? other : skill
    confusions.push({ query, skill: refOf(skill), instead: instead ? refOf(instead) : null, margin: round(margin), level: 'medium' })
  }
  const margin = medianOf(margins)
  return { queries: routed, hits: routed - confusions.length, margin: margin === null ? null : round(margin), confusions }
}
