import type { FC } from 'hono/jsx'
import type { Output } from '../../operations/core/procedure.ts'
import type { showItemPage } from '../../operations/items/item-page.ts'
import type { Site } from '../site.ts'
import { authorPath } from './facts.tsx'

/** Where an item was copied from, for readers who find the source in lists. */
export const CopiedFrom: FC<{ site: Site; source: Output<typeof showItemPage>['source'] }> = ({ site: { words }, source }) =>
  source === null ? null : (
    <p class="quiet source">
      {words.copiedFrom} <a href={authorPath(source.author)}>@{source.author}</a> ·{' '}
      <a href={new URL(source.url).pathname} dir="auto">
        {source.title}
      </a>
    </p>
  )
