import { parseVariables } from '../../domain/variables/variables.ts'

/** A piece of a prompt as an embed marks it; the texts of all together are the prompt. */
export type PromptPiece =
  | { readonly kind: 'text' | 'mention'; readonly text: string }
  /** A blank. `given`: its default; null for one that must be filled in. */
  | { readonly kind: 'variable'; readonly text: string; readonly name: string; readonly given: string | null }

/** `@name`, `@path/to/file.ts`, `@folder/`; not part of an email address, nor a decorator's `@@`. */
const MENTION = /(?<![\p{L}\p{N}_@./+-])@[\p{L}_][\p{L}\p{N}_./:-]*/gu

/** Splits a prompt into text, variables and `@mentions` in one linear scan. */
export function parsePromptPieces(text: string): PromptPiece[] {
  const { segments, variables } = parseVariables(text)
  const defaults = new Map(variables.map((variable) => [variable.name, variable.default ?? null]))
  return segments.flatMap((segment): PromptPiece[] => {
    if (segment.kind !== 'variable') return findMentions(segment.raw)
    const { raw, name } = segment
    return [{ kind: 'variable', text: raw, name, given: defaults.get(name) ?? null }]
  })
}

/** A piece as readers see it: a blank by its default, or its name. */
export function readPiece(piece: PromptPiece): string {
  return piece.kind === 'variable' ? (piece.given ?? piece.name) : piece.text
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
