import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { answerWith } from '../../src/server/listen.ts'
import { type TestApp, testApp } from '../support/test-app.ts'

function hasGit(): boolean {
  try {
    execFileSync('git', ['--version'])
    return true
  } catch {
    process.stderr.write('test/surface/git-remote.test.ts is skipped: there is no git on this machine.\n')
    return false
  }
}

describe.skipIf(!hasGit())('the Git remote', () => {
  let test: TestApp
  let server: Server
  let folder: string
  const log: string[] = []

  beforeAll(async () => {
    test = await testApp({}, {}, null, {}, { write: (line) => void log.push(line) })
    server = createServer(answerWith(test.pipeline))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    folder = mkdtempSync(join(tmpdir(), 'commonplace-git-'))
  })
  afterAll(async () => {
    server?.closeAllConnections()
    server?.close()
    await test?.close()
    if (folder) rmSync(folder, { recursive: true, force: true })
  })
  beforeEach(() => {
    log.length = 0
  })

  it('keeps no pack of clients that leave, and bounds those of one caller', async () => {
    const { actor } = await test.user('large')
    for (let place = 0; place < 20; place++) {
      const content = randomBytes(150_000).toString('base64').slice(0, 190_000)
      await test.call(actor, 'save_prompt', { title: `Large ${place}`, content, tags: ['large'], isPrivate: false })
    }
    const path = '/tags/large.git/git-upload-pack'
    const post = async (body: string) => await test.fetch(path, { method: 'POST', headers: VERSION_2, body })
    const refs = await (await post(`${pkt('command=ls-refs')}0001${pkt('ref-prefix refs/heads/')}0000`)).text()
    const [, tip = ''] = /([0-9a-f]{40}) refs/.exec(refs) ?? []
    const fetchIt = async () => await post(`${pkt('command=fetch')}0001${pkt(`want ${tip}`)}${pkt('done')}0000`)
    for (let left = 0; left < 210; left++) {
      const answer = await fetchIt()
      expect(answer.status, `after ${left}`).toBe(200)
      await answer.body?.cancel()
    }
    // Packs that are still being taken are counted, by each instance for itself.
    const most = 4 * test.apps.length
    const open = await Promise.all(Array.from({ length: 12 }, fetchIt))
    expect(open.map(({ status }) => status).toSorted()).toEqual([...Array(most).fill(200), ...Array(12 - most).fill(429)])
    for (const answer of open) await answer.body?.cancel()
    expect((await (await fetchIt()).arrayBuffer()).byteLength).toBeGreaterThan(2_500_000)
  }, 120_000)

  const VERSION_2 = { 'git-protocol': 'version=2', 'content-type': 'application/x-git-upload-pack-request' }
  const pkt = (text: string) => `${(Buffer.byteLength(text) + 5).toString(16).padStart(4, '0')}${text}\n`
})
