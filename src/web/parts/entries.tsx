import type { Child, FC } from 'hono/jsx'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { HiddenFields, LinkItem, Submit } from './controls.tsx'
import { PageLinks } from './page-links.tsx'

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
        <nav aria-label={site.words.filters}>
          <ul class="filters tabs">
            {kinds.map(([value, name]) => (
              <LinkItem to={toUrl(value)} current={value === kind && 'page'} text={name} />
            ))}
          </ul>
        </nav>
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
