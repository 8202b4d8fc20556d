import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { savePrompts } from '../support/library-fixtures.ts'
import { createPlace, type Place } from '../support/processes.ts'

let place: Place
let folder: string
beforeEach(() => {
  place = createPlace()
  folder = join(place.folder, 'synced')
  mkdirSync(join(folder, 'prompts'), { recursive: true })
})
afterEach(() => place.remove())

it('refuses what it cannot sync with a sentence', async () => {
  await savePrompts(place.env['DATABASE_URL'] ?? '', 'ada', [{ title: 'First', content: 'one' }])
  for (const [target, message] of [
    ['https://example.org/x.git', 'is not a folder'],
    [join(folder, 'none'), 'is not a folder'],
  ] as const) {
    const refused = await place.commonplace(['sync', target, '--user', 'ada'])
    expect(refused.code, target).not.toBe(0)
    expect(refused.stderr).toContain(message)
  }
  expect((await place.commonplace(['sync', folder, '--user', 'nobody'])).stderr).toContain('not found')
})
