import type { FC } from 'hono/jsx'
import type { Site } from '../site.ts'
import { Details, Link, LinkItem, Submit } from './controls.tsx'

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

/**
 * The head of every page: brand, search, menu. Where there is little room, the menu is behind one button: the sheet shows the contents of
 * closed `<details>` where there is room, and browsers that cannot do so keep the button.
 */
export const Header: FC<{ site: Site; current: Current; search: PageSearch }> = ({ site, current, search }) => {
  const { words, name, hasMcp, reader } = site
  const at = (entry: Current) => (entry === current ? 'page' : undefined)
  return (
    <header class="top">
      <div class="frame">
        <Link to="/" look="brand" text={name} />
        <HeaderSearch site={site} search={search} />
        <Details class="site-menu" summary={words.find.menu}>
          <nav aria-label={name}>
            <Link to="/prompts" current={at('prompts')} text={words.prompts} />
            <Link to="/skills" current={at('skills')} text={words.skills} />
            <Link to="/collections" current={at('collections')} text={words.collecting.collections} />
            {hasMcp ? <Link to="/connect" current={at('connect')} text={words.connect} /> : null}
            <Link to="/docs" current={at('docs')} text={words.docs} />
            {reader ? <OwnLinks site={site} at={at} /> : <Link to="/sign-in" look="apart" rel="nofollow" text={words.signIn} />}
          </nav>
        </Details>
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
    <Link to="/library" look="apart" current={at('library')} text={words.myLibrary} />
    <Details class="drop" name="menu" summary={words.newItem}>
      <ul>
        <LinkItem to="/new" text={words.newPrompt} />
        <LinkItem to="/new/skill" text={words.newSkill} />
        <LinkItem to="/import" text={words.importing.menu} />
      </ul>
    </Details>
    <Details class="drop" name="menu" summary={reader?.username}>
      <ul>
        <LinkItem to="/favourites" current={at('favourites')} text={words.favourites} />
        <LinkItem to="/teams" current={at('teams')} text={words.teams.teams} />
        <LinkItem to="/settings" current={at('account')} text={words.settings} />
        <LinkItem to="/settings/access" text={words.apiKeys} />
        {reader?.isAdmin ? <LinkItem to="/admin" text={words.administration} /> : null}
        <li>
          <form method="post" action="/sign-out">
            <Submit look="link" text={words.signOut} />
          </form>
        </li>
      </ul>
    </Details>
  </>
)
