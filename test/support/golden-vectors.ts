import { hash } from 'node:crypto'

/** A vector of the reference, as the fixture has it: a line of the text's name, a digest of the text, and its numbers. */
export interface GoldenVector {
  readonly name: string
  /** The start of the text's SHA-256, as hex: a changed text needs a new vector. */
  readonly digest: string
  readonly vector: Float32Array
}

/** Numbers are stored as 16-bit integers: of a vector of unit length, their error is below a cosine of .0000001. */
const SCALE = 32_767

/** The digest of a text, as the fixture has it. */
export function digestOf(text: string): string {
  return hash('sha256', text).slice(0, 16)
}

/** A line of the fixture. */
export function writeVector({ name, digest, vector }: GoldenVector): string {
  const integers = Int16Array.from(vector, (value) => Math.round(value * SCALE))
  return [name, digest, Buffer.from(integers.buffer).toString('base64')].join('\t')
}

/** The vectors of the fixture. */
export function readVectors(text: string): GoldenVector[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [name = '', digest = '', numbers = ''] = line.split('\t')
      const bytes = Buffer.from(numbers, 'base64')
      const vector = Float32Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readInt16LE(at * 2) / SCALE)
      return { name, digest, vector }
    })
}

/** Cosine of the angle between two vectors, from -1 to 1. */
export function cosine(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let dot = 0
  let lengths = [0, 0] as [number, number]
  for (let at = 0; at < one.length; at++) {
    const [a, b] = [one[at] ?? 0, other[at] ?? 0]
    dot += a * b
    lengths = [lengths[0] + a * a, lengths[1] + b * b]
  }
  return dot / Math.sqrt(lengths[0] * lengths[1])
}
