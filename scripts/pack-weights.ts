import { DIMENSIONS, enclose } from '../src/encoder/model.ts'
import type { WordPieces } from '../src/encoder/word-pieces.ts'
import { INNER, type Inputs, LAYERS, sampleActivations, type Tensors } from './sample-activations.ts'

const POSITIONS = 128
/** Largest rounded weight: of 8 bits; and of the map from the inner layer, whose rows have outliers, what 32-bit sums of 1,536 products with 2,047 allow. */
const MAX_WEIGHT = 127
const MAX_WIDE_WEIGHT = 682
/** Outputs whose weights stand together, as the kernel reads them. */
const PANEL = 8
/**
 * Texts on which rounding errors should cancel out: the shortest, where a few large activations decide.
 * Of the golden texts the worst has a cosine of .9992 with the reference; rounding each weight to the nearest gives .996.
 */
const SAMPLES = ['', '.', 'the', 'hello, world']
/** How much the other texts count: the more, the nearer each weight stays to its own value. */
const OTHERS = 10

/** All weights of the model, in the order in which the kernel reads them. */
export function packWeights(tensors: Tensors, pieces: WordPieces): Buffer {
  const samples = sampleActivations(
    tensors,
    SAMPLES.map((text) => enclose(pieces.cut(text, POSITIONS).ids)),
  )
  const pack = (names: readonly string[], inputs: number, isWide = false) => packLinear(tensors, samples, names, inputs, isWide)
  const layers = Array.from({ length: LAYERS }, (_, number) => {
    const layer = `encoder.layer.${number}`
    return [
      pack(
        ['query', 'key', 'value'].map((part) => `${layer}.attention.self.${part}`),
        DIMENSIONS,
      ),
      pack([`${layer}.attention.output.dense`], DIMENSIONS),
      ...packNorm(tensors, `${layer}.attention.output.LayerNorm`),
      pack([`${layer}.intermediate.dense`], DIMENSIONS),
      pack([`${layer}.output.dense`], INNER, true),
      ...packNorm(tensors, `${layer}.output.LayerNorm`),
    ]
  })
  const parts = [...packTokens(tensors), packPositions(tensors), ...packNorm(tensors, 'embeddings.LayerNorm'), ...layers.flat()]
  return Buffer.concat(parts.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)))
}

/** What an integer of a row stands for, when the largest is `most`. */
function scaleOf(row: Float32Array, most: number): number {
  let largest = 0
  for (const value of row) largest = Math.max(largest, Math.abs(value))
  return Math.fround((largest || 1) / most)
}

/** Scales of all tokens, then their rows. */
function packTokens(tensors: Tensors): [Float32Array, Int8Array] {
  const table = tensors('embeddings.word_embeddings.weight')
  const scales = new Float32Array(table.length / DIMENSIONS)
  const rows = new Int8Array(table.length)
  for (let token = 0; token < scales.length; token++) {
    const start = token * DIMENSIONS
    const scale = scaleOf(table.subarray(start, start + DIMENSIONS), MAX_WEIGHT)
    scales[token] = scale
    for (let at = start; at < start + DIMENSIONS; at++) rows[at] = Math.round((table[at] ?? 0) / scale)
  }
  return [scales, rows]
}

/** Of each position that a window has; every token is of the first of two types. */
function packPositions(tensors: Tensors): Float32Array {
  const types = tensors('embeddings.token_type_embeddings.weight')
  return tensors('embeddings.position_embeddings.weight')
    .subarray(0, POSITIONS * DIMENSIONS)
    .map((value, place) => value + (types[place % DIMENSIONS] ?? 0))
}

function packNorm(tensors: Tensors, name: string): Float32Array[] {
  return [tensors(`${name}.weight`), tensors(`${name}.bias`)]
}

/** Linear maps of the same inputs as one: scales, biases, then panels of eight outputs in which pairs of inputs alternate by output. */
function packLinear(
  tensors: Tensors,
  samples: ReadonlyMap<string, Inputs>,
  names: readonly string[],
  inputs: number,
  isWide: boolean,
): Uint8Array {
  const sampled = arrangeSamples(samples.get(names[0] ?? '') ?? [], inputs)
  const rows = names.flatMap((name) => {
    const weights = tensors(`${name}.weight`)
    return Array.from({ length: weights.length / inputs }, (_, row) => weights.subarray(row * inputs, (row + 1) * inputs))
  })
  const bytes = new Uint8Array(rows.length * (8 + inputs * (isWide ? 2 : 1)))
  const scales = new Float32Array(bytes.buffer, 0, rows.length)
  new Float32Array(bytes.buffer, rows.length * 4, rows.length).set(names.flatMap((name) => [...tensors(`${name}.bias`)]))
  const panels = isWide ? new Int16Array(bytes.buffer, rows.length * 8) : new Int8Array(bytes.buffer, rows.length * 8)
  const most = isWide ? MAX_WIDE_WEIGHT : MAX_WEIGHT
  for (const [output, row] of rows.entries()) {
    const scale = scaleOf(row, most)
    scales[output] = scale
    const start = Math.floor(output / PANEL) * PANEL * inputs + (output % PANEL) * 2
    roundRow(row, scale, most, sampled, (integer, input) => {
      panels[start + (input >> 1) * PANEL * 2 + (input & 1)] = integer
    })
  }
  return bytes
}

/** Sampled inputs of a linear map, by input. */
interface Sampled {
  readonly count: number
  /** `count` values for each input. */
  readonly values: Float64Array
  /** Sum of squares of each input, and of an average one that counts for other texts. */
  readonly squares: Float64Array
  readonly others: number
  /** Inputs, the strongest first: later ones make up for the errors of earlier ones. */
  readonly order: readonly number[]
}

function arrangeSamples(rows: Inputs, inputs: number): Sampled {
  const values = new Float64Array(inputs * rows.length)
  const squares = new Float64Array(inputs)
  for (const [sample, row] of rows.entries()) {
    for (const [input, value] of row.entries()) {
      values[input * rows.length + sample] = value
      squares[input] = (squares[input] ?? 0) + value * value
    }
  }
  const others = (OTHERS * squares.reduce((sum, square) => sum + square, 0)) / inputs
  const order = [...squares.keys()].toSorted((one, other) => (squares[other] ?? 0) - (squares[one] ?? 0) || one - other)
  return { count: rows.length, values, squares, others, order }
}

/** Rounds a row of weights so that its errors on the sampled inputs cancel out, as OPTQ does (Frantar and others, 2022), with a few samples in place of a Hessian. */
function roundRow(row: Float32Array, scale: number, most: number, sampled: Sampled, put: (integer: number, input: number) => void): void {
  const { count, values, squares, others, order } = sampled
  /** Of the output, for each sample. */
  const errors = new Float64Array(count)
  for (const input of order) {
    const start = input * count
    let error = 0
    for (let sample = 0; sample < count; sample++) error += (errors[sample] ?? 0) * (values[start + sample] ?? 0)
    const weight = row[input] ?? 0
    const wanted = weight - error / ((squares[input] ?? 0) + others)
    const integer = Math.max(-most, Math.min(most, Math.round(wanted / scale)))
    const change = integer * scale - weight
    for (let sample = 0; sample < count; sample++) errors[sample] = (errors[sample] ?? 0) + change * (values[start + sample] ?? 0)
    put(integer, input)
  }
}
