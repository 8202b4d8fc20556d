import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { logOpening, startBackups } from './serve.ts'

it('writes a line when a step begins, and one every five seconds of it', () => {
  const lines: string[] = []
  let now = 0
  const log = logOpening(
    ({ detail, done, of }, text) => lines.push(`${now} ${text} ${detail} ${done}/${of}`),
    () => now,
  )
  log({ step: 'migrating', detail: '0011-frozen-schema', done: 0, of: 1 })
  for (let done = 0; done < 100; done++) {
    log({ step: 'reading words', detail: null, done, of: 100 })
    now += 100
  }
  expect(lines).toEqual([
    '0 Upgrading the library 0011-frozen-schema 0/1',
    '0 Indexing items for search null 0/100',
    '5000 Indexing items for search null 50/100',
  ])
})

const HOUR_MS = 3_600_000
const START = Date.UTC(2026, 0, 31, 2)

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-backups-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Runs until `count` backups were made or failed, the clock going on by an hour each time it is asked to write. */
async function make(count: number, options: { fails?: (attempt: number) => boolean; keep?: number } = {}): Promise<string[]> {
  const told: string[] = []
  let now = START
  const { promise: enough, resolve } = Promise.withResolvers<void>()
  const tell = (text: string) => {
    if (told.push(text) === count) resolve()
    now += HOUR_MS
  }
  const backups = startBackups({
    folder,
    everyMs: HOUR_MS,
    keep: options.keep ?? 2,
    clock: () => now,
    async write(file) {
      if (told.length >= count) await new Promise(() => {})
      if (options.fails?.(told.length)) throw new Error('disk full')
      writeFileSync(file, '')
    },
    onDone: (file) => tell(`done ${file.slice(folder.length + 1)}`),
    onFailure: (error) => tell(`failed ${error instanceof Error ? error.message : error} ${backups.failures()}`),
  })
  await enough
  void backups.stop()
  return told
}

describe('scheduled backups', () => {
  it('are named by the time, and as many stay as are to be kept', async () => {
    for (const name of ['commonplace-20251231T000000Z.db', 'commonplace.db', 'commonplace-notes.db']) writeFileSync(join(folder, name), '')
    expect(await make(3)).toEqual([
      'done commonplace-20260131T020000Z.db',
      'done commonplace-20260131T030000Z.db',
      'done commonplace-20260131T040000Z.db',
    ])
    expect(readdirSync(folder).toSorted()).toEqual([
      'commonplace-20260131T030000Z.db',
      'commonplace-20260131T040000Z.db',
      'commonplace-notes.db',
      'commonplace.db',
    ])
  })

  it('that fail are logged and counted, and remove nothing', async () => {
    writeFileSync(join(folder, 'commonplace-20260130T000000Z.db'), '')
    expect(await make(2, { keep: 1, fails: (attempt) => attempt === 0 })).toEqual([
      'failed disk full 1',
      'done commonplace-20260131T030000Z.db',
    ])
    expect(readdirSync(folder)).toEqual(['commonplace-20260131T030000Z.db'])
  })

  it('wait for the newest to be old enough', async () => {
    writeFileSync(join(folder, 'commonplace-20260131T013000Z.db'), '')
    let written = 0
    const backups = startBackups({
      folder,
      everyMs: HOUR_MS,
      keep: 2,
      clock: () => START,
      write: async () => {
        written++
      },
      onDone: () => {},
      onFailure: () => {},
    })
    expect(backups.lastBackup()).toEqual(new Date(START - HOUR_MS / 2))
    await backups.stop()
    expect(written).toBe(0)
  })

  it('remove what one that was killed left, once nobody can be writing it', async () => {
    const [old, young] = ['.commonplace-20260129T020000Z.db.0123abcd.tmp', '.commonplace-20260131T015900Z.db.0123abcd.tmp-journal']
    for (const [name, at] of [
      [old, START - 48 * HOUR_MS],
      [young, START - 60_000],
    ] as const) {
      writeFileSync(join(folder, name), '')
      utimesSync(join(folder, name), at / 1000, at / 1000)
    }
    await make(1)
    expect(readdirSync(folder).toSorted()).toEqual([young, 'commonplace-20260131T020000Z.db'])
  })
})
