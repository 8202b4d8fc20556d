import { z } from 'zod'
import { MAX_DESCRIPTION } from '../../domain/skills/frontmatter.ts'
import { damerauLevenshtein } from '../../search/analysis/query.ts'
import { eachWord, STOP_WORDS } from '../../search/analysis/words.ts'
import { dotProduct } from '../../search/vectors/arithmetic.ts'
import { lengthOf } from '../../search/vectors/embedder.ts'
import {
  type AlikePair,
  type DescriptionFault,
  type Level,
  type ListedSkill,
  MAX_QUERY,
  type NamePair,
  type Routing,
  refOf,
} from './report.ts'

/** Words that say when to use a skill, in the languages that most descriptions have. */
const WHEN =
  /\b(?:when(?:ever)?|use (?:this|it|for|if|on|to)|used (?:for|to)|triggers? (?:on|for)|wenn|sobald|falls|quand|lorsque|cuando|quando)\b|用于|時|时|とき/iu
/** Examples of what people say are no text of the author's. */
const QUOTED = /"[^"]*"|“[^”]*”|„[^“]*“|«[^»]*»|(?<!\w)['‘][^'’]*['’](?!\w)/gu
const FIRST_PERSON = /\bI\b(?![/.+-])|\b(?:[Mm]y|[Ww]e|[Oo]ur|[Ii]ch|[Ww]ir)\b/u
/** A purpose and an occasion take a verb and an object each. */
const MIN_WORDS = 4
/** Pairs that are named: a set may hold one skill a hundred times. */
const MAX_PAIRS = 200
const NAME_LEVELS: Record<NamePair['why'], Level> = { same: 'high', hyphens: 'medium', plural: 'medium', 'one-letter': 'low' }
/** Shorter names that differ by a letter are different words. */
const MIN_NAME = 5

/** The words of a text that say what it is about, each once, without the compounds that search makes. */
function tellingWords(text: string): Set<string> {
  const words = new Set<string>()
  const written = text.toLowerCase()
  eachWord(text, (word) => {
    if (!STOP_WORDS.has(word) && written.includes(word)) words.add(word)
  })
  return words
}

/** Faults of a description by itself (agentskills.io: at most 1,024 characters, what the skill does and when to use it, in the third person). */
function findDescriptionFaults({ description, length }: ListedSkill): DescriptionFault[] {
  const faults: readonly (DescriptionFault | false)[] = [
    length > MAX_DESCRIPTION && 'too-long',
    tellingWords(description).size < MIN_WORDS && 'short',
    !WHEN.test(description) && 'no-when',
    FIRST_PERSON.test(description.replaceAll(QUOTED, ' ')) && 'first-person',
  ]
  return faults.filter((fault) => fault !== false)
}

/**
 * Faults of each description, and pairs of skills whose names are the same, so that an agent loads one of them, or nearly the same: hyphens apart, with a plural, by one edit.
 * Names that differ by a digit are versions (`react18-hooks`, `react19-hooks`). Yields now and then.
 */
export function* checkTexts(skills: readonly ListedSkill[]): Generator<void, { names: NamePair[]; faults: DescriptionFault[][] }> {
  const names: NamePair[] = []
  const faults: DescriptionFault[][] = []
  for (const [place, a] of skills.entries()) {
    yield
    faults.push(findDescriptionFaults(a))
    for (const b of skills.slice(place + 1)) {
      const why = names.length < MAX_PAIRS ? compareNames(a.name, b.name) : null
      if (why) names.push({ a: refOf(a), b: refOf(b), why, level: NAME_LEVELS[why] })
    }
  }
  return { names, faults }
}

/** How two names are nearly the same; null: they are not. Names that differ by a digit are versions. */
export function compareNames(a: string, b: string): NamePair['why'] | null {
  if (a === b) return 'same'
  const [one, other] = [a.replaceAll('-', ''), b.replaceAll('-', '')]
  if (one === other) return 'hyphens'
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  if (long === `${short}s` || long === `${short}es`) return 'plural'
  if (short.length < MIN_NAME || damerauLevenshtein(one, other, 1) > 1) return null
  return one.replaceAll(/\d/g, '') === other.replaceAll(/\d/g, '') ? null : 'one-letter'
}

/** Vectors of a skill by the encoder: of the description alone, and of the whole skill; null where there is none yet. */
export interface SkillVectors {
  readonly description: Int8Array | null
  readonly whole: Int8Array | null
}

/** Robust deviations from the median that make an outlier, and their scale for the normal distribution (Iglewicz and Hoaglin 1993). */
const OUTLIER = 3.5
const SCALE = 1.4826
/** Fewer skills have no distribution. */
const MIN_SKILLS = 12
/** From the upper limit on, two texts are nearly the same (docs/decisions/0037); below the lower one they share a subject at most. */
const LIMITS = { least: 0.6, most: 0.9 }
const MAX_WORDS = 8

interface Direction {
  readonly unit: Float64Array
  readonly numbers: Int8Array
  readonly length: number
}

/** Vectors ready to be compared. */
function toDirections(vectors: readonly (Int8Array | null)[]): (Direction | null)[] {
  return vectors.map((numbers) => {
    const length = numbers ? lengthOf(numbers) : 0
    return numbers && length > 0 ? { numbers, length, unit: Float64Array.from(numbers, (value) => value / length) } : null
  })
}

