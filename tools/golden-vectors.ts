// Makes test/fixtures/golden-vectors.tsv, with which the tests compare the encoder:
//   npm run setup:tools && node tools/golden-vectors.ts
import { writeFileSync } from 'node:fs'
import { GOLDEN_TEXTS } from '../test/support/golden-texts.ts'
import { digestOf, writeVector } from '../test/support/golden-vectors.ts'
import { encodeWithReference } from './reference-encoder.ts'

const FILE = new URL('../test/fixtures/golden-vectors.tsv', import.meta.url)
/** Of the encoder's windows: 126 and the two that enclose them. */
const MAX_TOKENS = 128

const names = Object.keys(GOLDEN_TEXTS)
const vectors = await encodeWithReference(Object.values(GOLDEN_TEXTS), MAX_TOKENS)
const lines = names.map((name, at) =>
  writeVector({ name, digest: digestOf(GOLDEN_TEXTS[name] ?? ''), vector: Float32Array.from(vectors[at] ?? []) }),
)
writeFileSync(FILE, `${lines.join('\n')}\n`)
process.stdout.write(`${lines.length} vectors\n`)
