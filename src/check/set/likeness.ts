import { dotProduct } from '../../search/vectors/dot-product.ts'
import { lengthOf } from '../../search/vectors/embedder.ts'
import { type AlikePair, type ListedSkill, refOf } from './report.ts'
import { MAX_PAIRS, tellingWords } from './texts.ts'

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
export function toDirections(vectors: readonly (Int8Array | null)[]): (Direction | null)[] {
  return vectors.map((numbers) => {
    const length = numbers ? lengthOf(numbers) : 0
    return numbers && length > 0 ? { numbers, length, unit: Float64Array.from(numbers, (value) => value / length) } : null
  })
}

/** The cosine of two vectors of the same model. */
export function cosineOf({ unit }: Pick<Direction, 'unit'>, { numbers, length }: Direction): number {
  return dotProduct(unit, numbers, 0) / length
}

/** The median; the upper one of two. */
export function medianOf(values: readonly number[]): number | null {
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
export function round(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
