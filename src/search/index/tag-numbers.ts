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
  const bySlug = new Map<string, number[]>()
  return {
    get last() {
      return tags.length
    },
    add(tag) {
      const spellings = bySlug.get(tag.slug) ?? []
      const known = spellings.find((number) => tags[number - 1]?.name === tag.name)
      if (known !== undefined) return known
      const number = tags.push(tag)
      spellings.push(number)
      bySlug.set(tag.slug, spellings)
      return number
    },
    tagOf(number) {
      const tag = tags[number - 1]
      if (!tag) throw new RangeError(`no tag has the number ${number}`)
      return tag
    },
    withSlug: (slug) => bySlug.get(slug) ?? [],
    load(all) {
      for (const tag of all) {
        const number = tags.push(tag)
        if (tag) bySlug.set(tag.slug, [...(bySlug.get(tag.slug) ?? []), number])
      }
    },
  }
}
