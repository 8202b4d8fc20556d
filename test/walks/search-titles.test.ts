import { expect, it } from 'vitest'
import { loadWordVectors } from '../../src/ai/kept-vectors.ts'
import { readPromptFile } from '../../src/transfer/prompt-file.ts'
import { BASE, makeLibrary, type Written } from '../support/indexed-library.ts'
import { findTestData } from '../support/real-data.ts'

it('a query that is the title of an item has that item first', async () => {
  const library = makeLibrary(loadWordVectors())
  const items: Written[] = []
  for await (const row of readPromptFile(findTestData().promptsFile)) {
    if (!('draft' in row)) continue
    const seq = items.length + 1
    items.push({ ...BASE, seq, createdAt: seq, title: row.draft.title, content: row.draft.content })
  }
  library.put(items)
  const titles = items.map(({ title }) => title)
  expect(titles.length).toBeGreaterThan(50)
  const missed = titles.filter((title) => {
    const [first = 0] = library.find(title, { limit: 1 }).seqs
    return titles[first - 1]?.trim().toLowerCase() !== title.trim().toLowerCase()
  })
  expect(missed).toEqual([])
})
