import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createItemEncoding } from '../../src/ai/item-encoding.ts'
import { loadPreparedVectors } from '../../src/ai/kept-vectors.ts'
import type { Encoder } from '../../src/domain/ports/encoder.ts'
import { AppError } from '../../src/errors.ts'
import type { LibraryStore } from '../../src/storage/store.ts'
import { createFakeEncoder, type FakeEncoder, fakeVector } from '../support/fake-encoder.ts'
import { holdPatience } from '../support/held-patience.ts'
import { eventually } from '../support/model-server.ts'
import { isOnPostgres } from '../support/postgres.ts'
import { useFreshTestApp } from '../support/test-app.ts'

/** The background job over a real store, with an encoder and a patience that the test holds in its hands. */

const test = useFreshTestApp()

/** What the job does with the library, with `change` in the way. */
function begin({
  encoder = createFakeEncoder(),
  change = {},
}: {
  encoder?: FakeEncoder
  change?: Partial<LibraryStore['itemVectors']> & Partial<Encoder>
} = {}) {
  const { patience, waits } = holdPatience()
  const remarks: string[] = []
  const saved: number[] = []
  let lists = 0
  const store = test.app.store.itemVectors
  const encoding = createItemEncoding(
    { ...encoder, encodeItems: change.encodeItems ?? encoder.encodeItems },
    {
      ...store,
      async listUnencoded(...args) {
        lists++
        return await store.listUnencoded(...args)
      },
      async saveVectors(model, vectors) {
        await change.saveVectors?.(model, vectors)
        saved.push(vectors.length)
        return await store.saveVectors(model, vectors)
      },
    },
    patience,
  )
  encoding.start((message) => remarks.push(message))
  return {
    encoding,
    encoder,
    remarks,
    saved,
    waits,
    countLists: () => lists,
    /** Waits for the job to wait for the so-many-th time; returns for how long. */
    waiting: async (count: number) => {
      expect(await eventually(async () => waits.length >= count)).toBe(true)
      return waits[count - 1]?.ms
    },
    counts: async () => Object.values(await store.countVectors(encoder)),
  }
}
const save = async (title: string, content = 'text') => {
  const { actor } = await test.user('ada')
  const { prompt } = await test.call(actor, 'save_prompt', { title, content, isPrivate: true })
  return String(Object(prompt).id)
}
const edit = async (id: string, content: string) => {
  const { actor } = await test.user('ada')
  await test.call(actor, 'update_prompt', { id, content })
}

