import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openAt } from '../support/engines.ts'
import { isOnPostgres } from '../support/postgres.ts'
import { createPlace, MAIN, type Place } from '../support/processes.ts'
import { STARTER } from '../support/real-data.ts'

let place: Place

beforeEach(() => {
  place = createPlace()
})
afterEach(() => place.remove())

const importPrompts = (file: string, ...flags: string[]) => place.commonplace(['import', 'prompts', file, '--user', 'demo', ...flags])
const write = (name: string, text: string) => {
  const path = join(place.folder, name)
  writeFileSync(path, text)
  return path
}
/** The prompts of the starter library. */
const readStarter = (): { title: string; content: string }[] => JSON.parse(readFileSync(STARTER.promptsFile, 'utf8'))

describe('a whole library', () => {
  it('loses nothing and doubles nothing when an import is killed half-way and run again', async () => {
    // As many as several transactions take.
    const [count, starter] = [2_400, readStarter()]
    const rows = Array.from({ length: count }, (_, n) => ({
      ...starter[n % starter.length],
      title: `${starter[n % starter.length]?.title} ${n}`,
    }))
    const file = write('many.json', JSON.stringify(rows))
    const child = spawn(process.execPath, [MAIN, 'import', 'prompts', file, '--user', 'demo', '--public'], {
      env: { ...process.env, ...place.env },
    })
    const database = openAt(place.env['DATABASE_URL'] ?? '')
    const countRows = async (table: 'item' | 'version' | 'item_words' | 'slug') => {
      const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(database.reader)
      return Number(rows[0]?.n)
    }
    // Killed as soon as the first batch is there; before that there may be no table yet.
    for (const endsAt = performance.now() + 30_000; performance.now() < endsAt && child.exitCode === null; ) {
      await new Promise((resolve) => setTimeout(resolve, 2))
      if ((await countRows('item').catch(() => 0)) > 0) break
    }
    child.kill('SIGKILL')
    await once(child, 'exit')
    const before = await countRows('item')
    expect(before).toBeGreaterThan(0)
    expect(before).toBeLessThan(count)
    expect([await countRows('version'), await countRows('item_words'), await countRows('slug')]).toEqual([before, before, before])
    if (!isOnPostgres()) expect((await sql`pragma integrity_check`.execute(database.reader)).rows).toEqual([{ integrity_check: 'ok' }])
    await database.close()
    const again = await importPrompts(file, '--public')
    const [, read, created, unchanged] =
      /(\d+) read: (\d+) created, 0 updated, (\d+) unchanged, 0 kept, 0 refused/.exec(again.stdout)?.map(Number) ?? []
    expect(unchanged).toBe(before)
    expect([read, Number(created) + Number(unchanged)]).toEqual([count, count])
  })
})
