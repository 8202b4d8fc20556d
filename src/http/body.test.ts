import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { toExchange } from '../../test/support/exchange.ts'
import { createBodyReader, decodeBody, MAX_BODY_BYTES } from './body.ts'

const readAs =
  (read: ReturnType<typeof createBodyReader>) =>
  async (request: Request, caller = 'ada', isKnown = false) =>
    decodeBody(await read(toExchange(request), { caller, isKnown }, MAX_BODY_BYTES))
const readBody = readAs(createBodyReader())

const post = (body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>) =>
  new Request('http://localhost/', { method: 'POST', body, duplex: 'half' })

/** A body of `chunks` pieces of `size` bytes, and how many of them were taken. */
function streamed(chunks: number, size: number): { body: ReadableStream<Uint8Array>; taken: () => number } {
  let taken = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (taken >= chunks) return controller.close()
        taken++
        controller.enqueue(new Uint8Array(size).fill(0x61))
      },
    },
    { highWaterMark: 0 },
  )
  return { body, taken: () => taken }
}

describe('size', () => {
  it('takes 4 MiB, counted in bytes', async () => {
    expect(MAX_BODY_BYTES).toBe(4 * 2 ** 20)
    expect(await readBody(post('x'.repeat(4 * 2 ** 20)))).toHaveLength(4 * 2 ** 20)
    for (const body of ['x'.repeat(4 * 2 ** 20 + 1), 'é'.repeat(2 * 2 ** 20 + 1)])
      await expect(readBody(post(body))).rejects.toMatchObject({ code: 'too_large' })
  })

  it('reads and drops the rest of a body that is too large, so that the client sees the answer', async () => {
    const { body, taken } = streamed(6, 2 ** 20)
    await expect(readBody(post(body))).rejects.toMatchObject({ code: 'too_large' })
    expect(taken()).toBe(6)
  })

  it('stops reading a body that never ends', async () => {
    const { body, taken } = streamed(Number.POSITIVE_INFINITY, 2 ** 20)
    await expect(readBody(post(body))).rejects.toMatchObject({ code: 'too_large' })
    expect(taken()).toBeLessThanOrEqual(64)
  })
})

describe('text', () => {
  it('comes as it is, also in pieces of characters, and empty without a body', async () => {
    for (const text of ['', '{}', 'é 😀 北京', ' \r\n untouched \t']) {
      expect(await readBody(post(text))).toBe(text)
      expect(await readBody(post(ReadableStream.from([...Buffer.from(text)].map((byte) => Uint8Array.of(byte)))))).toBe(text)
    }
    expect(await readBody(new Request('http://localhost/'))).toBe('')
  })

  it.each([
    ['a stray byte', [0xff]],
    ['a cut-off character', [0x61, 0xf0, 0x9f]],
    ['Latin-1', [0x63, 0x61, 0x66, 0xe9]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['an overlong form', [0xc0, 0xaf]],
  ])('refuses %s, which is not UTF-8', async (_, bytes) => {
    await expect(readBody(post(Uint8Array.from(bytes)))).rejects.toMatchObject({ code: 'invalid_input' })
  })
})

describe('bodies that come in slowly', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())
  /** Lets the bytes that there are be read. */
  const settle = async () => {
    for (let turn = 0; turn < 10; turn++) await nextTurn()
  }
  /** A body of which only the first bytes come. */
  const stalled = () =>
    new Request('http://localhost/', {
      method: 'POST',
      body: new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1000)) }),
      duplex: 'half',
    })

  it('are given up after a while, and make room for others', async () => {
    const read = readAs(createBodyReader({ held: { all: 1500, known: 1500, anonymous: 1500 }, withinMs: 50 }))
    const slow = read(stalled())
    await settle()
    await expect(read(stalled(), 'bob')).rejects.toMatchObject({ code: 'unavailable' })
    vi.advanceTimersByTime(50)
    await expect(slow).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining('Timed out') })
    expect(await read(new Request('http://localhost/', { method: 'POST', body: 'x'.repeat(1000) }))).toBe('x'.repeat(1000))
  })

  it('leave room for other callers: each has a share, one without a key a smaller one', async () => {
    const read = readAs(createBodyReader({ held: { all: 10_000, known: 2500, anonymous: 1500 }, withinMs: 200 }))
    const slow = [read(stalled()), read(stalled(), 'key', true), read(stalled(), 'key', true)].map((one) => one.catch(() => {}))
    await settle()
    await expect(read(stalled())).rejects.toMatchObject({ code: 'rate_limited' })
    await expect(read(stalled(), 'key', true)).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 2 })
    expect(await read(post('x'.repeat(1000)), 'bob')).toHaveLength(1000)
    vi.advanceTimersByTime(200)
    await Promise.all(slow)
    expect(await read(post('x'.repeat(1000)))).toHaveLength(1000)
  })
})
