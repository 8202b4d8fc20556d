import type { PromptType } from '../src/domain/items/fields.ts'
import { readPromptFile } from '../src/transfer/prompt-file.ts'

/** A generator of numbers from 0 to below 1 that gives the same ones for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Makes as many prompts as asked for out of the real ones in a file: titles of halves of two titles, texts of lines of three texts, as long as
 */
export async function* recombinePrompts(
  file: string,
  count: number,
  seed: number,
): AsyncGenerator<{ title: string; content: string; type: PromptType; sources: readonly string[] }> {
  const titles: string[][] = []
  const texts: string[][] = []
  const types: PromptType[] = []
  for await (const entry of readPromptFile(file)) {
    if (!('draft' in entry)) continue
    const { title, content, type } = entry.draft
    titles.push(title.split(' '))
    texts.push(content.slice(0, 8000).split(/(?<=[.!?\n])\s+/))
    types.push(type)
  }
  const random = seededRandom(seed)
  const pick = () => Math.floor(random() * titles.length)
  for (let made = 0; made < count; made++) {
    const [a, b, c] = [pick(), pick(), pick()]
    const first = titles[a] ?? []
    const second = titles[b] ?? []
    const title = [...first.slice(0, Math.ceil(first.length / 2)), ...second.slice(Math.floor(second.length / 2)), made]
      .join(' ')
      .slice(0, 200)
    const lines = [a, b, c].flatMap((from) => {
      const text = texts[from] ?? []
      const start = Math.floor(random() * text.length)
      return text.slice(start, start + Math.max(3, Math.ceil(text.length / 3)))
    })
    const sources = [a, b, c].map((from) => (titles[from] ?? []).join(' '))
    yield { title, content: lines.join('\n') || title, type: types[a] ?? 'TEXT', sources }
  }
}
