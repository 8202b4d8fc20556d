import type { FC } from 'hono/jsx'
import { formatsOf } from '../formats.ts'
import type { Site } from '../site.ts'
import { Details, LinkItem, LinkLine } from './controls.tsx'

/** One way to narrow a list. */
export interface FilterGroup {
  readonly label: string
  /** The value that is in force; undefined: none. */
  readonly chosen: string | undefined
  readonly choices: readonly {
    readonly value: string
    readonly name: string
    /** The number of items that the choice finds; null: not counted. */
    readonly count: number | null
    /** Whether it stands below the choice before it. */
    readonly isBelow?: boolean
  }[]
  /** The list with a choice; undefined: with none. */
  toUrl(value: string | undefined): string
}

interface FiltersProps {
  readonly words: Site['words']
  readonly groups: readonly FilterGroup[]
  /** How many filters are in force. */
  readonly active: number
  /** The list without filters. */
  readonly clear: string
}

/** The filters of a list as plain links with counts: in the margin, and folded behind a button on phones. */
export const Filters: FC<FiltersProps> = ({ words, groups, active, clear }) => (
  <Details class="narrowing" summary={words.find.filter(active)}>
    <nav aria-label={words.filters}>
      {groups.map(({ label, chosen, choices, toUrl }, place) => (
        <div>
          <p class="label" id={`filter-${place}`}>
            {label}
          </p>
          <ul class="filters" aria-labelledby={`filter-${place}`}>
            <LinkItem to={toUrl(undefined)} current={chosen === undefined && 'true'} text={words.all} />
            {choices.map(({ value, name, count, isBelow }) => (
              <li class={isBelow ? 'lower' : undefined}>
                <a href={toUrl(value)} aria-current={chosen === value ? 'true' : undefined}>
                  {name} {count === null ? null : <span class="count">{formatsOf(words.language).number(count)}</span>}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
      {active === 0 ? null : <LinkLine to={clear} text={words.clearFilters} />}
    </nav>
  </Details>
)

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
