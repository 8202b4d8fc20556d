import type { FC } from 'hono/jsx'
import type { Site } from '../site.ts'

/** Which entry of the menu a page is. */
export type Current = 'prompts' | 'skills' | 'collections' | 'connect' | 'docs' | 'library' | 'favourites' | 'teams' | 'account' | undefined

interface HeaderProps {
  readonly site: Site
  readonly current: Current
  /** The text of the search field. Default: none */
  readonly query?: string | undefined
}

/**
 * The head of every page: brand, search, menu. Where there is little room, the menu is behind one button: the sheet shows the contents of
 * closed `<details>` where there is room, and browsers that cannot do so keep the button.
 */
export const Header: FC<HeaderProps> = ({ site, current, query = '' }) => {
  const { words, name, hasMcp, reader } = site
  const at = (entry: Current) => (entry === current ? 'page' : undefined)
  return (
    <header class="top">
      <div class="frame">
        <a class="brand" href="/">
          {name}
        </a>
        <HeaderSearch site={site} query={query} />
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

/** The field that searches everything. A plain form; the script reads its texts for rows from here. */
const HeaderSearch: FC<{ site: Site; query: string }> = ({ site: { words }, query }) => (
  <search>
    <form
      class="find"
      action="/search"
      method="get"
      data-copy={words.copy}
      data-copied={words.copied}
      data-failed={words.find.failed}
      data-voted={words.find.voted}
      data-unvoted={words.find.unvoted}
    >
      <input
        type="search"
        name="q"
        value={query}
        placeholder={words.search}
        aria-label={words.find.field}
        aria-keyshortcuts="/ Control+K Meta+K"
        maxlength={1000}
        autocomplete="off"
      />
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
