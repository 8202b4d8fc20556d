// How long a cold start takes to its first answer, and what the process weighs with a library in it.
//   npm run bench:start [-- --prompts FILE.csv] [--runs 5]
// The encoder is on, and starts to encode the library; with ENCODER=off it is off.
// Without --prompts the data folder beside the checkout is used where there is one, else the starter library.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createPlace } from '../test/support/processes.ts'
import { findTestData } from '../test/support/real-data.ts'

const { values } = parseArgs({ options: { prompts: { type: 'string' }, runs: { type: 'string', default: '5' } } })
const data = findTestData()
const promptsFile = values.prompts ?? data.promptsFile

/** Resident memory of a process, in MiB, from the kernel's own account. */
function residentMiB(pid: number): number {
  const kib = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  return kib / 1024
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN
}

const search = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'search_prompts', arguments: { query: 'writer' } },
})

const place = createPlace()
try {
  const importStarted = performance.now()
  const imported = await place.commonplace(['import', 'prompts', promptsFile, '--user', 'bench', '--public'])
  const importMs = performance.now() - importStarted
  const floorStarted = performance.now()
  await place.commonplace(['--version'])
  const floorMs = performance.now() - floorStarted
  process.stdout.write(
    `${imported.stdout}import: ${importMs.toFixed(0)} ms as a whole process, of which a command that does nothing takes ${floorMs.toFixed(0)} ms\n`,
  )
  const startsMs: number[] = []
  const idleMiB: number[] = []
  const busyMiB: number[] = []
  for (let run = 0; run < Number(values.runs); run++) {
    const started = performance.now()
    const { url, child } = await place.serve({ env: { ENCODER: process.env['ENCODER'] ?? 'on' } })
    const answer = await fetch(`${url}/api/mcp`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: search })
    await answer.text()
    startsMs.push(performance.now() - started)
    idleMiB.push(residentMiB(child.pid ?? 0))
    for (let i = 0; i < 500; i++)
      await (await fetch(`${url}/api/mcp`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: search })).text()
    busyMiB.push(residentMiB(child.pid ?? 0))
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('exit', resolve))
  }
  process.stdout.write(
    `cold start to first answer: median ${median(startsMs).toFixed(0)} ms of ${startsMs.length} (${startsMs.map((ms) => ms.toFixed(0)).join(', ')})\n`,
  )
  process.stdout.write(
    `resident memory: median ${median(idleMiB).toFixed(0)} MiB after the first answer, ${median(busyMiB).toFixed(0)} MiB after 500 searches\n`,
  )
} finally {
  await place.remove()
}
