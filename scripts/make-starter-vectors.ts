// Makes dist/encoder/starter-vectors.json: the vectors of the starter library, so that a new library with it need not make them.
import { hash } from 'node:crypto'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openApp } from '../src/app.ts'
import { toAppSettings } from '../src/cli/app-settings.ts'
import { loadConfig } from '../src/config/load-config.ts'
import { createEncoder } from '../src/encoder/encoder.ts'
import { inspectFile } from '../src/encoder/model.ts'
import { FILE_NAME } from '../src/encoder/weights-file.ts'
import { importLibrary } from '../src/transfer/library-folder.ts'

const starter = fileURLToPath(new URL('../starter', import.meta.url))
const NAME = 'starter-vectors.json'

/** Writes the vectors into the encoder's folder, or takes them over from an older build that made them of the same library with the same model. */
export async function makeStarterVectors(folder: string, oldFolder: string): Promise<void> {
  const source = describeSource(folder)
  if (isMadeFrom(join(oldFolder, NAME), source)) {
    copyFileSync(join(oldFolder, NAME), join(folder, NAME))
    return
  }
  process.stderr.write('Making the vectors of the starter library…\n')
  const place = mkdtempSync(join(tmpdir(), 'commonplace-starter-'))
  const path = join(place, 'starter.db')
  try {
    const encoder = createEncoder({
      file: join(folder, FILE_NAME),
      onFault: (message) => {
        throw new Error(message)
      },
    })
    const settings = toAppSettings(loadConfig({ DATABASE_URL: `sqlite:${path}` }), 'http://127.0.0.1')
    const app = await openApp({ ...settings, encoder })
    try {
      await importLibrary(app.store, starter, { owner: 'starter', visibility: 'public' })
      const encoding = app.itemEncoding
      encoding?.start((message) => process.stderr.write(`${message}\n`))
      while (encoding && (await encoding.countItems()).pending > 0) {
        await setTimeout(50)
      }
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
    const { model } = inspectFile(join(folder, FILE_NAME))
    writeFileSync(join(folder, NAME), JSON.stringify({ model, source, vectors }))
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

function isMadeFrom(file: string, source: string): boolean {
  try {
    const made = JSON.parse(readFileSync(file, 'utf8')) as { source?: string }
    return made.source === source
  } catch {
    return false
  }
}

/** A digest of the starter library and the model. */
function describeSource(folder: string): string {
  const files = readdirSync(starter, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
  const contents = files.map((file) => `${file.slice(starter.length)} ${hash('sha256', readFileSync(file))}`)
  return hash('sha256', [inspectFile(join(folder, FILE_NAME)).model, ...contents].join('\n'))
}
