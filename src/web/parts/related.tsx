import type { FC } from 'hono/jsx'
import type { Output } from '../../operations/core/procedure.ts'
import type { showItemPage } from '../../operations/items/item-page.ts'
import type { Site } from '../site.ts'

/** Links to the items nearest to one in meaning; nothing when none is near. */
export const Related: FC<{ site: Site; items: Output<typeof showItemPage>['related'] }> = ({ site: { words }, items }) =>
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
