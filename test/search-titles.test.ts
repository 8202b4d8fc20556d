import { expect, it } from 'vitest'
import { loadWordVectors } from '../src/ai/word-vectors-file.ts'
import { readPromptFile } from '../src/transfer/prompt-file.ts'
import { BASE, makeLibrary } from './support/indexed-library.ts'
import { findTestData } from './support/real-data.ts'

it('a query that is the title of an item has that item first', { timeout: 60_000 }, async () => {
  const library = makeLibrary(loadWordVectors())
  const titles: string[] = []
  for await (const row of readPromptFile(findTestData().promptsFile)) {
    if (!('draft' in row)) continue
    titles.push(row.draft.title)
    library.put([{ ...BASE, seq: titles.length, createdAt: titles.length, title: row.draft.title, content: row.draft.content }])
  }
  expect(titles.length).toBeGreaterThan(50)
  const missed = titles.filter((title) => {
    const [first = 0] = library.find(title, { limit: 1 }).seqs
    return titles[first - 1]?.trim().toLowerCase() !== title.trim().toLowerCase()
  })
  expect(missed).toEqual([])
})
