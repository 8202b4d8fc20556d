// What fifty teams cost their member: a search and a look-up, as a multiple of the same in a library where the member owns those items alone.
//   npm run bench:teams [-- --count 100000] [--teams 50] [--prompts FILE.csv] [--queries FILE.tsv]
// A tenth of the prompts is private, the rest public. Both libraries have the same prompts and are asked in this process, in turns.
// Processor time, medians of rounds. Without the encoder, which does not know whose items it reads.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { App } from '../src/app.ts'
import type { Actor } from '../src/library/actor.ts'
import { openSqlite } from '../src/storage/dialects/sqlite.ts'
import { findTestData } from '../test/support/real-data.ts'
import { median } from './drive.ts'
import { fillLibrary, openLibrary } from './library-files.ts'
import { readQueries } from './queries.ts'

process.env['ENCODER'] = 'off'

const ROUNDS = 9
/** How much more a member of many teams may pay. */
const LIMITS = { search: 1.5, 'look-up': 1.3 } as const
type Asked = keyof typeof LIMITS
const LOOK_UPS = 500
const AT = '2026-01-01T00:00:00.000Z'

const { values } = parseArgs({
  options: {
    prompts: { type: 'string' },
    queries: { type: 'string' },
    count: { type: 'string', default: '100000' },
    teams: { type: 'string', default: '50' },
  },
})
const promptsFile = values.prompts ?? findTestData().promptsFile
const [count, teams] = [Number(values.count), Number(values.teams)]
if (!Number.isSafeInteger(count) || count < 100 || !Number.isSafeInteger(teams) || teams < 1) {
  throw new Error('--count takes a whole number of at least 100, and --teams one of at least 1.')
}

/** Gives the private items to teams in turns, and puts their owner into every team. */
async function shareOut(path: string): Promise<void> {
  const database = openSqlite(path)
  try {
    await database.transact(async (db) => {
      const { seq: member } = await db.selectFrom('user').select('seq').where('username', '=', 'bench').executeTakeFirstOrThrow()
      const made: number[] = []
      for (let n = 0; n < teams; n++) {
        const name = `team-${n}`
        const row = {
          id: `team-${n}`,
          username: name,
          username_key: name,
          default_visibility: 'private' as const,
          created_at: AT,
          is_team: 1,
        }
        const { seq } = await db.insertInto('user').values(row).returning('seq').executeTakeFirstOrThrow()
        await db.insertInto('team_member').values({ team_seq: seq, user_seq: member, role: 'editor', joined_at: AT }).execute()
        made.push(seq)
      }
      const items = await db.selectFrom('item').select('seq').where('visibility', '=', 'private').execute()
      for (const [n, { seq }] of items.entries()) {
        await db
          .updateTable('item')
          .set({ owner_seq: made[n % teams] ?? member })
          .where('seq', '=', seq)
          .execute()
      }
    })
  } finally {
    await database.close()
  }
}

interface Library {
  readonly name: string
  readonly app: App
  readonly reader: Actor
  readonly ids: readonly string[]
  readonly times: Record<Asked, number[]>
}

/** Microseconds of processor time for each of some calls. */
async function measure({ app, reader }: Library, name: string, inputs: readonly Record<string, unknown>[]): Promise<number> {
  const operation = app.operations.find((one) => one.name === name)
  if (!operation) throw new Error(`There is no ${name}.`)
  const { user, system } = process.cpuUsage()
  let length = 0
  for (const input of inputs) length += JSON.stringify(await operation.call(app.contextFor(reader, 'rest'), input)).length
  if (length === 0) throw new Error('Nothing was answered.')
  const now = process.cpuUsage()
  return (now.user - user + now.system - system) / inputs.length
}

const folder = mkdtempSync(join(tmpdir(), 'commonplace-bench-'))
try {
  const queries = await readQueries(promptsFile, values.queries)
  const alone = join(folder, 'alone.db')
  await fillLibrary(alone, promptsFile, Math.round(count * 0.9), (place) => (place % 10 === 0 ? 'private' : 'public'))
  const shared = join(folder, 'shared.db')
  copyFileSync(alone, shared)
  await shareOut(shared)
  const libraries: Library[] = []
  for (const [name, path] of Object.entries({ 'one owner': alone, [`${teams} teams`]: shared })) {
    const app = await openLibrary(path)
    const owner = await app.store.people.findUser('bench')
    if (!owner) throw new Error('There is no owner.')
    const reader: Actor = { kind: 'user', userId: owner.id, username: owner.username, scopes: new Set(['read']) }
    const page = { query: null, filter: {}, sort: 'newest', limit: LOOK_UPS, offset: 0 } as const
    const { items } = await app.store.items.searchPrompts(reader, page)
    libraries.push({ name, app, reader, ids: items.map(({ id }) => id), times: { search: [], 'look-up': [] } })
  }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const library of libraries) {
      const search = await measure(
        library,
        'search_prompts',
        queries.map((query) => ({ query, limit: 10 })),
      )
      const lookUp = await measure(
        library,
        'show_prompt',
        library.ids.map((id) => ({ id })),
      )
      // The first round reads the library.
      if (round === 0) continue
      library.times.search.push(search)
      library.times['look-up'].push(lookUp)
    }
  }
  const [base] = libraries
  for (const asked of ['search', 'look-up'] as const) {
    for (const { name, times } of libraries) {
      const ratio = median(times[asked]) / median(base?.times[asked] ?? [])
      process.stdout.write(
        `${count} prompts, ${name}: ${median(times[asked]).toFixed(0)} µs of processor a ${asked}, ${ratio.toFixed(2)} ×\n`,
      )
      // Written so that a ratio that is no number fails too.
      if (!(ratio <= LIMITS[asked])) process.exitCode = 1
    }
  }
  for (const { app } of libraries) await app.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
