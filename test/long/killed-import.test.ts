import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { endProcess } from '../support/children.ts'
import { openAt } from '../support/engines.ts'
import { isOnPostgres } from '../support/postgres.ts'
import { createPlace } from '../support/processes.ts'
import { STARTER } from '../support/real-data.ts'

const place = createPlace()
afterAll(() => place.remove())

it('a whole library loses nothing and doubles nothing when its import is killed half-way and run again', async () => {
  // As many as several transactions take.
  const count = 2_400
  const starter: { title: string; content: string }[] = JSON.parse(readFileSync(STARTER.promptsFile, 'utf8'))
  const rows = Array.from({ length: count }, (_, n) => ({
    ...starter[n % starter.length],
    title: `${starter[n % starter.length]?.title} ${n}`,
  }))
  const file = join(place.folder, 'many.json')
  writeFileSync(file, JSON.stringify(rows))
  const command = ['import', 'prompts', file, '--user', 'demo', '--public']
  const child = place.start(command)
  const database = openAt(place.databaseUrl)
  const countRows = async (table: 'item' | 'version' | 'item_words' | 'slug') => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(database.reader)
    return Number(rows[0]?.n)
  }
  // Killed as soon as the first batch is there; before that there may be no table yet.
  for (const endsAt = performance.now() + 30_000; performance.now() < endsAt && child.exitCode === null; ) {
    await sleep(2)
    if ((await countRows('item').catch(() => 0)) > 0) break
  }
  await endProcess(child, 'SIGKILL')
  const before = await countRows('item')
  expect(before).toBeGreaterThan(0)
  expect(before).toBeLessThan(count)
  expect([await countRows('version'), await countRows('item_words'), await countRows('slug')]).toEqual([before, before, before])
  if (!isOnPostgres()) expect((await sql`pragma integrity_check`.execute(database.reader)).rows).toEqual([{ integrity_check: 'ok' }])
  await database.close()
  const again = await place.commonplace(command)
  const [, read, created, unchanged] =
    /(\d+) read: (\d+) created, 0 updated, (\d+) unchanged, 0 kept, 0 refused/.exec(again.stdout)?.map(Number) ?? []
  expect(unchanged).toBe(before)
  expect([read, Number(created) + Number(unchanged)]).toEqual([count, count])
})
