import { setTimeout as sleep } from 'node:timers/promises'
import type { Served } from '../test/support/processes.ts'
import { readProcessorTime } from './processor-time.ts'
import { seededRandom } from './recombined-prompts.ts'
import { type Ledger, openLedger, write } from './savers.ts'

const SEED = 20_261_123
/** From one read beside the writers to the next. */
const READ_EVERY_MS = 20

/** Lets some writers save for a while, each to one of the instances, while somebody reads. */
export async function saveBeside(
  served: Served,
  keys: readonly string[],
  count: number,
  duration: number,
): Promise<{ readonly ledger: Ledger; readonly reads: readonly number[]; readonly cpu: number }> {
  const ledger = openLedger()
  const reads: number[] = []
  const random = seededRandom(SEED)
  const pools = keys.map(() => [] as string[])
  const pids = served.children.map(({ pid }) => pid ?? 0)
  const cpu = () => pids.reduce((sum, pid) => sum + readProcessorTime(pid), 0)
  const until = performance.now() + duration * 1000
  const isOver = () => performance.now() >= until
  const before = cpu()
  const readOn = async () => {
    while (!isOver()) {
      const started = performance.now()
      const answer = await fetch(`${served.ownUrls[0] ?? served.url}/api/prompts?perPage=10`)
      await answer.text()
      if (!answer.ok) ledger.faults.push(`a read was answered with ${answer.status}`)
      reads.push(performance.now() - started)
      await sleep(READ_EVERY_MS)
    }
  }
  await Promise.all([
    readOn(),
    ...Array.from({ length: count }, (_, writer) => {
      const person = writer % keys.length
      const url = served.ownUrls[writer % served.ownUrls.length] ?? served.url
      return write(url, { writer, key: keys[person] ?? '', pool: pools[person] ?? [], isOver, random }, ledger)
    }),
  ])
  return { ledger, reads, cpu: cpu() - before }
}
