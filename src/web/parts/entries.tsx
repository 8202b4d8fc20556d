import type { Child, FC } from 'hono/jsx'
import type { Site } from '../site.ts'

interface EntryProps {
  readonly title: Child
  /** Beside the title, in grey. */
  readonly note?: Child
  /** Below the title, with dots between them; what is null is left out. */
  readonly facts?: readonly Child[]
  /** Whether it is over, such as a key that was revoked. */
  readonly isOver?: boolean
  readonly class?: string | undefined
  /** The id of a key that has been used. */
  readonly 'data-used'?: string | undefined
  /** Below the facts. */
  readonly more?: Child
  /** What can be done with it. */
  readonly children?: Child
}

/** One of a list of {@link Entries}: its name, its facts, and its buttons. */
export const Entry: FC<EntryProps> = ({ title, note, facts = [], isOver = false, class: look, more, children, ...data }) => {
  const shown = facts.filter((fact) => fact !== null && fact !== '')
  return (
    <li class={isOver ? 'over' : look} {...data}>
      <div>
        {title} {note ? <span class="quiet">{note}</span> : null}
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

/** A plain form that narrows the list it stands above. `kept` are the other fields of the address. */
export const ListSearch: FC<{
  words: Pick<Site['words'], 'search'>
  label: string
  query: string
  maxlength?: number
  kept?: Readonly<Record<string, string>>
}> = ({ words, label, query, maxlength = 64, kept = {} }) => (
  <search>
    <form method="get" class="search">
      {Object.entries(kept).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <input type="search" name="q" value={query} aria-label={label} placeholder={label} maxlength={maxlength} autocomplete="off" />
      <button class="button" type="submit">
        {words.search}
      </button>
    </form>
  </search>
)

/** Links to the parts of a list. */
export const Tabs: FC<{ label: string; tabs: readonly { readonly to: string; readonly name: string; readonly isHere: boolean }[] }> = ({
  label,
  tabs,
}) => (
  <nav aria-label={label}>
    <ul class="filters tabs">
      {tabs.map(({ to, name, isHere }) => (
        <li>
          <a href={to} aria-current={isHere ? 'page' : undefined}>
            {name}
          </a>
        </li>
      ))}
    </ul>
  </nav>
)

/** The address of a page of a list. Fields that are empty, and the first page, are left out. */
export function toListUrl(path: string, fields: Readonly<Record<string, string>>, page = 1): string {
  const kept = Object.entries({ ...fields, page: page === 1 ? '' : String(page) }).filter(([, value]) => value !== '')
  const params = new URLSearchParams(kept)
  return params.size === 0 ? path : `${path}?${params}`
}
