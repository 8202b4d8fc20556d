import type { FC } from 'hono/jsx'
import { formatsOf } from '../formats.ts'
import type { Site } from '../site.ts'
import { Link, LinkItem } from './controls.tsx'

interface PageLinksProps {
  readonly site: Site
  readonly page: number
  readonly pages: number
  toUrl(page: number): string
}

/** Pages on each side of the current one that have a number. */
const BESIDE = 2

/** Links to the pages of a list by number, and to those before and after this one; nothing for a single page. */
export const PageLinks: FC<PageLinksProps> = ({ site: { words }, page, pages, toUrl }) =>
  pages < 2 ? null : (
    <nav class="pages" aria-label={words.pages}>
      <ul>
        <li>{page > 1 ? <Link to={toUrl(page - 1)} rel="prev" aria-label={words.previous} text="«" /> : null}</li>
        {numbersAround(page, pages).map((number) =>
          number === null ? (
            <li class="quiet">…</li>
          ) : (
            <LinkItem
              to={toUrl(number)}
              aria-label={words.pageOf(number, pages)}
              current={number === page && 'page'}
              text={formatsOf(words.language).number(number)}
            />
          ),
        )}
        <li>{page < pages ? <Link to={toUrl(page + 1)} rel="next" aria-label={words.next} text="»" /> : null}</li>
      </ul>
    </nav>
  )

/** The first page, those around this one and the last; null where pages are left out. One page is never left out alone. */
export function numbersAround(page: number, pages: number): (number | null)[] {
  const shown = Array.from({ length: pages < 8 ? pages : 0 }, (_, index) => index + 1)
  if (shown.length > 0) return shown
  const from = Math.max(1, Math.min(page - BESIDE, pages - 2 * BESIDE))
  const around = Array.from({ length: 2 * BESIDE + 1 }, (_, index) => from + index).filter((number) => number <= pages)
  const before = from <= 3 ? Array.from({ length: from - 1 }, (_, index) => index + 1) : [1, null]
  const end = around.at(-1) ?? pages
  const after = pages - end <= 2 ? Array.from({ length: pages - end }, (_, index) => end + 1 + index) : [null, pages]
  return [...before, ...around, ...after]
}
