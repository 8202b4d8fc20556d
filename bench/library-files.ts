import { existsSync, renameSync, statSync } from 'node:fs'
import { openApp } from '../src/app.ts'
import { toAppSettings } from '../src/cli/operator.ts'
import { loadConfig } from '../src/config/load-config.ts'
import type { PromptType } from '../src/domain/items/fields.ts'
import type { Visibility } from '../src/domain/items/visibility.ts'
import type { Place } from '../test/support/processes.ts'
import { recombinePrompts } from './recombined-prompts.ts'

/** Of the recombined prompts. */
export const LIBRARY_SEED = 20_261_121
const BATCH = 500

/** Opens a library file as the service does, with the encoder unless ENCODER is off. */
export function openLibrary(path: string) {
  return openApp(toAppSettings(loadConfig({ DATABASE_URL: `sqlite:${path}`, ENCODER: process.env['ENCODER'] }), 'http://127.0.0.1'))
}

/** Adds prompts made of those in a file to a library, until it holds `count` that strangers see, or as many new ones where they see none. */
export async function fillLibrary(
  path: string,
  promptsFile: string,
  count: number,
  visibilityOf: (place: number) => Visibility = () => 'public',
): Promise<void> {
  const app = await openLibrary(path)
  try {
    const { store } = app
    const owner =
      (await store.people.findUser('bench')) ?? (await store.people.createUser({ username: 'bench', defaultVisibility: 'public' }))
    const missing = count - (await store.items.countPrompts({ kind: 'anonymous' }, {}))
    let placed = 0
    let batch: { title: string; content: string; type: PromptType }[] = []
    const flush = async () => {
      const made = batch
      batch = []
      await store.inTransaction(async (transaction) => {
        for (const one of made) {
          const fields = { ...one, description: null, category: null, tags: [], visibility: visibilityOf(placed++) }
          await transaction.items.createItem({ userId: owner.id, note: null }, { kind: 'prompt', ...fields })
        }
      })
    }
    for await (const made of recombinePrompts(promptsFile, Math.max(0, missing), LIBRARY_SEED)) {
      batch.push({ title: made.title, content: made.content, type: made.type })
      if (batch.length >= BATCH) await flush()
    }
    await flush()
  } finally {
    await app.close()
  }
}

/** Makes a library of the prompts in a file, by the import that users have, and of prompts made of them when `count` is more. */
export async function makeLibrary(place: Place, path: string, promptsFile: string, count: number): Promise<void> {
  if (existsSync(path)) return
  const unfinished = `${path}.unfinished`
  const env = { DATABASE_URL: `sqlite:${unfinished}` }
  const { code, stderr } = await place.commonplace(['import', 'prompts', promptsFile, '--user', 'bench', '--public'], { env })
  if (code !== 0) throw new Error(`The import failed: ${stderr}`)
  await fillLibrary(unfinished, promptsFile, count)
  renameSync(unfinished, path)
}

/** Size of a library file, in MiB. */
export function libraryMiB(path: string): number {
  return statSync(path).size / 2 ** 20
}
