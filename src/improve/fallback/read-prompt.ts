import { isOtherLanguage } from './detect-language.ts'
import type { Part } from './heading-words.ts'
import { type Block, readBlocks } from './read-blocks.ts'
import type { HeadingStyle } from './read-heading.ts'

/** A section of a prompt: `title` is empty for what stands before the first heading. */
export interface Section {
  readonly title: string
  readonly part: Part | null
  readonly text: string
}

/** A prompt as the rewriter sees it. `isSectioned` says that its writer has divided it already; such a prompt is never rearranged. */
export interface ReadPrompt {
  readonly text: string
  readonly blocks: readonly Block[]
  readonly sections: readonly Section[]
  readonly isSectioned: boolean
  readonly isOtherLanguage: boolean
  readonly style: HeadingStyle
}

/** Words that say a prompt of another language was improved already; they would otherwise make it look English. */
const LANGUAGE_KEPT = 'language of this prompt'

/** Reads a prompt once for all that follows. `text` is the prompt without white space around it, with line breaks as `\n`. */
export function readPrompt(prompt: string): ReadPrompt {
  const text = prompt.replaceAll('\r\n', '\n').replaceAll('\r', '\n').trim()
  const blocks = readBlocks(text)
  const headings = blocks.flatMap((block) => (block.kind === 'heading' ? [block.heading] : []))
  return {
    text,
    blocks,
    sections: readSections(blocks),
    isSectioned: headings.length >= 2 || headings.some((heading) => heading.part !== null && heading.style.kind === 'hash'),
    isOtherLanguage: text.includes(LANGUAGE_KEPT) || isOtherLanguage(text),
    style: mostUsedStyle(headings.map((heading) => heading.style)),
  }
}

function readSections(blocks: readonly Block[]): Section[] {
  const sections: { title: string; part: Part | null; pieces: string[] }[] = [{ title: '', part: null, pieces: [] }]
  for (const block of blocks) {
    if (block.kind === 'heading') {
      const { title, part, rest } = block.heading
      sections.push({ title, part, pieces: rest === '' ? [] : [rest] })
    } else sections.at(-1)?.pieces.push(block.raw)
  }
  return sections
    .filter(({ title, pieces }) => title !== '' || pieces.length > 0)
    .map(({ title, part, pieces }) => ({ title, part, text: pieces.join('\n') }))
}

/** The style most headings have, the first of equals; without any heading, `##`. */
function mostUsedStyle(styles: readonly HeadingStyle[]): HeadingStyle {
  const counts = new Map<string, { style: HeadingStyle; count: number }>()
  for (const style of styles) {
    const key = JSON.stringify(style)
    const known = counts.get(key)
    if (known) known.count++
    else counts.set(key, { style, count: 1 })
  }
  let best: { style: HeadingStyle; count: number } = { style: { kind: 'hash', level: 2 }, count: 0 }
  for (const entry of counts.values()) if (entry.count > best.count) best = entry
  return best.style
}
