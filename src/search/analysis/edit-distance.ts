/**
 * Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours. Gives `limit + 1` for anything above
 * `limit`, in O(limit * length).
 */
export function damerauLevenshtein(a: string, b: string, limit: number): number {
  const beyond = limit + 1
  if (Math.abs(a.length - b.length) > limit) return beyond
  let before: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const current = new Array<number>(b.length + 1).fill(beyond)
    if (i <= limit) current[0] = i
    let smallest = beyond
    const from = Math.max(1, i - limit)
    const to = Math.min(b.length, i + limit)
    for (let j = from; j <= to; j++) {
      const isSame = a.charCodeAt(i - 1) === b.charCodeAt(j - 1)
      let edits = Math.min((previous[j] ?? beyond) + 1, (current[j - 1] ?? beyond) + 1, (previous[j - 1] ?? beyond) + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a.charCodeAt(i - 1) === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1)) {
        edits = Math.min(edits, (before[j - 2] ?? beyond) + 1)
      }
      current[j] = edits
      smallest = Math.min(smallest, edits)
    }
    if (smallest > limit && (i > limit || (current[0] ?? beyond) > limit)) return beyond
    before = previous
    previous = current
  }
  return Math.min(previous[b.length] ?? beyond, beyond)
}
