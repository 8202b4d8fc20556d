import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Library } from './asks.ts'
import { readProcessorTime } from './processor-time.ts'

/** From one save to the next. */
const EVERY_MS = 50
/** For how long nothing but saves is done, to see what one costs. */
const ALONE_MS = 1_500

const saved = z.object({ prompt: z.object({ id: z.string() }) })

/** Somebody who saves a public prompt every 50 ms. */
export interface Saver {
  /** Processor time of the service for one save when it does nothing else, in microseconds. */
  readonly cpuMicroseconds: number
  /** Saves answered so far. */
  count(): number
  /** Ends the saving, and deletes what was saved. @throws Error when a save was refused */
  stop(): Promise<void>
}

/** Starts to save, first alone. */
export async function startSaver({ url, key }: Pick<Library, 'url' | 'key'>, pid: number): Promise<Saver> {
  const headers = { 'content-type': 'application/json', 'x-api-key': key }
  const ids: string[] = []
  let fault: unknown
  let isOver = false
  const save = async (number: number) => {
    const body = JSON.stringify({ title: `Saved meanwhile ${number}`, content: `Write a letter about ${number}.`, visibility: 'public' })
    const answer = await fetch(`${url}/api/prompts`, { method: 'POST', headers, body })
    if (answer.status !== 201) throw new Error(`A save was answered with ${answer.status}: ${await answer.text()}`)
    ids.push(saved.parse(await answer.json()).prompt.id)
  }
  const work = (async () => {
    for (let number = 1, next = performance.now(); !isOver; number++) {
      await save(number)
      next = Math.max(next + EVERY_MS, performance.now())
      await sleep(Math.max(0, next - performance.now()))
    }
  })().catch((error: unknown) => {
    fault = error
  })
  await sleep(ALONE_MS / 3)
  const [cpuBefore, countBefore] = [readProcessorTime(pid), ids.length]
  await sleep(ALONE_MS)
  const cpuMicroseconds = (readProcessorTime(pid) - cpuBefore) / Math.max(1, ids.length - countBefore)
  return {
    cpuMicroseconds,
    count: () => ids.length,
    async stop() {
      isOver = true
      await work
      for (const id of ids) await fetch(`${url}/api/prompts/${id}`, { method: 'DELETE', headers })
      if (fault !== undefined) throw fault
    },
  }
}
