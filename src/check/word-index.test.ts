import { describe, expect, it } from 'vitest'
import { RULES } from './rules/index.ts'
import { indexWords, neededWords } from './word-index.ts'

const textsOf = (pattern: RegExp) => neededWords(pattern)?.map(({ text }) => text) ?? null

describe('neededWords', () => {
  it.each([
    [/\bcurl\s+-[a-z]/i, ['curl']],
    [/\b(?:ignor(?:e|ing)|forget)\b[^.\n]{0,30}\b(?:all|any)\b/i, ['ignore', 'ignoring', 'forget']],
    [/\.ssh\/id_(?:rsa|dsa)\b/, ['.ssh/id_rsa', '.ssh/id_dsa']],
    // A short word that goes on is none; a text inside a word is sought everywhere.
    [/\bAC[0-9a-f]{32}/, ['ac']],
    [/[A-Z]{0,4}secret/, ['secret']],
    [/(?:^|[^.\w])eval\s*\(/, ['eval']],
    [/(?<![\w.])rm(?=\s|$)/, ['rm']],
    [/x?(?:ab|)c+/, null],
    [/[a-z]{3,}\d/, null],
  ])('of %s', (pattern, texts) => {
    const found = textsOf(pattern)
    expect(found?.toSorted() ?? null).toEqual(texts?.toSorted() ?? null)
  })

  it('are in the lines that rules match', () => {
    const texts = RULES.map(({ example }) => (typeof example === 'string' ? example : example.text))
    for (const { id, pattern, on = 'lines' } of RULES) {
      if (!pattern || on !== 'lines') continue
      for (const text of texts) {
        const lines = [...indexWords(text).linesFor(pattern)].map((line) => line.text)
        for (const line of text.split('\n')) if (line.search(pattern) >= 0) expect(lines.join('\n'), `${id}: ${line}`).toContain(line)
      }
    }
  })
})
