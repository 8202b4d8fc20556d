import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { highlightCode, stopHighlighting } from '../../src/web/markup/highlight.ts'
import { languageOfFence, languageOfFile } from '../../src/web/markup/markdown.ts'
import { findTestData } from '../support/real-data.ts'

/** Of each language: some blocks and files as people write them, the longest among them. */
const SAMPLES = 4
const LONGEST = 20_000

function findCode(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const add = (language: string | null, code: string) => {
    if (language !== null && code.trim() !== '' && code.length <= LONGEST) found.set(language, [...(found.get(language) ?? []), code])
  }
  for (const entry of readdirSync(findTestData().skillsFolder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || languageOfFile(entry.name) === null) continue
    const text = readFileSync(join(entry.parentPath, entry.name), 'utf8')
    add(languageOfFile(entry.name), text)
    if (entry.name.endsWith('.md')) {
      for (const [, info = '', code = ''] of text.matchAll(/^```([^\n`]+)\n([\s\S]*?)^```/gm)) add(languageOfFence(info), code)
    }
  }
  return found
}

afterAll(stopHighlighting)

it('highlights the code of the test data, whatever its language', async () => {
  const code = findCode()
  expect(code.size).toBeGreaterThan(2)
  for (const [language, all] of code) {
    const blocks = all.toSorted((a, b) => b.length - a.length)
    const chosen = Array.from({ length: SAMPLES }, (_, place) => blocks[Math.floor((place * blocks.length) / SAMPLES)] ?? '')
    for (const block of new Set(chosen)) {
      let made = await highlightCode(block, language)
      // On a slow machine a reader may lose patience with a grammar that is loaded; the next one has it.
      for (let reader = 1; reader < 5 && !made.isKept; reader++) made = await highlightCode(block, language)
      expect(made.text, `${language}: ${block.slice(0, 80)}`).not.toBeNull()
    }
  }
})
