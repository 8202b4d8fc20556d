import type { FC } from 'hono/jsx'
import type { Site } from '../site.ts'

interface PageLinksProps {
  readonly site: Site
  readonly page: number
  readonly pages: number
  toUrl(page: number): string
}

/** The way to the pages before and after this one; nothing when there is only one. */
export const PageLinks: FC<PageLinksProps> = ({ site: { words }, page, pages, toUrl }) =>
  pages < 2 ? null : (
    <nav class="pages" aria-label={words.pages}>
      {page > 1 ? (
        <a href={toUrl(page - 1)} rel="prev">
          {words.previous}
        </a>
      ) : null}
      <span class="quiet">{words.pageOf(page, pages)}</span>
      {page < pages ? (
        <a href={toUrl(page + 1)} rel="next">
          {words.next}
        </a>
      ) : null}
    </nav>
  )