describe('the job', () => {
  it('encodes private items too, the last changed first, saves them at once, and looks again every two seconds', async () => {
    for (let n = 0; n < 20; n++) await save(`Number ${n}`)
    const { encoding, encoder, saved, waiting, waits, counts } = begin()
    expect(encoding.state).toBe('embedding')
    expect(await waiting(1)).toBe(2000)
    expect(encoder.given).toEqual(Array.from({ length: 20 }, (_, n) => `Number ${19 - n}`))
    expect([saved, encoding.state, await counts()]).toEqual([[20], 'ready', [20, 20, 0]])
    // Saved by another process, which tells nobody.
    await save('Elsewhere')
    waits[0]?.end()
    expect(await waiting(2)).toBe(2000)
    expect([encoder.given.slice(20), encoding.counts]).toEqual([['Elsewhere'], { encoded: 21, failures: 0, failedItems: 0 }])
    await encoding.stop()
  })

  it('is woken by a write', async () => {
    const { encoding, encoder, waiting } = begin()
    test.app.onChange(encoding.wake)
    await waiting(1)
    const id = await save('One')
    await waiting(2)
    await edit(id, 'Other')
    await waiting(3)
    expect(encoder.given).toEqual(['One', 'One'])
    await encoding.stop()
  })

  it('turns to what was just written before what is older', async () => {
    const old = await save('Old')
    for (let n = 0; n < 20; n++) await save(`Number ${n}`)
    const inner = createFakeEncoder()
    const { encoding, encoder, waiting, counts } = begin({
      encoder: inner,
      change: {
        async encodeItems([item], signal) {
          if (item?.title === 'Number 15') await save('New')
          if (item?.title === 'Number 10') await edit(old, 'Edited')
          return await inner.encodeItems(item ? [item] : [], signal)
        },
      },
    })
    await waiting(1)
    const following = (title: string) => encoder.given[encoder.given.indexOf(title) + 1]
    expect([following('Number 15'), following('Number 10')]).toEqual(['New', 'Old'])
    expect([encoder.given.length, await counts()]).toEqual([22, [22, 22, 0]])
    await encoding.stop()
  })

  it('waits while the encoder starts or is gone, and claims nothing meanwhile', async () => {
    await save('One')
    const encoder = createFakeEncoder()
    encoder.change({ state: 'starting' })
    const { encoding, waiting, waits, counts } = begin({ encoder })
    expect([await waiting(1), encoding.state]).toEqual([500, 'embedding'])
    expect(await test.readEverything()).not.toContain(encoder.model)
    encoder.change({ state: 'fallback' })
    waits[0]?.end()
    expect([await waiting(2), encoding.state]).toEqual([500, 'fallback'])
    encoder.change({ state: 'ready' })
    waits[1]?.end()
    expect([await waiting(3), encoding.state, await counts()]).toEqual([2000, 'ready', [1, 1, 0]])
    await encoding.stop()
  })

  it('leaves a text on which the encoder fails three times, until it changes', async () => {
    await save('Fine')
    const id = await save('Bad')
    const encoder = createFakeEncoder()
    encoder.change({ fails: ['Bad'] })
    const { encoding, remarks, waiting, waits, counts } = begin({ encoder })
    for (const count of [1, 2]) {
      expect(await waiting(count)).toBe(500)
      waits[count - 1]?.end()
    }
    expect(await waiting(3)).toBe(2000)
    expect([encoder.given, await counts(), encoding.state]).toEqual([['Bad', 'Bad', 'Bad', 'Fine'], [2, 1, 1], 'ready'])
    expect(remarks).toEqual([`The encoder failed on item ${id}; search finds it by words until its text changes or the service restarts.`])
    encoder.change({ fails: [] })
    await edit(id, 'Other')
    encoding.wake()
    await waiting(4)
    expect([encoder.given.at(-1), await counts(), encoding.counts.failedItems]).toEqual(['Bad', [2, 2, 0], 1])
    await encoding.stop()
  })

  it('counts it as a failure when the encoder throws', async () => {
    for (const title of ['Fine', 'Thrown']) await save(title)
    const inner = createFakeEncoder()
    const { encoding, remarks, waiting, waits, counts } = begin({
      encoder: inner,
      change: {
        async encodeItems([item], signal) {
          if (item?.title === 'Thrown') throw new Error('secret')
          return await inner.encodeItems(item ? [item] : [], signal)
        },
      },
    })
    for (const count of [1, 2]) {
      expect(await waiting(count)).toBe(500)
      waits[count - 1]?.end()
    }
    expect(await waiting(3)).toBe(2000)
    expect([await counts(), encoding.counts]).toEqual([[2, 1, 1], { encoded: 1, failures: 0, failedItems: 1 }])
    expect(remarks.join()).not.toContain('secret')
    await encoding.stop()
  })

  it('waits longer after each failure of the library, says so once, and encodes nothing twice', async () => {
    for (let n = 0; n < 3; n++) await save(`Number ${n}`)
    let isDown = true
    const { encoding, encoder, remarks, waiting, waits, counts } = begin({
      change: {
        async saveVectors() {
          if (isDown) throw new AppError('unavailable', 'The library is not responding.')
          return 0
        },
      },
    })
    expect(await waiting(1)).toBe(1000)
    waits[0]?.end()
    expect(await waiting(2)).toBe(2000)
    isDown = false
    waits[1]?.end()
    expect(await waiting(3)).toBe(2000)
    expect([encoder.given.length, await counts(), encoding.counts]).toEqual([3, [3, 3, 0], { encoded: 3, failures: 2, failedItems: 0 }])
    expect(remarks).toEqual([
      'The library is not responding. Encoding will be retried; search works without it.',
      'The library can be used again: encoding continues.',
    ])
    await encoding.stop()
  })

  it('stops without waiting for the encoder, saves what is done, and resumes without encoding anything twice', async () => {
    for (let n = 0; n < 12; n++) await save(`Number ${n}`)
    const inner = createFakeEncoder()
    const first = begin({
      encoder: inner,
      change: {
        encodeItems: (items, signal) => (items[0]?.title === 'Number 3' ? new Promise<null>(() => {}) : inner.encodeItems(items, signal)),
      },
    })
    expect(await eventually(async () => inner.given.length === 8)).toBe(true)
    await first.encoding.stop()
    expect(await first.counts()).toEqual([12, 8, 4])
    if (isOnPostgres()) test.wait(20_000)
    const second = begin()
    expect(await second.waiting(1)).toBe(2000)
    expect(second.encoder.given).toEqual(['Number 3', 'Number 2', 'Number 1', 'Number 0'])
    await second.encoding.stop()
    // A start with nothing to do looks through nothing.
    const third = begin()
    expect([await third.waiting(1), third.encoding.state, third.countLists()]).toEqual([2000, 'ready', 0])
    await third.encoding.stop()
  })

  it('resumes after a crash: only what was not saved is encoded again', async () => {
    for (let n = 0; n < 12; n++) await save(`Number ${n}`)
    const encoder = createFakeEncoder()
    encoder.change({ delayMs: 250 })
    const crashed = begin({
      encoder,
      change: {
        async saveVectors() {
          if (crashed.saved.length === 1) throw new AppError('unavailable', 'The process is gone.')
          return 0
        },
      },
    })
    await crashed.waiting(1)
    const kept = crashed.saved[0] ?? 0
    expect(kept).toBeGreaterThan(0)
    expect(kept).toBeLessThan(12)
    test.wait(20_000)
    const second = begin()
    await second.waiting(1)
    expect(second.encoder.given).toEqual(Array.from({ length: 12 - kept }, (_, n) => `Number ${11 - kept - n}`))
    expect(await second.counts()).toEqual([12, 12, 0])
    await second.encoding.stop()
    await crashed.encoding.stop()
  })

  it('encodes everything again with another model, and deletes the old vectors once that is done', async () => {
    for (let n = 0; n < 3; n++) await save(`Number ${n}`)
    const old = begin()
    await old.waiting(1)
    await old.encoding.stop()
    const encoder = createFakeEncoder('fake-2')
    let during: unknown
    const next = begin({
      encoder,
      change: {
        async encodeItems([item], signal) {
          during ??= await old.counts()
          return await encoder.encodeItems(item ? [item] : [], signal)
        },
      },
    })
    await next.waiting(1)
    expect([during, await old.counts(), await next.counts()]).toEqual([
      [3, 3, 0],
      [3, 0, 3],
      [3, 3, 0],
    ])
    await next.encoding.stop()
  })

  it('finds after a minute what lost its vector without a change', async () => {
    await save('One')
    const { encoding, encoder, waiting, waits, counts } = begin()
    await waiting(1)
    await test.app.store.itemVectors.forgetOtherVectors('another')
    for (let count = 1; count <= 29; count++) {
      waits[count - 1]?.end()
      await waiting(count + 1)
    }
    expect([encoder.given.length, await counts()]).toEqual([1, [1, 0, 1]])
    waits[29]?.end()
    await waiting(31)
    expect([encoder.given.length, await counts()]).toEqual([2, [1, 1, 0]])
    await encoding.stop()
  })
})

