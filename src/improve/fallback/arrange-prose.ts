import { parseVariables } from '../../library/variables.ts'
import { asksForWork, classifySentence, leansBack } from './classify-sentence.ts'
import { TEXT_PARTS, type TextPart } from './heading-words.ts'
import type { Block } from './read-blocks.ts'
import { hasPhrase, readWords, splitPhrases } from './read-words.ts'
import { splitLines, splitSentences } from './split-text.ts'

/** A sentence, list or quotation with what stood between it and the piece before. */
interface Piece {
  text: string
  part: TextPart
  readonly joint: string
  /** The sentences that lean on the first. */
  readonly more: string[]
}

/** What the writer said for each part, in the writer's words and order. A part nothing was said for is missing. */
export type Arranged = ReadonlyMap<TextPart, string>

/** Longest prose that is taken apart; in a longer one sentences lean on each other too much to be moved. */
export const MAX_ARRANGED = 3000

/**
 * Sorts the sentences of a short prose prompt into parts. Every piece lands in exactly one part, so nothing is lost;
 * a list or quotation stays with the sentence that leads to it, and so does a sentence that leans on the one before.
 * From where material to work on begins, all that follows stays one piece: its sentences are no instructions.
 * @returns null when it cannot be told which sentence belongs to which: such prose must stay whole
 */
