import { expect, it } from 'vitest'
import { judgeHealth } from './pages/admin/admin.tsx'

const NOW = Date.parse('2026-01-10T12:00:00Z')
const FINE: Parameters<typeof judgeHealth>[0] = {
  backups: { lastAt: '2026-01-10T02:00:00Z', failures: 0 },
  database: { engine: 'SQLite', place: 'library.db', bytes: 10 ** 9, freeBytes: 10 ** 10, logBytes: 0, beside: [] },
  search: { isReady: true, items: 3 },
  encoder: { state: 'ready', embedded: 3, total: 3 },
  faults: [],
  sendsMail: true,
}

it('finds nothing where all is well', () => {
  expect(judgeHealth(FINE, NOW).filter(({ level }) => level !== 'good')).toEqual([])
})

it.each<[string, Partial<typeof FINE>, string, string]>([
  ['no backups', { backups: null }, 'backup', 'bad'],
  ['none yet', { backups: { lastAt: null, failures: 0 } }, 'backup', 'bad'],
  ['an old one', { backups: { lastAt: '2026-01-08T11:00:00Z', failures: 0 } }, 'backup', 'bad'],
  ['a failed one', { backups: { lastAt: '2026-01-10T02:00:00Z', failures: 1 } }, 'backup', 'bad'],
  ['no room for copies', { database: { ...FINE.database, freeBytes: 19 * 10 ** 8 } }, 'disk', 'bad'],
  ['search that still loads', { search: { isReady: false, items: 0 } }, 'search', 'note'],
  ['vectors in the making', { encoder: { state: 'embedding', embedded: 1, total: 3 } }, 'search', 'note'],
  ['no encoder', { encoder: { state: 'fallback', embedded: 0, total: 3 } }, 'search', 'bad'],
  ['errors', { faults: [{ message: 'x', times: 1, lastAt: '2026-01-10T02:00:00Z' }] }, 'errors', 'bad'],
  ['no mail', { sendsMail: false }, 'mail', 'note'],
])('notices %s', (_, change, part, level) => {
  expect(judgeHealth({ ...FINE, ...change }, NOW).filter((one) => one.level !== 'good')).toEqual([{ part, level }])
})

it('takes search without an encoder and a library on a server as they are', () => {
  const database = { ...FINE.database, freeBytes: null }
  expect(judgeHealth({ ...FINE, encoder: null, database }, NOW).every(({ level }) => level === 'good')).toBe(true)
})
