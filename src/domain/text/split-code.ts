/** A Markdown text in pieces: fenced blocks and what stands between backticks on a line are code. */
export function splitCode(text: string): { readonly piece: string; readonly isCode: boolean }[] {
  const pieces: { piece: string; isCode: boolean }[] = []
  let fence: string | null = null
  for (const line of text.split(/(?<=\n)/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    const isFence = fence === null ? mark !== undefined : mark?.startsWith(fence) === true && line.trim() === mark
    if (fence !== null || isFence) pieces.push({ piece: line, isCode: true })
    else {
      const parts = line.split(/(`+)/)
      // After an odd number of marks, the last one opens nothing.
      const lastMark = parts.length % 4 === 3 ? parts.length - 2 : parts.length
      for (const [index, piece] of parts.entries()) pieces.push({ piece, isCode: index % 4 !== 0 && index < lastMark })
    }
    if (isFence) fence = fence === null ? (mark ?? null) : null
  }
  return pieces
}