export function arrangeProse(blocks: readonly Block[]): Arranged | null {
  const pieces: Piece[] = []
  let isPasted = false
  for (const [index, block] of blocks.entries()) {
    const last = pieces.at(-1)
    if (last && isPasted) last.text += `\n\n${block.raw}`
    else if (block.kind === 'prose') {
      const next = blocks[index + 1]
      isPasted = addSentences(pieces, block.raw, next !== undefined && next.kind !== 'prose')
    } else if (block.kind === 'heading') {
      // What stands below a label is meant by it.
      pieces.push({ text: block.raw, part: 'task', joint: '\n\n', more: [] })
      isPasted = block.heading.style.kind !== 'hash' || pieces.length > 1
    } else if (last && (block.kind === 'list' || leadsOn(last.text))) last.text += `\n${block.raw}`
    else pieces.push({ text: block.raw, part: block.kind === 'quote' ? 'inputs' : 'task', joint: '\n\n', more: [] })
  }
  keepOneTask(pieces)
  if (isDoubtful(pieces)) return null
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

/** @returns whether material to work on has begun, so that all that follows belongs to the last piece */
function addSentences(pieces: Piece[], raw: string, isListNext: boolean): boolean {
  let isFirst = true
  let isPasted = false
  let previous = ''
  const lines = splitLines(raw)
  for (const [lineIndex, line] of lines.entries()) {
    const isWrapped = !isFirst && /^\s*\p{Ll}/u.test(line) && !/[.!?:;]\s*$/.test(previous.slice(-4))
    const sentences = splitSentences(line)
    for (const [index, text] of sentences.entries()) {
      const last = pieces.at(-1)
      const joint = index > 0 ? ' ' : isFirst ? '\n\n' : '\n'
      if (last && isPasted) last.text += joint + text
      else {
        if (last && isWrapped && index === 0) last.text += `\n${text}`
        else if (last && staysWith(last, text)) {
          last.text += joint + text
          last.more.push(text)
        } else pieces.push({ text, part: choosePart(pieces, text), joint, more: [] })
        const isLast = lineIndex === lines.length - 1 && index === sentences.length - 1
        isPasted = beginsMaterial(pieces.at(-1), text, isLast && isListNext)
      }
    }
    previous = line
    isFirst = false
  }
  return isPasted
}

/** Whether a sentence must stand behind the piece before it. What follows a role is asked of it, and always stands next to it. */
function staysWith(last: Piece, sentence: string): boolean {
  if (!leansBack(sentence)) return false
  return last.part !== 'role' || (classifySentence(sentence) !== null && classifySentence(sentence) !== 'task')
}

/** Words for what somebody pastes below a request. */
const MATERIAL = splitPhrases(`
  text, sentence, paragraph, email, e mail, mail, message, letter, article, essay, code, snippet, function, script, review, note, comment,
  passage, story, stories, poem, document, question, quote, transcript, tweet, post, conversation, chat, line, word, phrase, speech, lyric,
  statement, answer, excerpt, draft, description, prompt, abstract, summary, report, data, content, input, list, item, table, bio, resume
`)
const POINTS_AHEAD = ['this', 'these', 'the following', 'following', 'the below', 'my']

/** Whether a sentence speaks of something that is pasted below it. @example namesMaterial('Proofread this sentence.') // true */
function namesMaterial(sentence: string): boolean {
  const words = readWords(sentence)
  if (/ (?:this|these|following|below) $/.test(words)) return true
  return POINTS_AHEAD.some((pointer) =>
    hasPhrase(
      words,
      MATERIAL.map((noun) => `${pointer} ${noun}`),
    ),
  )
}

/** Whether a sentence says or shows that material follows: a colon with text behind it, "this sentence", or a request of one's own outside quotation marks. */
function beginsMaterial(piece: Piece | undefined, sentence: string, isListNext: boolean): boolean {
  if (piece?.part === 'inputs') return !/["”»」』`]\W*$/u.test(sentence) && !(leadsOn(sentence) && isListNext)
  if (piece?.part !== 'task' && piece?.part !== 'role') return false
  if (leadsOn(sentence)) return !isListNext
  return hasColon(sentence) || (piece.part === 'task' && namesMaterial(sentence))
}

/** Whether text follows a colon, outside of variables. */
function hasColon(sentence: string): boolean {
  const bare = parseVariables(sentence).segments.map((segment) => (segment.kind === 'text' ? segment.raw : 'x'))
  return /:\s+\S|：\s*\S/.test(bare.join(''))
}

/** The part of the next sentence: a role opens a prompt or nothing, and a sentence of no part of its own goes on with the one before. */
function choosePart(pieces: readonly Piece[], sentence: string): TextPart {
  const before = pieces.at(-1)?.part
  const part = classifySentence(sentence)
  if (part === null) return before === undefined || before === 'role' ? 'task' : before
  if (part !== 'role') return part
  const opensWithRole = pieces.every((piece) => piece.part === 'role') || (pieces.length === 1 && before === 'context')
  return opensWithRole ? 'role' : 'task'
}

/** A prompt must ask for something: without a task, the first piece that is no role is it; with a role alone, the role says it all. */
function keepOneTask(pieces: Piece[]): void {
  if (pieces.some((piece) => piece.part === 'task')) return
  const first = pieces.find((piece) => piece.part !== 'role' && piece.part !== 'inputs')
  if (first) first.part = 'task'
}

/**
 * Whether moving sentences could change what is asked: requests with rules between them, where a rule may be for the request before it;
 * a request among the rules; material in a role.
 */
function isDoubtful(pieces: readonly Piece[]): boolean {
  const first = pieces.findIndex((piece) => piece.part === 'task')
  const last = pieces.findLastIndex((piece) => piece.part === 'task')
  if (first !== -1 && pieces.slice(first, last).some((piece) => piece.part !== 'task')) return true
  return pieces.some(
    ({ part, text, more }) => (part === 'role' && hasColon(text)) || (part !== 'task' && part !== 'inputs' && more.some(asksForWork)),
  )
}

function joinPieces(pieces: readonly Piece[]): string {
  return pieces.map((piece, index) => (index === 0 ? piece.text : piece.joint + piece.text)).join('')
}

/** Sentences as list items; a piece that holds a list of its own stands as it was written. */
function writeBullets(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (piece.text.includes('\n') ? piece.text : `- ${piece.text}`)).join('\n')
}
