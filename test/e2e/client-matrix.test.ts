import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COLUMNS, cellOf, clientsPage } from '../support/client-matrix.ts'
import { CLIENTS, type Library, openLibrary } from '../support/clients.ts'

/** Every client does everything it can do by its nature, and docs/clients.md says so. `npm run docs:clients` writes the page anew. */

const passed = new Set<string>()
let library: Library

beforeAll(async () => {
  library = await openLibrary()
}, 120_000)
afterAll(() => library.place.remove())

for (const client of CLIENTS) {
  describe.concurrent(client.name, () => {
    for (const column of COLUMNS) {
      if (column.cannot(client) !== undefined) continue
      it(column.title, async () => {
        await column.check(client, library)
        passed.add(cellOf(client, column))
      })
    }
  })
}

it('the table is full and is the one in docs/clients.md', async () => {
  const page = clientsPage(passed)
  process.stdout.write(`${page.slice(page.indexOf('| Client'), page.indexOf('## What'))}`)
  expect(page).not.toContain('FAIL')
  await expect(page).toMatchFileSnapshot('../../docs/clients.md')
})
