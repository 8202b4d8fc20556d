import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** Makes a folder that goes when the tests around the call have ended. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-folder-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
