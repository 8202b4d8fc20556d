// What reading by a label costs: prompts by their label as a multiple of the same by their ids, and all prompts at a label in one answer: cold,
// and with its ETag as a multiple of the floor.
//   npm run bench:labels [-- --rounds 9]

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { parseArgs } from 'node:util'
import { readPromptFile } from '../src/transfer/prompt-file.ts'
import { createPlace } from '../test/support/processes.ts'
import { findTestData } from '../test/support/real-data.ts'
import { FLOOR_ASKS, median, startFloor } from './drive.ts'
import { readProcessorTime } from './processor-time.ts'
import { makeKeys } from './savers.ts'

const READS = 300
const LIMITS = { byLabel: 1.1, coldMs: 60, known: 2 }
const ALL = '/api/prompts?label=production'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } })
const rounds = Number(values.rounds)
if (!Number.isSafeInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number above zero.')

const place = createPlace()
const floor = await startFloor()
try {
  const env = { DATABASE_URL: `sqlite:${join(place.folder, 'labels.db')}`, RATE_LIMITS: 'off', ENCODER: 'off' }
  const [key = ''] = await makeKeys(place, env)
  const { url, child } = await place.serve({ env })
  const send = async (method: string, path: string, body: object) => {
    const answer = await fetch(url + path, {
      method,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return Object(await answer.json())
  }
  const label = (id: string, reason: string) => send('PUT', `/api/prompts/${id}/labels/production`, { reason })
  const ids: string[] = []
  const bytes = Readable.from([readFileSync(findTestData().promptsFile)])
  for await (const row of readPromptFile({ name: 'prompts.csv', format: 'csv', bytes })) {
    if (!('draft' in row)) continue
    const { title, content } = row.draft
    const { prompt } = await send('POST', '/api/prompts', { title, content, visibility: 'public' })
    await label(prompt.id, 'first')
    ids.push(prompt.id)
  }
  /** Processor time of the asked process for each of some requests, one after the other, in microseconds. */
  const measure = async (pid: number, count: number, ask: (n: number) => Promise<Response>, status = 200) => {
    const before = readProcessorTime(pid)
    for (let n = 0; n < count; n++) {
      const answer = await ask(n)
      await answer.arrayBuffer()
      if (answer.status !== status) throw new Error(`The answer was ${answer.status}, not ${status}.`)
    }
    return (readProcessorTime(pid) - before) / count
  }
  const [floorAsk] = FLOOR_ASKS
  if (!floorAsk) throw new Error('The floor is asked nothing.')
  const pid = child.pid ?? 0
  const times: Record<'byId' | 'byLabel' | 'cold' | 'known' | 'floor', number[]> = { byId: [], byLabel: [], cold: [], known: [], floor: [] }
  for (let round = 0; round <= rounds; round++) {
    const read = (query: string) => measure(pid, READS, (n) => fetch(`${url}/api/prompts/${ids[n]}${query}`))
    // The first time of each fills the cache.
    await read('')
    await read('?label=production')
    const byId = await read('')
    const byLabel = await read('?label=production')
    await label(ids[round] ?? '', `round ${round}`)
    const cold = await measure(pid, 1, () => fetch(url + ALL))
    const etag = (await fetch(url + ALL)).headers.get('etag') ?? ''
    const known = await measure(pid, READS, () => fetch(url + ALL, { headers: { 'if-none-match': etag } }), 304)
    const cheapest = await measure(floor.pid, READS, () =>
      fetch(floor.url + floorAsk.path, { method: floorAsk.method, headers: { ...floorAsk.headers }, body: floorAsk.body ?? null }),
    )
    if (round === 0) continue
    for (const [name, time] of Object.entries({ byId, byLabel, cold, known, floor: cheapest })) times[name as keyof typeof times].push(time)
  }
  const of = (name: keyof typeof times) => median(times[name])
  const [byLabel, known, coldMs] = [of('byLabel') / of('byId'), of('known') / of('floor'), of('cold') / 1000]
  process.stdout.write(
    `${ids.length} prompts: one by label ${byLabel.toFixed(2)} × by id (${of('byId').toFixed(0)} µs); all at a label ${coldMs.toFixed(1)} ms cold, ${known.toFixed(2)} × the floor of ${of('floor').toFixed(0)} µs with the ETag\n`,
  )
  if (!(byLabel <= LIMITS.byLabel && known <= LIMITS.known && coldMs <= LIMITS.coldMs)) process.exitCode = 1
} finally {
  await floor.stop()
  await place.remove()
}
