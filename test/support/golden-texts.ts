import { readFileSync } from 'node:fs'
import { z } from 'zod'

/** Words that repeat without a pattern, for texts of any length. */
function makeProse(words: number, seed: number): string {
  const list =
    'review the code of a small service and write tests for what fails summarise this article in three sentences for students plan a trip translate politely'.split(
      ' ',
    )
  let state = seed
  return Array.from({ length: words }, () => {
    state = (state * 48_271) % 2_147_483_647
    return list[state % list.length]
  }).join(' ')
}

/** Every assigned-looking character of a range, as words of four. */
function listCharacters(from: number, to: number): string {
  const all = Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at))
  return all.map((char, at) => (at % 4 === 3 ? `${char} ` : char)).join('')
}

/** A text of the fixture: as it is, or how it is made. */
const recipe = z.union([
  z.string(),
  z
    .strictObject({ repeat: z.string(), times: z.number(), end: z.string().default('') })
    .transform((is) => is.repeat.repeat(is.times) + is.end),
  z.strictObject({ characters: z.tuple([z.number(), z.number()]) }).transform((is) => listCharacters(...is.characters)),
  z
    .strictObject({ words: z.number(), seed: z.number(), maxLength: z.number().optional() })
    .transform((is) => makeProse(is.words, is.seed).slice(0, is.maxLength)),
])

/** Texts of all lengths and scripts, by name: what the encoder is compared on with a reference of 32-bit floats. */
export const GOLDEN_TEXTS = z
  .record(z.string(), recipe)
  .parse(JSON.parse(readFileSync(new URL('../fixtures/golden-texts.json', import.meta.url), 'utf8')))
