import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createUser } from '../support/library-fixtures.ts'
import { createPlace } from '../support/processes.ts'

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: { name: 'test', version: '1' } },
})

it('sessions leave memory where it was when thousands are opened and abandoned', async () => {
  const own = createPlace()
  await createUser(own.databaseUrl, 'ada')
  // With a heap this small the process collects what it no longer needs, so that its size tells what it holds.
  const { url: address, child } = await own.serve({ env: { NODE_OPTIONS: '--max-old-space-size=96' } })
  const residentMiB = () => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const abandon = async (listens: boolean) => {
    const opened = await fetch(`${address}/api/mcp`, { method: 'POST', headers, body: INITIALIZE })
    await opened.text()
    const id = opened.headers.get('mcp-session-id') ?? ''
    // Half of them listen for a moment; all vanish without a word.
    const leaving = new AbortController()
    const stream = fetch(`${address}/api/mcp`, { signal: leaving.signal, headers: { 'mcp-session-id': id, accept: 'text/event-stream' } })
    if (listens) await stream.catch(() => null)
    leaving.abort()
    await stream.catch(() => null)
  }
  const openMany = async (count: number) => {
    for (let i = 0; i < count; i += 20) await Promise.all(Array.from({ length: 20 }, (_, n) => abandon(n % 2 === 0)))
    return residentMiB()
  }
  const afterOne = await openMany(1000)
  const afterFour = await openMany(3000)
  expect(child.exitCode).toBeNull()
  // Measured: 3 MiB; 33 MiB and more for every two thousand when sessions are not let go of.
  expect(afterFour - afterOne).toBeLessThan(25)
  await own.remove()
})
