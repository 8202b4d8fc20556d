/**
 * An edit put together with changes that were saved since it began, field by field.
 * @param base the fields that the edit began with
 * @returns null when both changed the same field, each in another way
 */
export function mergeFields<T extends Readonly<Record<string, unknown>>>(base: T, mine: T, theirs: T): T | null {
  const merged: Record<string, unknown> = { ...theirs }
  for (const name of Object.keys(mine)) {
    if (mine[name] === base[name] || mine[name] === theirs[name]) continue
    if (theirs[name] !== base[name]) return null
    merged[name] = mine[name]
  }
  return merged as T
}
