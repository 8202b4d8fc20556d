// Makes assets/starter-vectors.json: the vectors of the starter library, so that a new library with it need not make them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openApp } from '../src/app.ts'
import { toAppSettings } from '../src/cli/operator.ts'
import { loadConfig } from '../src/config/load-config.ts'
import { createEncoder } from '../src/encoder/encoder.ts'
import { FILE_NAME } from '../src/encoder/model.ts'
import { importLibrary } from '../src/transfer/library-folder.ts'

const inRoot = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

const file = inRoot('assets/starter-vectors.json')
// The old ones would be taken for new.
rmSync(file, { force: true })
const place = mkdtempSync(join(tmpdir(), 'commonplace-starter-'))
const path = join(place, 'starter.db')
try {
  const encoder = createEncoder({
    file: inRoot(`dist/encoder/${FILE_NAME}`),
    onFault: (message) => {
      throw new Error(message)
    },
  })
  const settings = toAppSettings(loadConfig({ DATABASE_URL: `sqlite:${path}` }), 'http://127.0.0.1')
  const app = await openApp({ ...settings, encoder })
  try {
    await importLibrary(app.store, inRoot('starter'), { owner: 'starter', visibility: 'public' })
    const encoding = app.itemEncoding
    encoding?.start((message) => process.stderr.write(`${message}\n`))
    while (encoding && (await encoding.countItems()).pending > 0) await setTimeout(50)
  } finally {
    await app.close()
  }
  const database = new DatabaseSync(path)
  const rows = database.prepare('select digest, vector from item_vector order by digest').all() as {
    digest: string
    vector: Uint8Array
  }[]
  database.close()
  const vectors = Object.fromEntries(rows.map(({ digest, vector }) => [digest, Buffer.from(vector).toString('base64')]))
  writeFileSync(file, `${JSON.stringify({ model: encoder.model, vectors }, null, 2)}\n`)
} finally {
  rmSync(place, { recursive: true, force: true })
}
