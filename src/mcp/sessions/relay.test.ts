import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AppError } from '../../errors.ts'
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
})
