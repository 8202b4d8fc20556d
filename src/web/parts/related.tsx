import type { FC } from 'hono/jsx'
import type { Output } from '../../operations/core/define-operation.ts'
import type { relatedItems } from '../../operations/items/related.ts'
import type { Site } from '../site.ts'

/** Items that the page of an item leads to. */
export const SHOWN_RELATED = 5

/** Links to the items nearest to one in meaning; nothing when none is near. */
export const Related: FC<{ site: Site; items: Output<typeof relatedItems>['items'] }> = ({ site: { words }, items }) =>
  items.length === 0 ? null : (
    <nav class="related" aria-label={words.reading.related}>
      <h2 class="kind">{words.reading.related}</h2>
      <ul>
        {items.map(({ title, url, nearlySame }) => (
          <li>
            <a href={new URL(url).pathname}>{title}</a>
            {nearlySame ? ` (${words.reading.nearlySame})` : null}
          </li>
        ))}
      </ul>
    </nav>
  )
