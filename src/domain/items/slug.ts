import anyAscii from 'any-ascii'
import { isId } from '../text/addresses.ts'
import type { Visibility } from './visibility.ts'

export const MAX_SLUG = 64
/** Random characters that end the slug of an item that was never published. */
const SECRET_SUFFIX_LENGTH = 10
/** Numbered suffixes tried before a random one ends the search. */
const NUMBERED_TRIES = 30

/**
 * A name as a slug: letters and digits of any script transliterated to `a-z 0-9`, everything else a hyphen, at most 64.
 * May be empty (a title of symbols only).
 * @example slugify('Ünïcode & 北京') // 'unicode-beijing'
 */
export function slugify(name: string): string {
  const words = name
    .normalize('NFKC')
    .replace(/(?<=\p{L})['’](?=\p{L})/gu, '')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .map((word) =>
      anyAscii(word)
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, ''),
    )
    .filter((word) => word !== '')
  return cutSlug(words.join('-'), MAX_SLUG)
}

/** A tag's slug: as {@link slugify}, with `+` read as "plus" and `#` as "sharp" (contract, save_prompt). */
export function slugifyTag(name: string): string {
  return slugify(name.replaceAll('+', 'plus').replaceAll('#', 'sharp'))
}

/** A slug cut to `limit`, at a hyphen when one stands in its second half. */
function cutSlug(slug: string, limit: number): string {
  if (slug.length <= limit) return slug
  const head = slug.slice(0, limit + 1)
  const hyphen = head.lastIndexOf('-')
  return (hyphen > limit / 2 ? head.slice(0, hyphen) : head.slice(0, limit)).replace(/-+$/, '')
}

/** Whether `text` may be chosen as a slug: `a-z 0-9` in groups joined by single hyphens, 1 to 64, not the form of an id. */
export function isSlug(text: string): boolean {
  return text.length <= MAX_SLUG && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text) && !isId(text)
}

/**
 * Candidate slugs of an item, best first; the last is almost certainly free. An item that is not public gets a random suffix, so that its
 * slug cannot be guessed from its title, and no refusal reveals that it exists. Without letters or digits the slug is the id.
 * @param random gives `n` random characters of `a-z 0-9`
 */
export function* slugCandidates(
  base: string,
  item: { id: string; visibility: Visibility },
  random: (length: number) => string,
): Generator<string> {
  if (base === '') {
    yield item.id
    return
  }
  if (item.visibility === 'public') {
    if (!isId(base)) yield base
    for (let n = 2; n < 2 + NUMBERED_TRIES; n++) yield withSuffix(base, String(n))
  }
  for (;;) yield withSuffix(base, random(SECRET_SUFFIX_LENGTH))
}

/** A slug with a suffix, shortened where it would be too long. */
export function withSuffix(base: string, suffix: string): string {
  return `${cutSlug(base, MAX_SLUG - suffix.length - 1)}-${suffix}`
}
