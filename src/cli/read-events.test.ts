import { expect, it } from 'vitest'
import { MAX_EVENT, readEvents } from './read-events.ts'

/** The events in bytes that come in pieces of this size. */
const read = async (text: string, size: number) => {
  const bytes = Buffer.from(text)
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size))
  return await Array.fromAsync(readEvents(ReadableStream.from(pieces)))
}

const STREAM =
  'event: delta\ndata: {"text":"é 😀"}\n\n: keep-alive\n\nevent:result\ndata:{}\ndata: 2\n\ndata: plain\n\nevent: lost\ndata: half'

it.each([1, 2, 3, 7, 1000])('reads events from pieces of %i bytes', async (size) => {
  const events = [
    { event: 'delta', data: '{"text":"é 😀"}' },
    { event: 'result', data: '{}\n2' },
    { event: 'message', data: 'plain' },
  ]
  expect(await read(STREAM, size)).toEqual(events)
  expect(await read(STREAM.replaceAll('\n', '\r\n'), size)).toEqual(events)
})

it('takes time that grows with the length alone, and no event without end', async () => {
  // Quadratic time would outlast the test.
  const text = `data: ${'x'.repeat(300_000)}\n\n`
  expect((await read(text, 1))[0]?.data.length).toBe(300_000)
  const endless = (line: string) =>
    Array.fromAsync(
      readEvents(
        (async function* () {
          for (;;) yield Buffer.from(line)
        })(),
      ),
    )
  const refused = { code: 'upstream_failed', message: `The response contains an event of more than ${MAX_EVENT} characters.` }
  await expect(endless('x'.repeat(1000))).rejects.toMatchObject(refused)
  await expect(endless('data: x\n'.repeat(100))).rejects.toMatchObject(refused)
})
