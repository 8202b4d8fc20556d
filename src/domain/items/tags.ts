import { invalidInput } from '../../errors.ts'
import type { Tag } from './items.ts'
import { slugifyTag } from './slug.ts'

/**
 * Tag names as an item carries them: names of one slug merged under the first spelling, order kept.
 * @throws AppError `invalid_input` for a name that has no letter or digit
 */
export function toTags(names: readonly string[]): Tag[] {
  const tags = new Map<string, Tag>()
  for (const [index, written] of names.entries()) {
    const name = written.normalize('NFC').trim().replace(/\s+/gu, ' ')
    const slug = slugifyTag(name)
    if (slug === '') throw invalidInput(`tags[${index}]`, `tags[${index}] has no letter or digit and could not be searched; use words.`)
    if (!tags.has(slug)) tags.set(slug, { name, slug })
  }
  return [...tags.values()]
}