describe('vectors made with the program', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'commonplace-vectors-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const load = (content: string | null, model = 'm') => {
    const file = join(folder, 'vectors.json')
    if (content !== null) writeFileSync(file, content)
    const remarks: string[] = []
    const vectors = loadPreparedVectors(model, (message) => remarks.push(message), pathToFileURL(file))
    return { vectors, remarks }
  }
  const vector = fakeVector('a', 'b')
  const file = JSON.stringify({ model: 'm', vectors: { digest: Buffer.from(vector.buffer).toString('base64') } })

  it('are read for their model', () => {
    expect(load(null)).toEqual({ vectors: new Map(), remarks: [] })
    expect(load(file)).toEqual({ vectors: new Map([['digest', vector]]), remarks: [] })
    expect(load(file, 'other')).toEqual({ vectors: new Map(), remarks: [] })
  })

  it('are saved in place of new ones, for items with the same text', async () => {
    await save('Starter')
    const { items } = await test.app.store.itemVectors.listUnencoded({ model: 'fake-1', isProvider: false }, { after: 0, upTo: 100 }, 10)
    await save('Own')
    const encoder = createFakeEncoder()
    const { patience, waits } = holdPatience()
    const prepared = new Map([[items[0]?.digest ?? '', vector]])
    const store = test.app.store.itemVectors
    const saved: Int8Array[] = []
    const recording: typeof store = {
      ...store,
      saveVectors(model, vectors) {
        saved.push(...vectors.map((one) => one.vector))
        return store.saveVectors(model, vectors)
      },
    }
    const encoding = createItemEncoding(encoder, recording, patience, () => prepared)
    encoding.start(() => {})
    expect(await eventually(async () => waits.length === 1)).toBe(true)
    expect([encoder.given, encoding.counts.encoded]).toEqual([['Own'], 2])
    expect(saved).toEqual([fakeVector('Own', 'text'), vector])
    await encoding.stop()
  })

  it('are done without when the file is damaged', () => {
    const remarks = ['assets/starter-vectors.json cannot be read: the vectors of the starter library are made again.']
    for (const content of ['', '{"model":"m"}', '{"model":"m","vectors":{"d":"???"}}', file.slice(0, 300)])
      expect(load(content), content).toEqual({ vectors: new Map(), remarks })
  })
})
