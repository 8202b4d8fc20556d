// Measures the encoder on one thread: loading, processor time by tokens, and memory.
//   npm run bench:encoder
import { fileURLToPath } from 'node:url'
import { finish, inspectFile, openModel } from '../src/encoder/model.ts'
import { FILE_NAME } from '../src/encoder/weights-file.ts'

const FILE = fileURLToPath(new URL(`../dist/encoder/${FILE_NAME}`, import.meta.url))
const LENGTHS = [8, 12, 32, 64, 128]
const ROUNDS = 7
/** Work of a round, in tokens. */
const ROUND_TOKENS = 1_500
const MB = 1024 * 1024

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const print = (text: string) => process.stdout.write(`${text}\n`)
const rssBefore = process.memoryUsage.rss()
const started = performance.now()
const model = openModel(FILE, inspectFile(FILE).model)
print(`loaded in ${(performance.now() - started).toFixed(0)} ms`)
for (const length of LENGTHS) {
  // Any tokens cost the same.
  const tokens = Array.from({ length }, (_, at) => 1_000 + ((at * 7_919) % 20_000))
  const texts = Math.ceil(ROUND_TOKENS / length)
  const times = Array.from({ length: ROUNDS }, () => {
    const before = cpuMs()
    for (let text = 0; text < texts; text++) finish(model.encode(tokens, 0))
    return (cpuMs() - before) / texts
  }).toSorted((one, other) => one - other)
  const median = times[Math.floor(ROUNDS / 2)] ?? 0
  print(
    `${String(length).padStart(4)} tokens: ${median.toFixed(2)} ms of processor time (median of ${ROUNDS} rounds), least ${times[0]?.toFixed(2)}`,
  )
}
print(`memory: ${((process.memoryUsage.rss() - rssBefore) / MB).toFixed(0)} MB more`)
