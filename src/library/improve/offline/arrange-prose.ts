import { classifySentence } from './classify-sentence.ts'
import { TEXT_PARTS, type TextPart } from './heading-words.ts'
import type { Block } from './read-blocks.ts'
import { splitLines, splitSentences } from './split-text.ts'

/** A sentence, list or quotation with what stood between it and the piece before. */
interface Piece {
  text: string
  part: TextPart
  readonly joint: string
}

/** What the writer said for each part, in the writer's words and order. A part nothing was said for is missing. */
export type Arranged = ReadonlyMap<TextPart, string>

/** Longest prose that is taken apart; in a longer one sentences lean on each other too much to be moved. */
export const MAX_ARRANGED = 3000

/**
 * Sorts the sentences of a short prose prompt into parts. Every piece lands in exactly one part, so nothing is lost;
 * a list or quotation stays with the sentence that leads to it.
 */
export function arrangeProse(blocks: readonly Block[]): Arranged {
  const pieces: Piece[] = []
  for (const block of blocks) {
    const last = pieces.at(-1)
    if (block.kind === 'prose') addSentences(pieces, block.raw)
    else if (block.kind === 'heading') pieces.push({ text: block.raw, part: 'task', joint: '\n\n' })
    else if (last && (block.kind === 'list' || leadsOn(last.text))) last.text += `\n${block.raw}`
    else pieces.push({ text: block.raw, part: block.kind === 'quote' ? 'inputs' : 'task', joint: '\n\n' })
  }
  keepOneTask(pieces)
  const arranged = new Map<TextPart, string>()
  for (const part of TEXT_PARTS) {
    const own = pieces.filter((piece) => piece.part === part)
    if (own.length > 0) arranged.set(part, part === 'constraints' ? writeBullets(own) : joinPieces(own))
  }
  return arranged
}

function leadsOn(text: string): boolean {
  return text.endsWith(':') || text.endsWith('：')
}

function addSentences(pieces: Piece[], raw: string): void {
  let isFirst = true
  let previous = ''
  for (const line of splitLines(raw)) {
    const isWrapped = !isFirst && /^\s*\p{Ll}/u.test(line) && !/[.!?:;]\s*$/.test(previous.slice(-4))
    const sentences = splitSentences(line)
    for (const [index, text] of sentences.entries()) {
      const last = pieces.at(-1)
      const joint = index > 0 ? ' ' : isFirst ? '\n\n' : '\n'
      if (isWrapped && index === 0 && last) last.text += `\n${text}`
      else pieces.push({ text, part: choosePart(pieces, text), joint })
    }
    previous = line
    isFirst = false
  }
}

/** The part of the next sentence: a role opens a prompt or nothing, and a sentence of no part of its own goes on with the one before. */
function choosePart(pieces: readonly Piece[], sentence: string): TextPart {
  const before = pieces.at(-1)?.part
  const part = classifySentence(sentence)
  if (part === null) return before === undefined || before === 'role' ? 'task' : before
  if (part !== 'role') return part
  const opensWithRole = pieces.length < 2 || pieces.every((piece) => piece.part === 'role')
  return opensWithRole ? 'role' : 'task'
}

/** A prompt must ask for something: without a task, the first piece that is no role is it; with a role alone, the role says it all. */
function keepOneTask(pieces: Piece[]): void {
  if (pieces.some((piece) => piece.part === 'task')) return
  const first = pieces.find((piece) => piece.part !== 'role' && piece.part !== 'inputs')
  if (first) first.part = 'task'
}

function joinPieces(pieces: readonly Piece[]): string {
  return pieces.map((piece, index) => (index === 0 ? piece.text : piece.joint + piece.text)).join('')
}

/** Sentences as list items; a piece that holds a list of its own stands as it was written. */
function writeBullets(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (piece.text.includes('\n') ? piece.text : `- ${piece.text}`)).join('\n')
}
