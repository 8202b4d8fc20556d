import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { endProcess } from '../support/children.ts'
import { makeFolder } from '../support/folders.ts'
import { createKey } from '../support/library-fixtures.ts'
import { createPlace, type Place } from '../support/processes.ts'

/** What goes wrong around a library in a file, and what the service says of it. */

const folder = makeFolder()
let place: Place
let file: string
let key: string
beforeEach(async () => {
  file = join(mkdtempSync(join(folder, 'place-')), 'library.db')
  place = createPlace(() => `sqlite:${file}`)
  key = await createKey(place.databaseUrl, 'ada')
})
afterEach(() => place.remove())

it('stopping answers a request that is under way, and ends its connection', async () => {
  const served = await place.serve()
  const { port } = new URL(served.url)
  const socket = connect(Number(port), '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    answer += chunk
  })
  const body = JSON.stringify({ title: 'Slow', content: 'x' })
  socket.write(
    `POST /api/prompts HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  )
  await pause(300)
  served.child.kill('SIGTERM')
  await pause(300)
  socket.write(body.slice(5))
  await once(socket, 'close')
  expect(answer).toMatch(/^HTTP\/1\.1 201 /)
  expect(answer).toMatch(/connection: close/i)
  await endProcess(served.child)
})

it('a service whose library is not open yet answers that it is starting while an upgrade goes on', async () => {
  // Another process holds the lock that writers need.
  const holder = new DatabaseSync(file)
  holder.exec('begin immediate')
  const port = 39_000 + Math.floor(Math.random() * 900)
  const child = place.start(['serve'], { env: { PORT: String(port) } })
  const ask = async (path: string) => await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null)
  let healthz: Response | null = null
  for (let n = 0; n < 100 && !healthz; n++) {
    await pause(50)
    healthz = await ask('/healthz')
  }
  expect(healthz?.status).toBe(200)
  expect((await ask('/readyz'))?.status).toBe(503)
  const refused = await ask('/api/prompts')
  expect([refused?.status, refused?.headers.get('retry-after')]).toEqual([503, '2'])
  const requestId = refused?.headers.get('x-request-id')
  expect(requestId).toMatch(/^[0-9a-f-]{36}$/)
  expect(await refused?.json()).toMatchObject({ error: 'unavailable', requestId })
  const mcp = await (await ask('/api/mcp'))?.json()
  expect(mcp).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32000, data: { code: 'unavailable' } } })
  holder.exec('rollback')
  holder.close()
  let status = 503
  for (let n = 0; n < 100 && status !== 200; n++) {
    await pause(50)
    status = (await ask('/readyz'))?.status ?? 503
  }
  expect(status).toBe(200)
  child.kill('SIGTERM')
})
