// Makes the vectors of assets/english-words.bin anew, the word table that search uses beside and without the encoder: the encoder's vector
// of each word of the table, reduced to its principal axes.
//   npm run build && node scripts/distil-vectors.ts
// Words and their ranks stay as they are: the 50,000 most frequent of GloVe (6 billion tokens; PDDL 1.0). The mean and the two strongest
// directions are removed, as they say little about meaning (Mu, Viswanath 2018), and each number is rounded to a byte. The same weights give
// the same file, bit for bit.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DIMENSIONS, enclose, FILE_NAME, finish, inspectFile, openModel, QUERY_TOKENS } from '../src/encoder/model.ts'
import { DIMS, readWordVectors } from '../src/search/vectors/word-vectors.ts'

/** Directions removed before the first axis that is kept. */
const DROPPED = 2
/** Rounds of power iteration for each axis. */
const ROUNDS = 200

const table = new URL('../assets/english-words.bin', import.meta.url)
const bytes = readFileSync(table)
const { size } = readWordVectors(bytes)
const header = bytes.subarray(0, 16)
const ranks = bytes.subarray(16, 16 + size * 4)
const text = bytes.subarray(16 + size * (4 + DIMS))

const weights = fileURLToPath(new URL(`../dist/encoder/${FILE_NAME}`, import.meta.url))
const model = openModel(weights, inspectFile(weights).model)
const vectors = text
  .toString('latin1')
  .split('\n')
  .slice(0, size)
  .map((word) => Float64Array.from(finish(model.encode(enclose(model.pieces.cut(word, QUERY_TOKENS).ids), 0))))
const mean = new Float64Array(DIMENSIONS)
for (const vector of vectors) add(mean, vector, 1 / size)
for (const vector of vectors) add(vector, mean, -1)
const axes = principalAxes(vectors, DROPPED + DIMS).slice(DROPPED)
const numbers = Buffer.alloc(size * DIMS)
for (const [row, vector] of vectors.entries()) {
  const turned = axes.map((axis) => dot(vector, axis))
  const largest = Math.max(...turned.map(Math.abs))
  for (const [column, value] of turned.entries()) numbers.writeInt8(Math.round((value / largest) * 127), row * DIMS + column)
}
writeFileSync(table, Buffer.concat([header, ranks, numbers, text]))
process.stdout.write(`${size} words of ${DIMS} dimensions\n`)

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0)
  return sum
}

function add(to: Float64Array, vector: Float64Array, factor: number): void {
  for (let i = 0; i < to.length; i++) to[i] = (to[i] ?? 0) + factor * (vector[i] ?? 0)
}

function normalise(vector: Float64Array): Float64Array {
  const length = Math.sqrt(dot(vector, vector)) || 1
  return vector.map((value) => value / length)
}

/** The strongest axes of the covariance, strongest first, by power iteration with deflation. */
function principalAxes(rows: readonly Float64Array[], count: number): Float64Array[] {
  const covariance = Array.from({ length: DIMENSIONS }, () => new Float64Array(DIMENSIONS))
  for (const row of rows) for (let i = 0; i < DIMENSIONS; i++) add(covariance[i] ?? row, row, row[i] ?? 0)
  const axes: Float64Array[] = []
  for (let k = 0; k < count; k++) {
    let axis = normalise(Float64Array.from({ length: DIMENSIONS }, (_, i) => Math.sin(i * 5 + k * 3 + 1)))
    for (let round = 0; round < ROUNDS; round++) {
      const next = Float64Array.from(covariance, (line) => dot(line, axis))
      for (const found of axes) add(next, found, -dot(next, found))
      axis = normalise(next)
    }
    axes.push(axis)
  }
  return axes
}
