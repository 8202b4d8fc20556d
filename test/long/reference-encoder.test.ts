import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { encodeWithReference } from '../../tools/reference-encoder.ts'
import { GOLDEN_TEXTS } from '../support/golden-texts.ts'
import { cosine, readVectors } from '../support/golden-vectors.ts'

/** A sample of all kinds: the whole fixture is made by tools/golden-vectors.ts. */
const SAMPLE = [
  'empty',
  'question',
  'accents decomposed',
  'control characters',
  'chinese and english',
  'special tokens',
  '10,000 characters',
]

it('the golden vectors are those of the reference encoder', async () => {
  const golden = new Map(
    readVectors(readFileSync(new URL('../fixtures/golden-vectors.tsv', import.meta.url), 'utf8')).map(({ name, vector }) => [name, vector]),
  )
  const vectors = await encodeWithReference(
    SAMPLE.map((name) => GOLDEN_TEXTS[name] ?? ''),
    128,
  )
  for (const [at, name] of SAMPLE.entries()) expect(cosine(golden.get(name) ?? [], vectors[at] ?? []), name).toBeGreaterThan(0.99999)
})
