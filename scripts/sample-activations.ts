import { DIMENSIONS } from '../src/encoder/model.ts'

/** The weights of the model by name, as rows of outputs. */
export type Tensors = (name: string) => Float32Array<ArrayBuffer>
/** Inputs of a linear map, row by row. */
export type Inputs = Float32Array[]

export const LAYERS = 6
export const INNER = 1536
const HEADS = 12
const HEAD = DIMENSIONS / HEADS

/**
 * Runs the model in floating point and gives what each of its linear maps got, by the name of the map.
 * @param texts tokens of some texts, enclosed
 */
export function sampleActivations(tensors: Tensors, texts: readonly (readonly number[])[]): Map<string, Inputs> {
  const samples = new Map<string, Inputs>()
  const apply = (name: string, rows: Inputs): Inputs => {
    samples.set(name, [...(samples.get(name) ?? []), ...rows])
    return multiply(rows, tensors(`${name}.weight`), tensors(`${name}.bias`))
  }
  for (const tokens of texts) {
    let states = normaliseRows(embed(tensors, tokens), tensors, 'embeddings.LayerNorm')
    for (let number = 0; number < LAYERS; number++) {
      const layer = `encoder.layer.${number}`
      const [queries = [], keys = [], values = []] = ['query', 'key', 'value'].map((part) =>
        apply(`${layer}.attention.self.${part}`, states),
      )
      const attended = apply(`${layer}.attention.output.dense`, attend(queries, keys, values))
      states = normaliseRows(add(states, attended), tensors, `${layer}.attention.output.LayerNorm`)
      const inner = apply(`${layer}.intermediate.dense`, states).map((row) => row.map(gelu))
      states = normaliseRows(add(states, apply(`${layer}.output.dense`, inner)), tensors, `${layer}.output.LayerNorm`)
    }
  }
  return samples
}

function embed(tensors: Tensors, tokens: readonly number[]): Inputs {
  const [words, positions, types] = ['word', 'position', 'token_type'].map((kind) => tensors(`embeddings.${kind}_embeddings.weight`))
  return tokens.map((token, place) =>
    Float32Array.from(
      { length: DIMENSIONS },
      (_, at) => (words?.[token * DIMENSIONS + at] ?? 0) + (positions?.[place * DIMENSIONS + at] ?? 0) + (types?.[at] ?? 0),
    ),
  )
}

function multiply(rows: Inputs, weights: Float32Array, biases: Float32Array): Inputs {
  return rows.map((row) =>
    biases.map((bias, output) => {
      let sum = bias
      const start = output * row.length
      for (let at = 0; at < row.length; at++) sum += (row[at] ?? 0) * (weights[start + at] ?? 0)
      return sum
    }),
  )
}

function add(rows: Inputs, others: Inputs): Inputs {
  return rows.map((row, token) => row.map((value, at) => value + (others[token]?.[at] ?? 0)))
}

function normaliseRows(rows: Inputs, tensors: Tensors, name: string): Inputs {
  const gain = tensors(`${name}.weight`)
  const bias = tensors(`${name}.bias`)
  return rows.map((row) => {
    const mean = row.reduce((sum, value) => sum + value, 0) / row.length
    const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length
    const factor = 1 / Math.sqrt(variance + 1e-12)
    return row.map((value, at) => (value - mean) * factor * (gain[at] ?? 0) + (bias[at] ?? 0))
  })
}

function attend(queries: Inputs, keys: Inputs, values: Inputs): Inputs {
  return queries.map((query) => {
    const row = new Float32Array(DIMENSIONS)
    for (let head = 0; head < DIMENSIONS; head += HEAD) {
      const weights = keys.map((key) => {
        let sum = 0
        for (let at = head; at < head + HEAD; at++) sum += (query[at] ?? 0) * (key[at] ?? 0)
        return Math.exp(sum / Math.sqrt(HEAD))
      })
      const all = weights.reduce((sum, weight) => sum + weight, 0)
      for (const [token, weight] of weights.entries()) {
        for (let at = head; at < head + HEAD; at++) row[at] = (row[at] ?? 0) + (weight / all) * (values[token]?.[at] ?? 0)
      }
    }
    return row
  })
}

function gelu(x: number): number {
  return 0.5 * x * (1 + erf(x / Math.SQRT2))
}

/** Abramowitz and Stegun 7.1.26; its error is below 1.5e-7. */
function erf(x: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(x))
  const rest = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * Math.exp(-x * x)
  return x < 0 ? rest - 1 : 1 - rest
}
