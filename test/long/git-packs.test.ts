import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { readTip } from '../support/git-tip.ts'
import { testApp } from '../support/test-app.ts'

const VERSION_2 = { 'git-protocol': 'version=2', 'content-type': 'application/x-git-upload-pack-request' }
const pkt = (text: string) => `${(Buffer.byteLength(text) + 5).toString(16).padStart(4, '0')}${text}\n`

it('the Git remote keeps no pack of clients that leave, and bounds those of one caller', async () => {
  const test = await testApp()
  const { actor } = await test.user('large')
  for (let place = 0; place < 20; place++) {
    const content = randomBytes(150_000).toString('base64').slice(0, 190_000)
    await test.call(actor, 'save_prompt', { title: `Large ${place}`, content, tags: ['large'], isPrivate: false })
  }
  const post = async (body: string) => await test.fetch('/tags/large.git/git-upload-pack', { method: 'POST', headers: VERSION_2, body })
  const tip = await readTip(test.fetch, '/tags/large.git')
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
  await test.close()
}, 120_000)
