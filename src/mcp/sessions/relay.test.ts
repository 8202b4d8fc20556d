import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AppError } from '../../errors.ts'
import type { Instances } from '../../library/ports/instances.ts'
import { createRelay, type Relay, type RelayHandlers } from './relay.ts'

/** Relays of instances whose mail arrives on the next turn; one that is killed gets none, and says nothing. */
function network() {
  const relays = new Map<string, Relay>()
  const killed = new Set<string>()
  const faults: AppError[] = []
  const join = (instance: string, handle: RelayHandlers['handle'] = async () => null, ended: string[] = []): Relay => {
    const instances: Instances = {
      instance,
      isShared: true,
      listen: () => async () => {},
      tellLoginsChanged: async () => {},
      readLoginsRevision: async () => 0,
      async sendMail(to, body) {
        if (killed.has(instance)) return
        setImmediate(() => {
          if (!killed.has(to)) relays.get(to)?.receive(body)
        })
      },
    }
    const relay = createRelay(instances, {
      handle,
      async end(sha256) {
        ended.push(sha256)
      },
      onFault: (error) => faults.push(error),
    })
    relays.set(instance, relay)
    return relay
  }
  return { join, faults, kill: (instance: string) => killed.add(instance) }
}

const request = (signal?: AbortSignal) =>
  new Request('http://localhost/', {
    headers: { accept: 'text/event-stream', 'x-api-key': 'secret', 'last-event-id': 'e_1' },
    ...(signal ? { signal } : {}),
  })
/** A stream that is written to later. */
function openStream() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let isCancelled = false
  const body = new ReadableStream<Uint8Array>({
    start(one) {
      controller = one
    },
    cancel() {
      isCancelled = true
    },
  })
  return {
    body,
    write: (bytes: Uint8Array) => controller?.enqueue(bytes),
    end: () => controller?.close(),
    isCancelled: () => isCancelled,
  }
}
const turns = async (count = 20) => {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve))
}

describe('a relay', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }))
  afterEach(() => void vi.useRealTimers())

  it('gives the answer of the other as it is, bytes that end in the middle of a character too, and no key goes along', async () => {
    const { join } = network()
    const asked: unknown[] = []
    const stream = openStream()
    join('holder', async (one) => {
      asked.push(one)
      return new Response(stream.body, { status: 200, headers: { 'content-type': 'text/event-stream', 'mcp-session-id': 's' } })
    })
    const answer = await join('asker').ask('holder', 'hash', request(), { a: '\0é' })
    expect([answer?.status, answer?.headers.get('content-type'), answer?.headers.get('mcp-session-id')]).toEqual([
      200,
      'text/event-stream',
      's',
    ])
    expect(asked).toEqual([
      { sha256: 'hash', method: 'GET', headers: { accept: 'text/event-stream', 'last-event-id': 'e_1' }, message: { a: '\0é' } },
    ])
    const text = new TextEncoder().encode('data: 漢🎉\n\n')
    stream.write(text.slice(0, 8))
    stream.write(text.slice(8))
    stream.end()
    expect(await answer?.text()).toBe('data: 漢🎉\n\n')
  })

  it('gives a refusal as a refusal, and null when the other holds nothing', async () => {
    const { join } = network()
    join('holder', async () => {
      throw new AppError('invalid_input', 'The id is taken.')
    })
    join('empty')
    const asker = join('asker')
    await expect(asker.ask('holder', 'h', request(), {})).rejects.toMatchObject({ code: 'invalid_input', message: 'The id is taken.' })
    expect(await asker.ask('empty', 'h', request(), {})).toBeNull()
  })

  it('tells of a fault where it happened, and refuses what is too long to pass on', async () => {
    const { join, faults } = network()
    join('holder', async () => {
      throw new TypeError('a secret of the inside')
    })
    const asker = join('asker')
    await expect(asker.ask('holder', 'h', request(), {})).rejects.toMatchObject({ code: 'internal', message: 'Internal error' })
    expect(faults.map((fault) => fault.cause)).toEqual([expect.any(TypeError)])
    await expect(asker.ask('holder', 'h', request(), { text: 'x'.repeat(300_000) })).rejects.toMatchObject({ code: 'too_large' })
  })

  it('survives a client that leaves before its request is even sent', async () => {
    const { join } = network()
    join('holder', async () => new Response('late'))
    const leaving = new AbortController()
    const asking = join('asker').ask('holder', 'h', request(leaving.signal), {})
    leaving.abort()
    await expect(asking).rejects.toMatchObject({ code: 'unavailable' })
    await expect(join('asker').ask('holder', 'h', request(AbortSignal.abort()), {})).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('gives null when the other says nothing within three seconds', async () => {
    const asking = network().join('asker').ask('nobody', 'h', request(), {})
    await turns()
    vi.advanceTimersByTime(3_100)
    expect(await asking).toBeNull()
  })

  it('ends the stream of a client that leaves, before and after the answer began', async () => {
    for (const isBegun of [false, true]) {
      const { join } = network()
      const stream = openStream()
      const begun = Promise.withResolvers<void>()
      join('holder', async () => {
        if (!isBegun) await begun.promise
        return new Response(stream.body)
      })
      const leaving = new AbortController()
      const asking = join('asker').ask('holder', 'h', request(leaving.signal), {})
      const outcome = asking.then(
        () => 'answered',
        (error: AppError) => error.code,
      )
      await turns()
      leaving.abort()
      await turns()
      begun.resolve()
      await turns()
      expect([await outcome, stream.isCancelled()]).toEqual([isBegun ? 'answered' : 'unavailable', true])
    }
  })

  it('lets go of each other when one was killed', async () => {
    for (const gone of ['holder', 'asker']) {
      const { join, kill } = network()
      const stream = openStream()
      join('holder', async () => new Response(stream.body))
      const answer = await join('asker').ask('holder', 'h', request(), {})
      stream.write(Uint8Array.of(1))
      // As long as both say that they are there, nothing ends.
      for (let n = 0; n < 12; n++) {
        vi.advanceTimersByTime(10_000)
        await turns()
      }
      expect(stream.isCancelled()).toBe(false)
      kill(gone)
      const end = answer?.arrayBuffer().then(
        () => 'ended',
        () => 'broken',
      )
      for (let n = 0; n < 5; n++) {
        vi.advanceTimersByTime(10_000)
        await turns()
      }
      if (gone === 'asker') expect(stream.isCancelled()).toBe(true)
      else expect(await end).toBe('broken')
    }
  })

  it('tells that a session ended, and takes no note of what it does not understand', async () => {
    const { join } = network()
    const ended: string[] = []
    const holder = join('holder', undefined, ended)
    await join('asker').tellEnded('holder', 'hash')
    holder.receive('{"is":"something newer"}')
    holder.receive('{"is":"piece","id":"of nobody","base64":""}')
    await turns()
    expect(ended).toEqual(['hash'])
  })
})
