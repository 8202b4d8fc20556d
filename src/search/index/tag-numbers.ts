import type { Tag } from '../../library/items.ts'

/** Numbers for tags, from 1 in the order they came, so that items hold tags as numbers. A number is never given again. */
export interface TagNumbers {
  /** Largest number given. */
  readonly last: number
  /** The number of a tag as it is spelled, a new one when there is none. */
  add(tag: Tag): number
  tagOf(number: number): Tag
  /** The numbers of a tag's spellings. */
  withSlug(slug: string): readonly number[]
  /** Fills empty numbers with tags, from 1 on; null for one that no item holds. */
  load(tags: readonly (Tag | null)[]): void
}

/** No tags yet. */
export function createTagNumbers(): TagNumbers {
  const tags: (Tag | null)[] = []
  /** Most slugs have one spelling: its number, instead of a list. */
  const bySlug = new Map<string, number | number[]>()
  const withSlug = (slug: string): readonly number[] => {
    const spellings = bySlug.get(slug) ?? []
    return typeof spellings === 'number' ? [spellings] : spellings
  }
  const push = ({ slug, name }: Tag): number => {
    // One string instead of two equal ones.
    const number = tags.push({ slug, name: name === slug ? slug : name })
    const spellings = withSlug(slug)
    bySlug.set(slug, spellings.length === 0 ? number : [...spellings, number])
    return number
  }
  return {
    get last() {
      return tags.length
    },
    add: (tag) => withSlug(tag.slug).find((number) => tags[number - 1]?.name === tag.name) ?? push(tag),
    tagOf(number) {
      const tag = tags[number - 1]
      if (!tag) throw new RangeError(`no tag has the number ${number}`)
      return tag
    },
    withSlug,
    load(all) {
      for (const tag of all) {
        if (tag) push(tag)
        else tags.push(null)
      }
    },
  }
}
