import type { FC } from 'hono/jsx'
import { findFavourites } from '../../operations/items/marks.ts'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'

/** The ids of the reader's favourites among the items of a page; null for anonymous readers, who see no stars. */
export type Stars = ReadonlySet<string> | null

/** Reads which of the items of a page have a star. */
export async function readStars(
  { site, call }: Pick<PageRequest, 'site' | 'call'>,
  ...lists: readonly (readonly { readonly id: string }[])[]
): Promise<Stars> {
  if (!site.reader) return null
  const ids = lists.flat().map(({ id }) => id)
  return new Set((await call(findFavourites, { ids })).ids)
}

interface StarProps {
  readonly site: Site
  readonly kind: 'prompts' | 'skills'
  readonly item: { readonly id: string; readonly title: string }
  readonly stars: Stars
}

/** Marks an item of a list as a favourite, or removes the mark, and comes back to the list; the script does it in place. */
export const Star: FC<StarProps> = ({ site: { words, path }, kind, item: { id, title }, stars }) => {
  if (stars === null) return null
  const isMarked = stars.has(id)
  return (
    <form method="post" action={`/${kind}/${id}`} class="star">
      <input type="hidden" name="back" value={path} />
      <button
        type="submit"
        name="do"
        value={isMarked ? 'unfavourite' : 'favourite'}
        aria-label={words.favouriteOf(title)}
        aria-pressed={isMarked ? 'true' : 'false'}
      />
    </form>
  )
}
