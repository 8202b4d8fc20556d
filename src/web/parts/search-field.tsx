import type { FC } from 'hono/jsx'
import type { Site } from '../site.ts'

interface SearchFieldProps {
  readonly site: Site
  /** The kind that it searches; `all` leads to the results of both, `library` to the reader's own. */
  readonly kind: 'prompts' | 'skills' | 'all' | 'library'
  readonly query: string
  readonly isLarge?: boolean
  /** Filters that stay. */
  readonly kept?: Readonly<Record<string, string | undefined>>
}

/** A field to search in; works as a plain form. */
export const SearchField: FC<SearchFieldProps> = ({ site: { words }, kind, query, isLarge, kept = {} }) => {
  const label = { prompts: words.searchPrompts, skills: words.searchSkills, all: words.find.both, library: words.library.search }[kind]
  const action = kind === 'all' ? '/search' : `/${kind}`
  return (
    <search>
      <form class={isLarge ? 'search large' : 'search'} action={action} method="get" data-search>
        <input type="search" name="q" value={query} placeholder={label} aria-label={label} maxlength={1000} autocomplete="off" />
        {Object.entries(kept).map(([name, value]) => (value === undefined ? null : <input type="hidden" name={name} value={value} />))}
        <button class="button" type="submit">
          {words.search}
        </button>
      </form>
    </search>
  )
}
