import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Place, Served } from '../test/support/processes.ts'
import { measureCommand } from './measured-command.ts'
import { readProcessorTime } from './processor-time.ts'
import { recombinePrompts } from './recombined-prompts.ts'

const SEARCHES = ['story about light', 'code review', 'travel plan', 'email to a customer', 'learn a language', 'sql query']
/** Of twenty reads: look-ups by id, pages of the list, and the rest searches. */
const LOOKUPS = 12
const LISTS = 6

/** What reads are of. */
const READS = ['look-ups', 'lists', 'searches'] as const

/** What reads at a fixed rate took beside other work, in milliseconds since each was due, and how many were not answered well. */
export interface ReadTimes {
  readonly byKind: ReadonlyMap<(typeof READS)[number], number[]>
  readonly faults: readonly string[]
}

/** Writes a file of recombined prompts that the command `import prompts` reads. */
export async function writeImportFile(promptsFile: string, path: string, count: number, seed: number): Promise<void> {
  const out = createWriteStream(path)
  for await (const { title, content, type } of recombinePrompts(promptsFile, count, seed)) {
    if (!out.write(`${JSON.stringify({ title, content, type })}\n`)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
}

/** Imports a file by the command, and says what its process and the service used. @throws Error when not every prompt was created */
export async function importFile(
  place: Place,
  served: Served,
  file: { readonly path: string; readonly count: number; readonly owner: string },
  env: Record<string, string>,
): Promise<{ readonly seconds: number; readonly cpuSeconds: number; readonly serviceCpuSeconds: number }> {
  const service = () => served.children.reduce((sum, { pid }) => sum + readProcessorTime(pid ?? 0), 0)
  const before = service()
  const { seconds, cpuSeconds, said } = await measureCommand(place, ['import', 'prompts', file.path, '--user', file.owner, '--public'], env)
  if (!said.includes(` ${file.count} created`)) throw new Error(`The import failed: ${said.slice(-500)}`)
  return { seconds, cpuSeconds, serviceCpuSeconds: (service() - before) / 1e6 }
}

/** Reads at a fixed rate until it is over, whether or not earlier reads were answered. */
export async function readBeside(url: string, perSecond: number, isOver: () => boolean): Promise<ReadTimes> {
  const agent = new Agent({ keepAlive: true })
  const faults: string[] = []
  const byKind = new Map(READS.map((kind) => [kind, [] as number[]]))
  const { prompts } = (await (await fetch(`${url}/api/prompts?perPage=50`)).json()) as { prompts: { id: string }[] }
  const pending: Promise<void>[] = []
  const started = performance.now()
  for (let count = 0; !isOver(); count++) {
    const due = started + (count * 1000) / perSecond
    await sleep(Math.max(0, due - performance.now()))
    const turn = count % (LOOKUPS + LISTS + 2)
    const kind = turn < LOOKUPS ? 'look-ups' : turn < LOOKUPS + LISTS ? 'lists' : 'searches'
    const path = {
      'look-ups': `/api/prompts/${prompts[count % prompts.length]?.id ?? ''}`,
      lists: `/api/prompts?perPage=10&page=${1 + (count % 3)}`,
      searches: `/api/search/prompts?query=${encodeURIComponent(SEARCHES[count % SEARCHES.length] ?? '')}`,
    }[kind]
    // The service closes connections that were idle, perhaps at the moment when one is used again: then it is asked once more.
    const asked = get(agent, url + path).catch(() => get(agent, url + path))
    pending.push(
      asked.then(
        (status) => {
          byKind.get(kind)?.push(performance.now() - due)
          if (status !== 200) faults.push(`${path} was answered with ${status}`)
        },
        (error: unknown) => {
          faults.push(`${path}: ${String(error)}`)
        },
      ),
    )
  }
  await Promise.all(pending)
  agent.destroy()
  return { byKind, faults }
}

async function get(agent: Agent, url: string): Promise<number> {
  return await new Promise((resolve, reject) => {
    const asked = request(url, { agent }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
      answer.on('error', reject)
    })
    asked.on('error', reject)
    asked.end()
  })
}
