/** The tags of a foreign entry that fit into a library: short ones, and not too many. */
export function cutLongTags(
  tags: readonly string[],
  most: number,
  longest: number,
): { readonly tags: string[]; readonly remark: string | null } {
  const fitting = [...new Set(tags.map((tag) => tag.trim()))].filter(
    (tag) => tag !== '' && [...tag].length <= longest && /[\p{L}\p{N}]/u.test(tag),
  )
  const kept = fitting.slice(0, most)
  const lost = tags.length - kept.length
  return { tags: kept, remark: lost > 0 ? `${lost} of its tags were left out` : null }
}
