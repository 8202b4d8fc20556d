import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createEmbeddingWorker } from '../../src/ai/embedding-worker.ts'
import { AppError } from '../../src/errors.ts'
import type { TextEmbedder } from '../../src/library/ports/models.ts'
import { holdPatience } from '../support/held-patience.ts'
import { eventually } from '../support/model-server.ts'
import { type TestApp, testApp } from '../support/test-app.ts'

/** The worker over a real store, with a provider and a patience that the test holds in its hands. */

const VECTOR = Float32Array.of(1, 0)
const answer: Answer = (texts) => texts.map(() => VECTOR)
type Answer = (texts: readonly string[]) => Float32Array[]

let test: TestApp
beforeEach(async () => {
  test = await testApp()
})
afterEach(() => test.close())

async function start() {
  const { actor } = await test.user('ada')
  const sent: string[][] = []
  const { patience, waits } = holdPatience()
  const remarks: string[] = []
  let answering = answer
  const embedder: TextEmbedder = {
    model: 'm',
    async embed(texts, { signal }) {
      signal.throwIfAborted()
      sent.push([...texts])
      return answering(texts)
    },
  }
  const worker = createEmbeddingWorker(test.app.store.embeddings, embedder, patience)
  return {
    worker,
    sent,
    waits,
    remarks,
    answer: (next: Answer) => {
      answering = next
    },
    start: () => worker.start((message) => remarks.push(message)),
    save: async (title: string, content = 'text') => {
      await test.call(actor, 'save_prompt', { title, content, isPrivate: false })
      worker.wake()
    },
    /** Waits for the worker to wait for the so-many-th time; gives for how long. */
    waiting: async (count: number) => {
      expect(await eventually(async () => waits.length >= count)).toBe(true)
      return waits[count - 1]?.ms
    },
  }
}

describe('the worker', () => {
  it('sends 32 texts at once, and 64,000 characters', async () => {
    const { worker, start: begin, save, sent, waiting } = await start()
    for (let n = 0; n < 40; n++) await save(`Short ${n}`)
    for (let n = 0; n < 10; n++) await save(`Long ${n}`, 'x'.repeat(9000))
    begin()
    await waiting(1)
    expect(sent.map((texts) => texts.length)).toEqual([32, 15, 3])
    expect([worker.counts, worker.isUp]).toEqual([{ embedded: 50, failures: 0, refused: 0 }, true])
    await worker.stop()
  })

  it('waits longer after each failure, at least as it is told, says so once, and goes on where it was', async () => {
    const { worker, start: begin, save, sent, waits, remarks, answer: reply, waiting } = await start()
    for (let n = 0; n < 33; n++) await save(`Number ${n}`)
    const down = (seconds?: number) => () => {
      throw new AppError('upstream_failed', 'It is down.', seconds === undefined ? {} : { retryAfterSeconds: seconds })
    }
    reply((texts) => (texts.length === 32 ? answer(texts) : down()()))
    begin()
    expect([await waiting(1), worker.isUp]).toEqual([1000, false])
    waits[0]?.end()
    expect(await waiting(2)).toBe(2000)
    reply(down(30))
    waits[1]?.end()
    expect(await waiting(3)).toBe(30_000)
    reply(answer)
    waits[2]?.end()
    expect(await waiting(4)).toBe(60_000)
    expect(sent.map((texts) => texts.length)).toEqual([32, 1, 1, 1, 1])
    expect(remarks).toEqual(['It is down. Embedding will be retried; search works without it.', 'The embedding model is available again.'])
    expect([worker.counts, worker.isUp]).toEqual([{ embedded: 33, failures: 3, refused: 0 }, true])
    await worker.stop()
  })
})
