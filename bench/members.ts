// What a search costs a member in a library whose items are all for members, as a multiple of the same search where they are all public.
//   npm run bench:members [-- --count 12570] [--prompts FILE.csv] [--queries FILE.tsv]
// Both libraries are asked in this process, by somebody with a key, whose answers no cache has; the third column is a mixed library, half of
// each. Processor time, medians of rounds that take turns. Without the encoder, which does not know whose items it reads.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { App } from '../src/app.ts'
import type { Visibility } from '../src/domain/items/visibility.ts'
import type { Actor } from '../src/domain/people/actor.ts'
import { findTestData } from '../test/support/real-data.ts'
import { median } from './drive.ts'
import { fillLibrary, openLibrary } from './library-files.ts'
import { readQueries } from './queries.ts'

process.env['ENCODER'] = 'off'

const ROUNDS = 9
/** How much more a member's search may cost. */
const LIMIT = 1.5

const { values } = parseArgs({
  options: { prompts: { type: 'string' }, queries: { type: 'string' }, count: { type: 'string', default: '12570' } },
})
const promptsFile = values.prompts ?? findTestData().promptsFile
const count = Number(values.count)
if (!Number.isSafeInteger(count) || count < 1) throw new Error('--count takes a whole number above zero.')

/** Whose items there are, by their place. */
const LIBRARIES: Record<string, (place: number) => Visibility> = {
  public: () => 'public',
  members: () => 'members',
  mixed: (place) => (place % 2 === 0 ? 'public' : 'members'),
}

const folder = mkdtempSync(join(tmpdir(), 'commonplace-bench-'))
try {
  const queries = await readQueries(promptsFile, values.queries)
  const libraries: { readonly name: string; readonly app: App; readonly reader: Actor; readonly times: number[] }[] = []
  for (const [name, visibilityOf] of Object.entries(LIBRARIES)) {
    const path = join(folder, `${name}.db`)
    await fillLibrary(path, promptsFile, count, visibilityOf)
    const app = await openLibrary(path)
    const { id, username } = await app.store.people.createUser({ username: 'reader', defaultVisibility: 'private' })
    const reader: Actor = { kind: 'user', userId: id, username, scopes: new Set(['read']) }
    libraries.push({ name, app, reader, times: [] })
  }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { app, reader, times } of libraries) {
      const search = app.operations.find((operation) => operation.name === 'search_prompts')
      if (!search) throw new Error('There is no search_prompts.')
      const { user, system } = process.cpuUsage()
      let found = 0
      for (const query of queries)
        found += Number(Object((await search.call(app.contextFor(reader, 'rest'), { query, limit: 10 })) as object).count)
      if (found === 0) throw new Error('Nothing was found.')
      const now = process.cpuUsage()
      // The first round reads the library.
      if (round > 0) times.push((now.user - user + now.system - system) / queries.length)
    }
  }
  const [base] = libraries.map(({ times }) => median(times))
  for (const { name, times } of libraries) {
    const ratio = median(times) / (base ?? Number.NaN)
    process.stdout.write(
      `${count} prompts, ${name}: ${(median(times) / 1000).toFixed(2)} ms of processor a search, ${ratio.toFixed(2)} ×\n`,
    )
    // Written so that a ratio that is no number fails too.
    if (!(ratio <= LIMIT)) process.exitCode = 1
  }
  for (const { app } of libraries) await app.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
