/** A piece of a text: literal text, or a blank with its name. */
type Piece = string | { readonly name: string }

/**
 * The blanks that stand in strings of a JSON text, by their place among its pieces; none where the text is no JSON, whatever is put in. A value
 * for such a blank must be escaped, or it would end the string.
 */
export function findQuotedBlanks(pieces: readonly Piece[]): ReadonlySet<number> {
  const quoted = new Set<number>()
  let sample = ''
  let isInString = false
  for (const [place, piece] of pieces.entries()) {
    if (typeof piece !== 'string') {
      if (isInString) quoted.add(place)
      sample += isInString ? 'x' : 'null'
      continue
    }
    for (let at = 0; at < piece.length; at++) {
      if (isInString && piece[at] === '\\') at++
      else if (piece[at] === '"') isInString = !isInString
    }
    sample += piece
  }
  if (quoted.size === 0) return quoted
  try {
    JSON.parse(sample)
    return quoted
  } catch {
    return new Set()
  }
}

/** A value as it stands in a JSON string. */
export function escapeInJson(value: string): string {
  return JSON.stringify(value).slice(1, -1)
}
