import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createKey, savePrompts } from '../support/library-fixtures.ts'
import { createPlace, type Place } from '../support/processes.ts'

/** Deleting for good by commands and by the service itself. */

const LEAK = 'xqzleakword'
let folder: string
let path: string
let backups: string
let place: Place
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-purge-'))
  path = join(folder, 'library.db')
  backups = join(folder, 'backups')
  mkdirSync(backups)
  place = createPlace(() => `sqlite:${path}`)
})
afterEach(async () => {
  await place.remove()
  rmSync(folder, { recursive: true, force: true })
})

const command = (args: readonly string[]) => place.commonplace(args, { env: { BACKUP_DIR: backups, BASE_URL: 'http://127.0.0.1:3000' } })
async function must(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await command(args)
  expect([code, stderr], args.join(' ')).toEqual([0, ''])
  return stdout
}
const ask = (sql: string) => {
  const file = new DatabaseSync(path)
  try {
    return file
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }))
  } finally {
    file.close()
  }
}
async function makeItem(): Promise<string> {
  await createKey(place.databaseUrl, 'ada')
  const saved = JSON.parse(await must('save-prompt', '--title', 'Walrus', '--content', `${LEAK} one`, '--user', 'ada'))
  await must('update-prompt', saved.prompt.id, '--content', 'clean', '--user', 'ada')
  return saved.prompt.id
}

describe('purge', () => {
  it('says what it would delete, and deletes it when told to', async () => {
    const id = await makeItem()
    await must('backup', join(backups, 'commonplace-20260101T000000Z.db'))
    writeFileSync(`${path}.before-0011`, 'old')
    const dry = await must('purge', 'prompts', id, '--user', 'ada', '--versions', '1')
    expect(dry).toContain(`Versions 1 to 1 of the prompt "Walrus" (${id}) would be deleted for good. Add --yes to delete.`)
    expect(dry).toContain('1 in BACKUP_DIR, 1 made before upgrades')
    expect(ask('select number from version')).toEqual([{ number: 1 }, { number: 2 }])

    expect(await must('purge', 'prompts', id, '--user', 'ada', '--versions', '1', '--yes')).toContain('deleted for good (1 version)')
    expect(ask('select number from version')).toEqual([{ number: 2 }])
    expect(ask(`select word from word where word = '${LEAK}'`)).toEqual([])
    expect(await must('doctor')).toMatch(/^ok +versions$/m)

    expect(await must('purge', 'prompts', id, '--user', 'ada', '--yes')).toContain('All versions of the prompt')
    expect(ask('select * from item')).toEqual([])
    const recorded = ask("select action, surface from audit_event where action like '%purged' order by seq")
    expect(recorded).toEqual([
      { action: 'versions_purged', surface: 'cli' },
      { action: 'item_purged', surface: 'cli' },
    ])
  })

  it('refuses what it cannot do, in a sentence', async () => {
    const id = await makeItem()
    for (const [args, sentence, code] of [
      [['purge'], 'Specify what to delete', 64],
      [['purge', 'things', id], 'Specify prompts or skills', 64],
      [['purge', 'prompts'], 'Specify prompts or skills', 64],
      [['purge', 'prompts', id, '--versions', 'all'], '--versions must be a number or a range', 64],
      [['purge', 'prompts', id, '--file', 'x'], '--file works on skills only', 64],
      [['purge', 'prompts', id, '--user', 'ada', '--versions', '1-2', '--yes'], 'Version 2 is the newest', 75],
      // An administrator does not see what is private.
      [['purge', 'prompts', id, '--yes'], 'Prompt not found', 66],
    ] as const) {
      const refused = await command(args)
      expect([refused.stderr.includes(sentence), refused.code], `${args.join(' ')}: ${refused.stderr}`).toEqual([true, code])
    }
    expect(ask('select number from version')).toHaveLength(2)
  })

  it('deletes the copies of the library, and nothing else', async () => {
    await makeItem()
    await must('backup', join(backups, 'commonplace-20260101T000000Z.db'))
    const copies = [
      `${path}.before-0011`,
      `${path}.replaced-20260101T000000Z`,
      `${path}.replaced-20260101T000000Z-wal`,
      `${path}.restoring`,
      join(folder, '.library.db.before-0012.0a1b2c3d.tmp'),
      join(folder, '.library.db.importing.0a1b2c3d.tmp'),
      join(backups, '.commonplace-20260101T000000Z.db.0a1b2c3d.tmp'),
    ]
    const others = [`${path}.before-lunch`, join(backups, 'mine.db'), join(folder, 'other.db.before-0011')]
    for (const file of [...copies, ...others]) writeFileSync(file, 'x')
    expect(await must('purge', '--backups')).toContain('Would delete 7 files. Add --yes to delete.')
    expect(copies.every((file) => existsSync(file))).toBe(true)
    expect(await must('purge', '--backups', '--yes')).toContain('Deleted 7 files.')
    expect(copies.some((file) => existsSync(file))).toBe(false)
    expect(others.every((file) => existsSync(file))).toBe(true)
    expect(readdirSync(backups)).toEqual(['mine.db'])
    expect(ask('select title from item')).toEqual([{ title: 'Walrus' }])
  })

  it('deletes an account', async () => {
    await makeItem()
    expect(await must('users', 'remove', 'ada')).toBe(
      'Would delete ada for good, with 1 item and the trash. Backups and other copies of the library will still contain them; see "purge --backups". Add --yes to delete.\n',
    )
    expect(await must('users', 'remove', 'ada', '--yes')).toContain('Deleted ada and everything they owned.')
    expect(ask('select * from item')).toEqual([])
    expect((await command(['users', 'remove', 'ada', '--yes'])).code).toBe(66)
  })
})

describe('a service with limits', () => {
  it('deletes what is over them, and gives its room back', async () => {
    await createKey(place.databaseUrl, 'ada')
    const long = Array.from({ length: 200 }, (_, n) => ({ title: `Long ${n}`, content: `${LEAK} ${n} ${'word '.repeat(4000)}` }))
    await savePrompts(place.databaseUrl, 'ada', long)
    const id = await makeItem()
    ask("update item set deleted_at = '2020-01-01T00:00:00.000Z' where title like 'Long %'")
    const pages = () => Number(ask('pragma page_count')[0]?.['page_count'])
    const before = pages()
    await place.serveHere({ TRASH_DAYS: '30', VERSIONS_KEEP: '1' })
    await vi.waitUntil(() => pages() < before / 2, { timeout: 100_000 })
    expect(ask('select id from item')).toEqual([{ id }])
    expect(ask('select number from version')).toEqual([{ number: 2 }])
    expect(pages()).toBeLessThan(before / 2)
    expect(ask(`select word from word where word = '${LEAK}'`)).toEqual([])
  })
})
