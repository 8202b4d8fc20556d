import type { FC } from 'hono/jsx'
import { formatsOf } from '../formats.ts'
import type { Site } from '../site.ts'

const PLACES = ['all', 'prompts', 'skills', 'collections', 'docs'] as const
type Place = (typeof PLACES)[number]

interface ResultTabsProps {
  readonly words: Site['words']
  readonly current: Place
  readonly query: string
  /** Results of each place; the places that are left out are not counted. */
  readonly counts?: { readonly [Name in Place]?: number }
}

/** The places that a query is looked for in. */
export const ResultTabs: FC<ResultTabsProps> = ({ words, current, query, counts = {} }) => {
  const { all, prompts, skills, collecting, docs } = words
  const names = { all, prompts, skills, collections: collecting.collections, docs }
  return (
    <nav aria-label={words.find.places}>
      <ul class="filters tabs">
        {PLACES.map((place) => (
          <li>
            <a
              href={`/${place === 'all' ? 'search' : place}?${new URLSearchParams({ q: query })}`}
              aria-current={place === current ? 'page' : undefined}
            >
              {names[place]}{' '}
              {counts[place] === undefined ? null : <span class="count">{formatsOf(words.language).number(counts[place])}</span>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
