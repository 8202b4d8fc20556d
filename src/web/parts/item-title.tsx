import type { FC } from 'hono/jsx'
import type { Visibility } from '../../library/visibility.ts'
import type { Site } from '../site.ts'

/**
 * The title of an item's page, with who can see the item.
 * @param visibility null where the reader need not know it: it is somebody else's, and anybody may see it
 */
export const ItemTitle: FC<{ site: Site; title: string; visibility: Visibility | null }> = ({ site: { words }, title, visibility }) => (
  <div class="titled">
    <h1 dir="auto">{title}</h1>
    {visibility === null ? null : (
      <span class={`badge is-${visibility}`} title={words.visibilityMeans[visibility]}>
        {words.visibilities[visibility]}
      </span>
    )}
  </div>
)
