import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Binding, createDispatcher } from '../../src/mcp/dispatcher.ts'
import type { QuestionLimits } from '../../src/mcp/sessions/session-streams.ts'
import { createSessionTokens } from '../../src/mcp/sessions/session-tokens.ts'
import { createSessions, type Session, type Sessions } from '../../src/mcp/sessions/sessions.ts'
import { invokeLocally } from '../../src/operations/core/define-operation.ts'
import { readJson, rpc, type TestApp, testApp, useTestApp } from '../support/test-app.ts'

const STREAM = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: { elicitation: {} },
  clientInfo: { name: 'test', version: '1' },
}

/** One instance: several share a count of points only now and then, and each counts the questions that it holds. */
const alone = (perMinute: number) => testApp({ RATE_LIMITS: perMinute }, {}, null, { instances: 1 })
const saveLetter = async (at: TestApp): Promise<string> => {
  const { actor } = await at.user('ada')
  const { prompt } = await at.call(actor, 'save_prompt', { title: 'Letter', content: 'Write to ${name}.', visibility: 'public' })
  return Object(prompt).slug
}

const test = useTestApp({ RATE_LIMITS: 12_000 })
let slug: string
beforeAll(async () => {
  slug = await saveLetter(test)
})

describe('questions over HTTP', () => {
  async function open(key?: string, at = test): Promise<string> {
    const answer = await at.fetch('/api/mcp', { ...rpc('initialize', INITIALIZE), headers: STREAM, ...(key ? { key } : {}) })
    return answer.headers.get('mcp-session-id') ?? ''
  }
  const ask = (session: string, id: number, key?: string, at = test) =>
    at.fetch('/api/mcp', {
      ...rpc('tools/call', { name: 'get_prompt', arguments: { id: slug } }, id),
      headers: { ...STREAM, 'mcp-session-id': session },
      ...(key ? { key } : {}),
    })

  it('may be ten at once in a session and fifty of a caller, and others are not in their way', async () => {
    const one = await alone(12_000)
    await saveLetter(one)
    const sessions = await Promise.all(Array.from({ length: 6 }, () => open(undefined, one)))
    const opened: Response[] = []
    for (const session of sessions.slice(0, 5)) for (let id = 1; id <= 10; id++) opened.push(await ask(session, id, undefined, one))
    expect(new Set(opened.map((response) => response.headers.get('content-type')))).toEqual(new Set(['text/event-stream']))
    for (const session of [sessions[0] ?? '', sessions[5] ?? '']) {
      const refused = await ask(session, 11, undefined, one)
      expect([refused.status, (await readJson(refused)).error.data.code]).toEqual([429, 'rate_limited'])
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    const { key } = await one.user('bob')
    const other = await ask(await open(key, one), 1, key, one)
    expect(other.headers.get('content-type')).toBe('text/event-stream')
    for (const response of [...opened, other]) await response.body?.cancel()
    await one.close()
  })
})

describe('answers of the 2026 revision', () => {
  it.each([{}, { action: 'maybe' }, 'yes', null, { roots: [] }])(
    'that are none (%j) give the raw text, and no question again',
    async (answer) => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
      }
      const call = (params: object) =>
        test.fetch('/api/mcp', {
          ...rpc('tools/call', { name: 'get_prompt', arguments: { id: slug }, _meta, ...params }),
          headers: { ...STREAM, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'get_prompt' },
        })
      expect(await (await call({})).text()).toContain('input_required')
      const answered = await (await call({ inputResponses: { variables: answer } })).text()
      expect(answered).toContain('Write to ${name}.')
      expect(answered).not.toContain('input_required')
    },
  )
})

describe('ways to be counted wrongly', () => {
  it('a method named like a member of every object costs a point', async () => {
    const limited = await alone(20)
    for (const method of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) await limited.fetch('/api/mcp', rpc(method))
    await limited.fetch('/api/mcp', { ...rpc('ping'), body: JSON.stringify([{ jsonrpc: '2.0', id: 1, method: 'constructor' }]) })
    const statuses = []
    for (let n = 0; n < 20; n++) statuses.push((await limited.fetch('/api/mcp', rpc('ping', undefined, n))).status)
    expect(statuses.filter((status) => status === 200).length).toBe(15)
    await limited.close()
  })

  it('a declared length is charged for what would be read of it, and too long is 413', async () => {
    const limited = await testApp({ RATE_LIMITS: 200 })
    const headers = { 'content-type': 'application/json', 'content-length': '900000000' }
    expect((await limited.fetch('/api/mcp', { ...rpc('ping'), headers })).status).toBe(200)
    expect((await limited.fetch('/api/mcp', { ...rpc('ping', { x: 'x'.repeat(5 * 2 ** 20) }) })).status).toBe(413)
    expect((await limited.fetch('/api/categories')).status).toBe(200)
    await limited.close()
  })

  it('what is refused at the door is counted, and gets no page', async () => {
    const limited = await alone(3)
    const ask = () => limited.fetch('/prompts', { headers: { host: 'evil.example', accept: 'text/html' } })
    for (let n = 0; n < 3; n++) {
      const refused = await ask()
      expect([refused.status, refused.headers.get('content-type')]).toEqual([403, 'application/json'])
    }
    expect((await ask()).status).toBe(429)
    await limited.close()
  })
})

describe('questions whose client has left', () => {
  const OWNER = { owner: 'anonymous', quota: 'address 1' }
  const LIMITS: QuestionLimits = { perSession: 2, perQuota: 100, most: 3, resumeMs: 100 }

  async function start(): Promise<{ sessions: Sessions; open(): Promise<{ id: string; session: Session }>; binding: Binding }> {
    const { buildServer } = createDispatcher(test.app.operations, { name: 'test', version: '1' })
    const tokens = createSessionTokens(test.app.sealer, test.app.clock)
    const sessions = createSessions(test.app.store, tokens, buildServer, {
      server: { idleMs: 60_000, perQuota: 100, most: 100 },
      questions: LIMITS,
    })
    const context = test.app.contextFor({ kind: 'anonymous' }, 'rest')
    return {
      sessions,
      binding: { invoke: invokeLocally(test.app.operations, () => context), filter: {}, onInternalError() {} },
      async open() {
        const id = sessions.open({ jsonrpc: '2.0', id: 0, method: 'initialize', params: INITIALIZE }, OWNER) ?? ''
        const session = await sessions.find(id, OWNER)
        if (!session) throw new Error('no session')
        return { id, session }
      },
    }
  }
  const request = (id: string, more: Record<string, string> = {}, method = 'POST') =>
    new Request('http://localhost/', { method, headers: { ...STREAM, 'mcp-session-id': id, ...more } })
  const question = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'get_prompt', arguments: { id: slug } } })
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }))
  afterEach(() => void vi.useRealTimers())

  it('are given up after a while, and count until then', async () => {
    const { sessions, open, binding } = await start()
    const { id, session } = await open()
    const ask = async (number: number) => await session.handle(request(id), question(number), binding)
    for (const response of [await ask(1), await ask(2)]) await response.body?.cancel()
    await expect(ask(3)).rejects.toMatchObject({ code: 'rate_limited' })
    await vi.advanceTimersByTimeAsync(250)
    const next = await ask(4)
    expect(next.status).toBe(200)
    await next.body?.cancel()
    await sessions.close()
  })
})
