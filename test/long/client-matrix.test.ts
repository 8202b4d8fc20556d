import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COLUMNS, cellOf, clientsPage } from '../support/client-matrix.ts'
import { CLIENTS, type Connection, type Library, openLibrary } from '../support/clients.ts'

/** Every client does everything it can do by its nature, and docs/clients.md says so. `npm run docs:clients` writes the page anew. */

const passed = new Set<string>()
let library: Library

beforeAll(async () => {
  library = await openLibrary()
}, 120_000)
afterAll(() => library.place.remove())

// Side by side: most of the time goes into starting processes.
for (const client of CLIENTS) {
  describe.concurrent(client.name, () => {
    let quiet: Connection
    beforeAll(async () => {
      quiet = await client.connect(library, null)
    })
    afterAll(() => quiet.close())

    for (const column of COLUMNS) {
      if (column.cannot(client) !== undefined) continue
      it(column.title, async () => {
        const connection = column.answer === null ? quiet : await client.connect(library, column.answer)
        try {
          await column.check(connection, library, client)
        } finally {
          if (connection !== quiet) await connection.close()
        }
        passed.add(cellOf(client, column))
      })
    }
  })
}

it('the table is full and is the one in docs/clients.md', async () => {
  const page = clientsPage(passed)
  process.stdout.write(page.slice(page.indexOf('| Client'), page.indexOf('## What')))
  expect(page).not.toContain('FAIL')
  await expect(page).toMatchFileSnapshot('../../docs/clients.md')
})
