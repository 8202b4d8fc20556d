import type { FC } from 'hono/jsx'
import type { Site } from '../site.ts'

/** Which entry of the menu a page is. */
export type Current = 'prompts' | 'skills' | 'collections' | 'connect' | 'docs' | 'library' | 'favourites' | 'teams' | 'account' | undefined

/** The reach and the text of the search field in the header. */
export interface PageSearch {
  /** The list it narrows. Default: everything that is found */
  readonly list?: 'prompts' | 'skills' | 'collections' | 'library' | 'docs' | undefined
  /** The text of the field. Default: none */
  readonly query?: string | undefined
  /** Filters of the list that stay. */
  readonly kept?: Readonly<Record<string, string | undefined>>
  /** Whether the page has a larger field of its own, and the header shows none. */
  readonly isInPage?: boolean
}

interface HeaderProps {
  readonly site: Site
  readonly current: Current
  readonly search: PageSearch
}

/**
 * The head of every page: brand, search, menu. Where there is little room, the menu is behind one button: the sheet shows the contents of
 * closed `<details>` where there is room, and browsers that cannot do so keep the button.
 */
export const Header: FC<HeaderProps> = ({ site, current, search }) => {
  const { words, name, hasMcp, reader } = site
  const at = (entry: Current) => (entry === current ? 'page' : undefined)
  return (
    <header class="top">
      <div class="frame">
        <a class="brand" href="/">
          {name}
        </a>
        <HeaderSearch site={site} search={search} />
        <details class="site-menu">
          <summary>{words.find.menu}</summary>
          <nav aria-label={name}>
            <a href="/prompts" aria-current={at('prompts')}>
              {words.prompts}
            </a>
            <a href="/skills" aria-current={at('skills')}>
              {words.skills}
            </a>
            <a href="/collections" aria-current={at('collections')}>
              {words.collecting.collections}
            </a>
            {hasMcp ? (
              <a href="/connect" aria-current={at('connect')}>
                {words.connect}
              </a>
            ) : null}
            <a href="/docs" aria-current={at('docs')}>
              {words.docs}
            </a>
            {reader ? (
              <OwnLinks site={site} at={at} />
            ) : (
              <a class="apart" href="/sign-in" rel="nofollow">
                {words.signIn}
              </a>
            )}
          </nav>
        </details>
      </div>
    </header>
  )
}

/** The search field of a page. A plain form; the script reads its texts for rows from here. */
const HeaderSearch: FC<{ site: Site; search: PageSearch }> = ({ site: { words }, search: { list, query = '', kept = {}, isInPage } }) => (
  <search hidden={isInPage}>
    <form
      class="find"
      action={list === undefined ? '/search' : `/${list}`}
      method="get"
      data-copy={words.copy}
      data-copied={words.copied}
      data-copied-with-blanks={words.find.copiedWithBlanks}
      data-failed={words.find.failed}
      data-voted={words.find.voted}
      data-unvoted={words.find.unvoted}
    >
      <input
        type="search"
        name="q"
        value={query}
        placeholder={list === undefined ? words.search : words.find.fields[list]}
        aria-label={list === undefined ? words.find.field : words.find.fields[list]}
        aria-keyshortcuts="/ Control+K Meta+K"
        maxlength={1000}
        autocomplete="off"
      />
      {Object.entries(kept).map(([name, value]) => (value === undefined ? null : <input type="hidden" name={name} value={value} />))}
    </form>
  </search>
)

/** The menus of somebody who is signed in. */
const OwnLinks: FC<{ site: Site; at(entry: Current): 'page' | undefined }> = ({ site: { words, reader }, at }) => (
  <>
    <a class="apart" href="/library" aria-current={at('library')}>
      {words.myLibrary}
    </a>
    <details class="drop" name="menu">
      <summary>{words.newItem}</summary>
      <ul>
        <li>
          <a href="/new">{words.newPrompt}</a>
        </li>
        <li>
          <a href="/new/skill">{words.newSkill}</a>
        </li>
        <li>
          <a href="/import">{words.importing.menu}</a>
        </li>
      </ul>
    </details>
    <details class="drop" name="menu">
      <summary>{reader?.username}</summary>
      <ul>
        <li>
          <a href="/favourites" aria-current={at('favourites')}>
            {words.favourites}
          </a>
        </li>
        <li>
          <a href="/teams" aria-current={at('teams')}>
            {words.teams.teams}
          </a>
        </li>
        <li>
          <a href="/settings" aria-current={at('account')}>
            {words.settings}
          </a>
        </li>
        <li>
          <a href="/settings/access">{words.apiKeys}</a>
        </li>
        {reader?.isAdmin ? (
          <li>
            <a href="/admin">{words.administration}</a>
          </li>
        ) : null}
        <li>
          <form method="post" action="/sign-out">
            <button type="submit" class="link">
              {words.signOut}
            </button>
          </form>
        </li>
      </ul>
    </details>
  </>
)
