import type { Child, FC } from 'hono/jsx'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { formatsOf } from '../strings/formats.ts'
import { Details, HiddenFields, Link, LinkItem, LinkLine, Section, Submit, Tabs } from './controls.tsx'
import { ActionButton } from './field.tsx'

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

interface EntryProps {
  readonly title: Child
  /** Beside the title, in grey. */
  readonly note?: Child
  /** A state that stands out, such as of somebody who is suspended. */
  readonly state?: string | null
  /** Below the title, with dots between them; what is null is left out. */
  readonly facts?: readonly Child[]
  /** Whether it is over, such as a key that was revoked. */
  readonly isOver?: boolean
  readonly class?: string | undefined
  /** The id of a key that has been used. */
  readonly 'data-used'?: string | undefined
  /** Below the facts. */
  readonly more?: Child
  /** The buttons for it. */
  readonly children?: Child
}

/** One of a list of {@link Entries}: its name, its facts, and its buttons. */
export const Entry: FC<EntryProps> = ({ title, note, state, facts = [], isOver = false, class: look, more, children, ...data }) => {
  const shown = facts.filter((fact) => fact !== null && fact !== '')
  return (
    <li class={isOver ? 'over' : look} {...data}>
      <div>
        {title}
        {note ? <span class="quiet"> {note}</span> : null}
        {state ? <strong class="state"> {state}</strong> : null}
        {shown.length === 0 ? null : (
          <p class="quiet">
            {shown.map((fact, place) => (
              <>
                {place === 0 ? '' : ' · '}
                {fact}
              </>
            ))}
          </p>
        )}
        {more}
      </div>
      {children ? <div class="controls">{children}</div> : null}
    </li>
  )
}

/** A list whose rows are each an {@link Entry}; `none` where it is empty. */
export function Entries<T>({
  of,
  row,
  none,
  class: look = '',
}: {
  readonly of: readonly T[]
  row(one: T, place: number): Child
  readonly none?: string | undefined
  readonly class?: string
}) {
  if (of.length > 0) return <ul class={`entries ${look}`.trim()}>{of.map(row)}</ul>
  return none === undefined ? null : <p>{none}</p>
}

interface ListProps<T> {
  readonly request: Pick<PageRequest, 'site' | 'query'>
  readonly path: string
  readonly found: { readonly page: number; readonly totalPages: number }
  readonly of: readonly T[]
  row(one: T, place: number): Child
  readonly none: string
  readonly class?: string
  /** The label of a field that narrows it. Default: there is none */
  readonly find?: string | null
  /** Parts of it, by the values of the field `kind`; the first one is shown without it. */
  readonly kinds?: readonly (readonly [value: string, name: string])[]
}

/** The longest text that narrows a list. */
const MAX_QUERY = 64

/** The text that narrows a list, from its address. */
export function readQuery({ query }: Pick<PageRequest, 'query'>): string {
  return (query.get('q') ?? '').slice(0, MAX_QUERY)
}

/** The page of a list that an address asks for, with what narrows it and leads to its other pages. */
export function List<T>({ request, path, found, find = null, kinds = [], ...entries }: ListProps<T>) {
  const { site, query } = request
  const [first] = kinds
  const kind = kinds.find(([value]) => value === query.get('kind'))?.[0] ?? first?.[0] ?? ''
  const q = readQuery(request)
  const toUrl = (shown: string, page = 1) => toListUrl(path, { kind: shown === first?.[0] ? '' : shown, q }, page)
  return (
    <>
      {find === null ? null : (
        <ListSearch words={site.words} label={find} query={q} maxlength={MAX_QUERY} kept={kind === first?.[0] ? {} : { kind }} />
      )}
      {kinds.length === 0 ? null : (
        <Tabs label={site.words.filters} current="page" of={kinds.map(([value, name]) => [toUrl(value), name, value === kind])} />
      )}
      <Entries {...entries} />
      <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={(page) => toUrl(kind, page)} />
    </>
  )
}

/** A plain form that narrows the list it stands above. `kept` are the other fields of the address. */
export const ListSearch: FC<{
  words: Pick<Site['words'], 'search'>
  label: string
  query: string
  maxlength: number
  kept?: Readonly<Record<string, string>>
  action?: string
}> = ({ words, label, query, maxlength, kept = {}, action }) => (
  <search>
    <form method="get" action={action} class="search">
      <HiddenFields values={kept} />
      <input type="search" name="q" value={query} aria-label={label} placeholder={label} maxlength={maxlength} autocomplete="off" />
      <Submit text={words.search} />
    </form>
  </search>
)

/** The address of a page of a list. Fields that are empty, and the first page, are left out. */
export function toListUrl(path: string, fields: Readonly<Record<string, string | undefined>>, page = 1): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...fields, page: page === 1 ? '' : String(page) })) if (value) params.set(name, value)
  return params.size === 0 ? path : `${path}?${params}`
}

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
    <Tabs
      label={words.find.places}
      current="page"
      of={PLACES.map((place) => [
        `/${place === 'all' ? 'search' : place}?${new URLSearchParams({ q: query })}`,
        <>
          {names[place]} {counts[place] === undefined ? null : <span class="count">{formatsOf(words.language).number(counts[place])}</span>}
        </>,
        place === current,
      ])}
    />
  )
}

/** A list before there is anything to list, with the next step. */
export const NothingYet: FC<{ site: Site; kind: 'prompts' | 'skills' }> = ({ site: { words, reader }, kind }) => (
  <Section title={words.find.noItems[kind]}>
    <p class="prose">{words.find.noItemsHelp}</p>
    <div class="actions">
      {reader ? (
        <Link
          to={kind === 'prompts' ? '/new' : '/new/skill'}
          look="button first"
          text={kind === 'prompts' ? words.newPrompt : words.newSkill}
        />
      ) : (
        <Link to="/sign-in" look="button first" rel="nofollow" text={words.signIn} />
      )}
      {reader ? (
        <Link to="/import" look="button" text={words.importing.menu} />
      ) : (
        <Link to="/docs/import-export" look="button" text={words.find.howToImport} />
      )}
      {reader?.isAdmin ? <ActionButton action="/import" does="starter" text={words.importing.starter} /> : null}
    </div>
  </Section>
)

/** The lists of everything, as ways on from a page that shows nothing, and further entries. */
export const WaysOn: FC<{ words: Site['words']; children?: Child }> = ({ words, children }) => (
  <ul class="filters ways">
    <LinkItem to="/prompts" text={words.find.browseAll.prompts} />
    <LinkItem to="/skills" text={words.find.browseAll.skills} />
    {children}
  </ul>
)
