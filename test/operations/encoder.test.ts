import { once } from 'node:events'
import { closeSync, copyFileSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Encoder } from '../../src/domain/ports/encoder.ts'
import { createEncoder, type EncoderOptions } from '../../src/encoder/encoder.ts'
import { enclose, finish, inspectFile, openModel, WINDOW_TOKENS } from '../../src/encoder/model.ts'
import { encodeOne } from '../support/fake-encoder.ts'
import { GOLDEN_TEXTS } from '../support/golden-texts.ts'
import { cosine, digestOf, readVectors } from '../support/golden-vectors.ts'
import { run } from '../support/processes.ts'
import { testApp } from '../support/test-app.ts'

const FILE = fileURLToPath(new URL('../../dist/encoder/all-minilm-l6-v2.bin', import.meta.url))
const ENCODER = new URL('../../src/encoder/encoder.ts', import.meta.url).href
const folder = mkdtempSync(join(tmpdir(), 'commonplace-encoder-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const opened: Encoder[] = []
afterEach(async () => {
  for (const encoder of opened.splice(0)) await encoder.close()
})

/** An encoder, its threads, and what it reports. */
function open(options: Partial<EncoderOptions> = {}) {
  const faults: string[] = []
  const threads: Worker[] = []
  const encoder = createEncoder({
    onFault: (message) => faults.push(message),
    firstBackOffMs: 100,
    startThread(thread) {
      const started = new Worker(new URL('../../src/encoder/encoder-worker.ts', import.meta.url), thread)
      threads.push(started)
      return started
    },
    ...options,
  })
  opened.push(encoder)
  return { encoder, faults, threads }
}

/** The same, loaded: on a busy machine, that may take longer than a query waits. */
async function openReady(options: Partial<EncoderOptions> = {}) {
  const all = open({ ...options, startsNow: true })
  await untilState(all.encoder, 'ready')
  return all
}

/** A copy of the file with other bytes at a place. */
function damage(name: string, place: number, bytes: string): string {
  const file = join(folder, name)
  copyFileSync(FILE, file)
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, bytes, place, 'latin1')
  closeSync(descriptor)
  return file
}

const untilState = (encoder: Encoder, state: string) =>
  vi.waitFor(() => expect(encoder.state()).toBe(state), { timeout: 100_000, interval: 20 })
const LONG = { title: 'Long', text: GOLDEN_TEXTS['10,000 characters'] ?? '' }

describe('the vectors', () => {
  const golden = readVectors(readFileSync(new URL('../fixtures/golden-vectors.tsv', import.meta.url), 'utf8'))
  const model = openModel(FILE, inspectFile(FILE).model)
  const encode = (text: string) => finish(model.encode(enclose(model.pieces.cut(text, WINDOW_TOKENS).ids), 0))

  it('of at least 50 texts are those of the reference', () => {
    expect(golden.length).toBeGreaterThan(50)
    expect(golden.map(({ name }) => name)).toEqual(Object.keys(GOLDEN_TEXTS))
  })

  it.each(golden)('of $name are those of the reference', ({ name, digest, vector }) => {
    const text = GOLDEN_TEXTS[name] ?? ''
    expect(digestOf(text), 'the text changed: run node tools/golden-vectors.ts').toBe(digest)
    expect(cosine(encode(text), vector)).toBeGreaterThan(0.999)
  })

  it('do not depend on what was encoded before', () => {
    const before = encode('a short text')
    encode(LONG.text)
    const steps = model.encode(enclose(model.pieces.cut(LONG.text, WINDOW_TOKENS).ids), 1)
    steps.next()
    expect(encode('a short text')).toEqual(before)
    expect(finish(steps)).toEqual(encode(LONG.text))
  })

  it('need 2 to 128 tokens', () => {
    expect(() => finish(model.encode([], 0))).toThrow(RangeError)
    expect(() => finish(model.encode(new Array(129).fill(100), 0))).toThrow(RangeError)
  })
})

describe('the encoder', () => {
  let encoder: Encoder
  beforeAll(async () => {
    ;({ encoder } = await openReady())
    opened.splice(0)
  })
  afterAll(() => encoder.close())

  it('encodes queries and items, in the same space', async () => {
    const { encoder, faults } = open()
    expect(encoder.state()).toBe('starting')
    expect(await encodeOne(encoder, { title: '', text: '' })).toHaveLength(384)
    const query = await encoder.encodeQuery('how do I review code')
    const item = await encodeOne(encoder, {
      title: 'Review a pull request',
      text: 'Look at the changes of the code, and say what is wrong.',
    })
    expect(encoder.state()).toBe('ready')
    expect(query?.knownShare).toBe(1)
    expect(query?.vector).toHaveLength(384)
    expect(item).toBeInstanceOf(Int8Array)
    expect(Math.max(...(item ?? []).map(Math.abs))).toBe(127)
    const other = await encoder.encodeQuery('a recipe for apple pie')
    expect(cosine(query?.vector ?? [], item ?? [])).toBeGreaterThan(cosine(other?.vector ?? [], item ?? []) + 0.3)
    expect(faults).toEqual([])
  })

  it('says what share of the words it knows', async () => {
    expect((await encoder.encodeQuery('xqzwvk plumbus'))?.knownShare).toBe(0)
    expect((await encoder.encodeQuery('plumbus review'))?.knownShare).toBe(0.5)
    expect((await encoder.encodeQuery('?!'))?.knownShare).toBe(0)
  })

  it('names its model by its weights', () => {
    expect(open().encoder.model).toMatch(/^minilm-[0-9a-f]{16}-1$/)
  })

  it('answers queries between the layers of items', async () => {
    const order: string[] = []
    const items = Array.from({ length: 5 }, () => encodeOne(encoder, LONG).then(() => order.push('item')))
    await encoder.encodeQuery('second').then((answer) => order.push(answer ? 'query' : 'nothing'))
    await Promise.all(items)
    // An item takes 18 layers; one may have been done before the query came.
    expect(order.indexOf('query')).toBeGreaterThanOrEqual(0)
    expect(order.indexOf('query')).toBeLessThan(2)
  })

  it('takes three windows for 200,000 characters', async () => {
    const word = 'Review the code. '
    const whole = await encodeOne(encoder, { title: 'Review', text: word.repeat(200_000 / word.length) })
    expect(whole).toEqual(await encodeOne(encoder, { title: 'Review', text: word.repeat(100) }))
  })

  it.each(
    Object.entries({
      'unpaired surrogates': '\ud800'.repeat(40_000),
      'marks without end': `z${'\u0316\u0301'.repeat(100_000)}`,
      'invisible characters': '\u200b'.repeat(200_000),
      'a word without end': 'x'.repeat(200_000),
      'unknown words': `${'una'.repeat(33)}\u0378 `.repeat(2_000),
      brackets: '['.repeat(200_000),
    }),
  )('takes %s as title, text and query', async (_, text) => {
    expect(await encodeOne(encoder, { title: text, text })).toHaveLength(384)
    expect((await encoder.encodeQuery(text))?.vector.every(Number.isFinite)).toBe(true)
  })

  it('refuses more queries than may wait, and answers the others', async () => {
    const answers = await Promise.all(Array.from({ length: 70 }, (_, number) => encoder.encodeQuery(`query ${number}`)))
    expect(answers.filter((answer) => answer === null).length).toBeGreaterThanOrEqual(6)
    expect(answers[0]).not.toBeNull()
    expect(await encoder.encodeQuery('query 69')).not.toBeNull()
  })

  it('remembers queries', async () => {
    const first = await encoder.encodeQuery('the same')
    expect(await encoder.encodeQuery('the same')).toBe(first)
  })
})

describe('a thread that ends', () => {
  it('is started again, and everything works as before', async () => {
    const { encoder, threads, faults } = await openReady()
    const before = await encoder.encodeQuery('how do I review code')
    const item = encodeOne(encoder, LONG)
    await threads[0]?.terminate()
    expect(await item).toBeNull()
    expect(encoder.state()).toBe('starting')
    expect(await encoder.encodeQuery('asked meanwhile')).toBeNull()
    await untilState(encoder, 'ready')
    expect(threads).toHaveLength(2)
    expect(await encoder.encodeQuery('how do I review  code')).toEqual(before)
    expect(await encodeOne(encoder, LONG)).toHaveLength(384)
    expect(faults).toEqual([])
  })

  it('is started again later each time', async () => {
    const { encoder, threads } = open({ startsNow: true })
    const waits: number[] = []
    for (let round = 0; round < 3; round++) {
      await untilState(encoder, 'ready')
      await threads.at(-1)?.terminate()
      // real time: only the least wait is asserted
      const ended = performance.now()
      await vi.waitFor(() => expect(threads).toHaveLength(round + 2), { timeout: 100_000, interval: 5 })
      // real time: only the least wait is asserted
      waits.push(performance.now() - ended)
    }
    // 100, 200 and 400 ms.
    expect(waits[2]).toBeGreaterThan(350)
    expect(waits[0]).toBeGreaterThan(90)
  })

  it('does not come back with other weights than those that its vectors were made with', async () => {
    const file = join(folder, 'replaced.bin')
    copyFileSync(FILE, file)
    const { encoder, threads, faults } = await openReady({ file })
    damage('replaced.bin', 32, 'minilm-0000000000000000-9')
    await threads[0]?.terminate()
    await untilState(encoder, 'fallback')
    expect(faults).toEqual([expect.stringContaining('it was replaced by that of another model')])
  })
})

describe('weights', () => {
  const cases: Readonly<Record<string, [file: () => string, reason: string]>> = {
    'that are missing': [() => join(folder, 'missing.bin'), 'it is missing'],
    'that are something else': [() => fileURLToPath(import.meta.url), 'it is not a file of the encoder'],
    'of another format': [() => damage('format.bin', 8, '\u0009'), 'it has format 9, not 1'],
    'with a changed byte': [() => damage('byte.bin', 20_000_000, '\u00aa\u0055'), 'its checksum is wrong'],
    'with a changed kernel': [() => damage('kernel.bin', 1_000, 'damage'), 'its checksum is wrong'],
    'that are cut off': [
      () => {
        const file = damage('cut.bin', 0, 'C')
        truncateSync(file, 20_000_000)
        return file
      },
      'it has 20000000 bytes instead of',
    ],
  }

  it.each(Object.entries(cases))('%s leave everything null, with one line for the log', async (_, [makeFile, reason]) => {
    const { encoder, faults, threads } = open({ file: makeFile(), startsNow: true, firstBackOffMs: 1 })
    await untilState(encoder, 'fallback')
    expect(await encoder.encodeQuery('a')).toBeNull()
    expect(await encodeOne(encoder, { title: 'a', text: 'b' })).toBeNull()
    // real time: nothing more must happen
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(faults).toEqual([expect.stringContaining(reason)])
    expect(faults[0]).toMatch(/^The encoder cannot use its weights at .+: .+\. Search works without it; build or install again\.$/)
    expect(threads.length).toBeLessThan(2)
  })
})

describe('the end', () => {
  it('is held until it has ended, whatever it still answers', async () => {
    const { encoder, threads } = await openReady()
    const [thread] = threads
    const asked = encodeOne(encoder, LONG)
    const closing = encoder.close()
    const letGo = vi.spyOn(thread ?? new Worker('', { eval: true }), 'unref')
    thread?.emit('message', { kind: 'item', number: 1, answer: null })
    expect(letGo).not.toHaveBeenCalled()
    await Promise.all([closing, asked])
  })

  it('answers what waits with nothing, and leaves no thread', async () => {
    const { encoder, threads } = await openReady()
    const [thread] = threads
    const ended = thread ? once(thread, 'exit') : Promise.reject(new Error('no thread'))
    const waiting = [encodeOne(encoder, LONG), encoder.encodeQuery('b')]
    await encoder.close()
    expect(await Promise.all(waiting)).toEqual([null, null])
    await ended
    expect(await encoder.encodeQuery('a')).toBeNull()
    expect(threads).toHaveLength(1)
  })

  it.each([
    ['after an answer', 'const [vector] = await encoder.encodeItems([{ title: "a", text: "b" }]); const { length } = vector'],
    ['while it loads', ''],
    [
      'after it is closed',
      'const [vector] = await encoder.encodeItems([{ title: "a", text: "b" }]); const { length } = vector; await encoder.close()',
    ],
  ])('of a command does not wait for the thread: %s', async (_, work) => {
    const script = `
      import { createEncoder } from '${ENCODER}'
      const encoder = createEncoder({ onFault: console.error, startsNow: true })
      ${work}
      console.log('done')`
    const finished = await run(process.execPath, ['--input-type=module', '--eval', script], { timeoutMs: 20_000 })
    expect(finished).toMatchObject({ code: 0, stdout: 'done\n' })
  })

  it('waits for an answer that is due', async () => {
    const script = `
      import { createEncoder } from '${ENCODER}'
      const encoder = createEncoder({ onFault: console.error })
      console.log((await encoder.encodeItems([{ title: 'a', text: 'b' }]))[0].length)`
    expect(await run(process.execPath, ['--input-type=module', '--eval', script])).toMatchObject({ code: 0, stdout: '384\n' })
  })
})

it('is part of a library when the settings say so', async () => {
  const without = await testApp()
  expect(without.app.encoder).toBeNull()
  await without.close()
  const { app, close } = await testApp({}, {}, null, { encoder: true })
  expect(app.encoder && (await encodeOne(app.encoder, { title: 'a', text: 'b' }))).toHaveLength(384)
  await close()
  expect(await app.encoder?.encodeQuery('b')).toBeNull()
})
