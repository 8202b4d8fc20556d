import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { endProcess } from '../support/children.ts'
import { savePrompts } from '../support/library-fixtures.ts'
import { createPlace } from '../support/processes.ts'

const place = createPlace()
const folder = join(place.folder, 'synced')
mkdirSync(join(folder, 'prompts'), { recursive: true })
afterAll(() => place.remove())

const SYNC = ['sync', folder, '--user', 'ada']
const texts = () => readdirSync(join(folder, 'prompts')).map((name) => readFileSync(join(folder, 'prompts', name), 'utf8'))

async function waitFor(isReached: () => boolean): Promise<void> {
  for (const endsAt = performance.now() + 30_000; performance.now() < endsAt; await sleep(50)) if (isReached()) return
  throw new Error('This was not reached in 30 seconds.')
}

it('is finished after any kill, with nothing doubled and no conflict', async () => {
  const own = Array.from({ length: 300 }, (_, n) => ({ title: `Here ${n}`, content: `of the library ${n}.` }))
  await savePrompts(place.env['DATABASE_URL'] ?? '', 'ada', own)
  for (let n = 0; n < 300; n++) writeFileSync(join(folder, 'prompts', `file-${n}.md`), `---\ntitle: There ${n}\n---\n\nof the folder ${n}.`)
  let written = 300
  for (let kills = 0; kills < 3; kills++) {
    const child = place.start(SYNC)
    const until = written
    // The first one while items are created, the others while files are written.
    if (kills === 0) await sleep(1_500)
    else await waitFor(() => child.exitCode !== null || texts().length > until + 20)
    await endProcess(child, 'SIGKILL')
    written = texts().length
  }
  const last = await place.commonplace(SYNC)
  expect(last.code, last.stderr).toBe(0)
  expect(last.stdout).toContain('0 conflicts')
  const again = await place.commonplace(SYNC)
  expect(again.stdout).toBe('Library: 0 created, 0 updated. Folder: 0 written. 0 conflicts, 0 deleted, 0 left, 0 refused.\n')
  expect(texts()).toHaveLength(600)
  const everything = texts().join('\n')
  for (let n = 0; n < 300; n++) {
    expect(everything).toContain(`of the library ${n}.`)
    expect(everything).toContain(`of the folder ${n}.`)
  }
  const exported = join(place.folder, 'exported')
  expect((await place.commonplace(['export', exported])).stdout).toContain('Wrote 600 prompts')
}, 120_000)