/** The cosine of two vectors of the same model. */
function cosineOf({ unit }: Pick<Direction, 'unit'>, { numbers, length }: Direction): number {
  return dotProduct(unit, numbers, 0) / length
}

/** The median; the upper one of two. */
function medianOf(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? null
}

/** The value that lies so many robust deviations from the median; `fallback` for too few values. */
function findFence(values: readonly number[], deviations: number, fallback: number): number {
  const median = medianOf(values) ?? 0
  const deviation = SCALE * (medianOf(values.map((value) => Math.abs(value - median))) ?? 0)
  return values.length < MIN_SKILLS ? fallback : median + deviations * deviation
}

/**
 * Pairs too alike, most alike first, and the ids of skills whose description is too blurred to route by.
 *
 * The likeness of two skills is the mean cosine of their descriptions and of their whole texts. How alike neighbours are differs between
 * libraries, so the limit comes from the set: a pair is too alike when its likeness lies 3.5 robust deviations above the median of what each
 * skill has to its second nearest neighbour, as Fisher's z. The second nearest, since a copy raises the first only.
 *
 * A description is blurred when its cosine with its own skill lies 3.5 robust deviations below the median of the set, or when the description
 * of a skill that is not its twin is nearer to it. Small sets have the second rule alone. Yields now and then.
 */
export function* compareSkills(
  skills: readonly ListedSkill[],
  vectors: readonly SkillVectors[],
): Generator<void, { readonly alike: AlikePair[]; readonly blurred: ReadonlySet<string> }> {
  const count = skills.length
  const described = toDirections(vectors.map(({ description }) => description))
  const wholes = toDirections(vectors.map(({ whole }) => whole))
  /** By place of one skill and the other; NaN where there is nothing to compare. */
  const likeness = new Float32Array(count * count).fill(Number.NaN)
  for (let i = 0; i < count; i++) {
    yield
    const [a, wholeA] = [described[i], wholes[i]]
    for (let j = i + 1; a && j < count; j++) {
      const [b, wholeB] = [described[j], wholes[j]]
      if (!b) continue
      const cosine = cosineOf(a, b)
      likeness[i * count + j] = wholeA && wholeB ? (cosine + cosineOf(wholeA, wholeB)) / 2 : cosine
      likeness[j * count + i] = likeness[i * count + j] ?? 0
    }
  }
  const rowOf = (i: number) => likeness.subarray(i * count, (i + 1) * count)
  const seconds: number[] = []
  for (let i = 0; i < count; i++) {
    yield
    const second = rowOf(i)
      .filter((value) => !Number.isNaN(value))
      .sort()
      .at(-2)
    if (second !== undefined) seconds.push(Math.atanh(Math.min(second, 0.999)))
  }
  const limit = Math.min(LIMITS.most, Math.max(LIMITS.least, Math.tanh(findFence(seconds, OUTLIER, Math.atanh(LIMITS.most)))))
  const own = described.map((a, i) => (a && wholes[i] ? cosineOf(a, wholes[i]) : null))
  const known = own.filter((value) => value !== null)
  const least = findFence(known, -OUTLIER, -1)
  const blurred = new Set<string>()
  for (const [i, skill] of skills.entries()) {
    yield
    const [whole, value, row] = [wholes[i], own[i] ?? null, rowOf(i)]
    if (!whole || value === null) continue
    const isNearer = (b: Direction | null, j: number) => b !== null && j !== i && (row[j] ?? 1) < limit && cosineOf(b, whole) > value
    if (value < least || described.some(isNearer)) blurred.add(skill.id)
  }
  return { alike: yield* nameAlike(skills, rowOf, limit), blurred }
}

/** The pairs from a likeness on. The k-th of all pairs has all but k below it. */
function* nameAlike(skills: readonly ListedSkill[], rowOf: (i: number) => Float32Array, limit: number): Generator<void, AlikePair[]> {
  const holders = new Map<string, number>()
  const pairs: { readonly a: ListedSkill; readonly b: ListedSkill; readonly value: number }[] = []
  let all = 0
  for (const [i, a] of skills.entries()) {
    yield
    for (const word of tellingWords(a.description)) holders.set(word, (holders.get(word) ?? 0) + 1)
    const row = rowOf(i)
    for (const [j, b] of skills.entries()) {
      const value = j > i ? (row[j] ?? Number.NaN) : Number.NaN
      if (!Number.isNaN(value)) all++
      if (value >= limit) pairs.push({ a, b, value })
    }
  }
  const rarity = (word: string) => holders.get(word) ?? 0
  return pairs
    .toSorted((one, other) => other.value - one.value)
    .slice(0, MAX_PAIRS)
    .map(({ a, b, value }, place) => {
      const [ofA, ofB] = [tellingWords(a.description), tellingWords(b.description)]
      const shared = [...ofA].filter((word) => ofB.has(word)).toSorted((one, other) => rarity(one) - rarity(other))
      const percentile = Math.floor(((all - place - 1) / all) * 10_000) / 100
      const likeness = round(Math.min(1, value))
      return { a: refOf(a), b: refOf(b), likeness, percentile, words: shared.slice(0, MAX_WORDS), level: 'medium' as const }
    })
}

/** To thousandths. */
function round(value: number): number {
  return Math.round(value * 1_000) / 1_000
}

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
