import { parseVariables } from '../../domain/variables/variables.ts'

/** A piece of a prompt as an embed marks it; all together are the prompt. */
export interface PromptPiece {
  readonly kind: 'text' | 'variable' | 'mention'
  readonly text: string
}

/** `@name`, `@path/to/file.ts`, `@folder/`; not part of an email address, nor a decorator's `@@`. */
const MENTION = /(?<![\p{L}\p{N}_@./+-])@[\p{L}_][\p{L}\p{N}_./:-]*/gu

/** Splits a prompt into text, variables and `@mentions` in one linear scan. */
export function parsePromptPieces(text: string): PromptPiece[] {
  return parseVariables(text).segments.flatMap((segment) =>
    segment.kind === 'variable' ? [{ kind: 'variable' as const, text: segment.raw }] : findMentions(segment.raw),
  )
}

function findMentions(text: string): PromptPiece[] {
  const pieces: PromptPiece[] = []
  let from = 0
  for (const match of text.matchAll(MENTION)) {
    const mention = withoutStop(match[0])
    if (match.index > from) pieces.push({ kind: 'text', text: text.slice(from, match.index) })
    pieces.push({ kind: 'mention', text: mention })
    from = match.index + mention.length
  }
  if (from < text.length) pieces.push({ kind: 'text', text: text.slice(from) })
  return pieces
}

/** Without the signs that end a sentence. */
function withoutStop(mention: string): string {
  let end = mention.length
  while (end > 1 && '.:-'.includes(mention.charAt(end - 1))) end--
  return mention.slice(0, end)
}
