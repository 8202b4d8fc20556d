import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EncodedQuery, Encoder, ItemText } from '../../src/domain/ports/encoder.ts'

/** Numbers of its vectors. */
const DIMS = 384

/** An encoder without weights: equal texts have equal vectors, and nothing else is near. */
export interface FakeEncoder extends Encoder {
  /** The titles of the items it was given, in order. */
  readonly given: string[]
  /** What it is and does from now on. `fails`: titles it has no vector for. */
  change(now: { state?: ReturnType<Encoder['state']>; delayMs?: number; fails?: readonly string[] }): void
  readonly isClosed: boolean
}

/** The vector that it makes of an item. */
export function fakeVector(title: string, text: string): Int8Array {
  const bytes = createHash('shake256', { outputLength: DIMS })
    .update(JSON.stringify([title, text]))
    .digest()
  return Int8Array.from(bytes, (byte) => Math.max(-127, byte - 128))
}

/** What an encoder makes of one item. */
export async function encodeOne(encoder: Encoder, item: ItemText): Promise<Int8Array | null> {
  return (await encoder.encodeItems([item], new AbortController().signal))?.[0] ?? null
}

export function createFakeEncoder(model = 'fake-1'): FakeEncoder {
  let state: ReturnType<Encoder['state']> = 'ready'
  let delayMs = 0
  let fails: readonly string[] = []
  let isClosed = false
  const given: string[] = []
  return {
    model,
    isProvider: false,
    batchSize: 1,
    given,
    get isClosed() {
      return isClosed
    },
    change(now) {
      state = now.state ?? state
      delayMs = now.delayMs ?? delayMs
      fails = now.fails ?? fails
    },
    start() {},
    state: () => state,
    fault: () => null,
    async encodeQuery(text): Promise<EncodedQuery | null> {
      if (state !== 'ready') return null
      const vector = Float32Array.from(fakeVector(text, ''))
      const length = Math.hypot(...vector)
      return { vector: vector.map((value) => value / length), knownShare: 1 }
    },
    async encodeItems([item]) {
      if (!item || state !== 'ready') return [null]
      given.push(item.title)
      if (delayMs > 0) await sleep(delayMs, undefined, { ref: false })
      return [fails.includes(item.title) ? null : fakeVector(item.title, item.text)]
    },
    async close() {
      isClosed = true
    },
  }
}
