import type { Child, FC } from 'hono/jsx'
import { LANGUAGES, wordsIn } from './language.ts'
import { Details, drawOnce, Link, LinkItem, Submit } from './parts/controls.tsx'
import type { Site } from './site.ts'

/** The entries of the menu, each with what the paths of its pages begin with. */
const ENTRIES = {
  prompts: ['prompts'],
  skills: ['skills', 'check'],
  collections: ['collections'],
  connect: ['connect'],
  docs: ['docs', 'rules'],
  library: ['library', 'trash', 'import', 'labels'],
  favourites: ['favourites'],
  teams: ['teams'],
  account: ['settings', 'admin'],
}
type Entry = keyof typeof ENTRIES

/** The reach and the text of the search field in the header. */
interface PageSearch {
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
const Header: FC<{ site: Site; current: string | undefined; search: PageSearch }> = ({ site, current, search }) => {
  const { words, name, hasMcp, reader } = site
  const at = (entry: Entry) => (entry === current ? 'page' : undefined)
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
const OwnLinks: FC<{ site: Site; at(entry: Entry): 'page' | undefined }> = ({ site: { words, reader }, at }) => (
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

export interface LayoutProps {
  readonly site: Site
  /** Of the page alone; the library's name is added. */
  readonly title: string | null
  readonly description?: string | undefined
  /** Canonical path, for search engines. */
  readonly path?: string | undefined
  /** Default: only with a canonical path */
  readonly isIndexed?: boolean | undefined
  /** More style sheets of this page, by the names of their files. */
  readonly styles?: readonly string[] | undefined
  /** More scripts of this page, by the names of their files. */
  readonly scripts?: readonly string[] | undefined
  /** Whether scripts change the page as it is first seen: it is shown after they ran. */
  readonly isDrawnByScripts?: boolean | undefined
  /** The type of the page for services that show links to it. Default: website */
  readonly kind?: 'website' | 'article' | 'profile' | undefined
  /** Path of a feed of what the page shows. Default: that of everything */
  readonly feed?: string | undefined
  /** Id of the shown item, if anyone may embed it. */
  readonly embeddedId?: string | undefined
  /** Where the browser is sent. A delay would be a barrier (WCAG 2.2.1). */
  readonly goesTo?: string | undefined
  /** The reach of the search field in the header. Default: everything */
  readonly search?: PageSearch | undefined
  readonly children?: Child
}

/** The frame of every page. */
export const Layout: FC<LayoutProps> = ({
  site,
  title,
  description,
  path,
  isIndexed = path !== undefined,
  styles = [],
  scripts = [],
  isDrawnByScripts = false,
  kind = 'website',
  feed = '/feed.xml',
  embeddedId,
  goesTo,
  search,
  children,
}) => {
  const { words, name, baseUrl, url } = site
  const fullTitle = title === null ? name : `${title} · ${name}`
  return (
    <html lang={words.language} data-theme={site.theme ?? undefined}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{fullTitle}</title>
        {description ? <meta name="description" content={description} /> : null}
        {goesTo === undefined ? null : <meta http-equiv="refresh" content={`0; url=${goesTo}`} />}
        {isIndexed ? null : <meta name="robots" content="noindex" />}
        <meta property="og:title" content={title ?? name} />
        <meta property="og:site_name" content={name} />
        <meta property="og:type" content={kind} />
        {path === undefined ? null : <meta property="og:url" content={`${baseUrl}${path}`} />}
        {description ? <meta property="og:description" content={description} /> : null}
        {embeddedId === undefined ? null : <EmbedLinks site={site} id={embeddedId} title={title ?? name} />}
        {path === undefined ? null : <link rel="canonical" href={`${baseUrl}${path}`} />}
        <link rel="preload" href={url('literata-latin-wght-normal.woff2')} as="font" type="font/woff2" crossorigin="anonymous" />
        <link rel="icon" href={url('favicon.svg')} type="image/svg+xml" />
        <link rel="icon" href="/favicon.ico" sizes="32x32" />
        {site.isForMembers ? null : <link rel="alternate" type="application/rss+xml" title={words.reading.feedTitle(name)} href={feed} />}
        {['site.css', ...(site.reader ? ['members.css'] : []), ...styles].map((name) => (
          <link rel="stylesheet" href={url(name)} />
        ))}
        {['site.js', 'find.js', ...(site.reader ? ['members.js'] : []), ...scripts].map((name) => (
          <script src={url(name)} type="module" blocking={isDrawnByScripts ? 'render' : undefined} />
        ))}
      </head>
      <body data-reader={site.reader?.username}>
        <Link to="#content" look="skip" text={words.skip} />
        {drawHeader(site, search)}
        <main class="frame" id="content">
          {children}
        </main>
        {drawFooter(site)}
      </body>
    </html>
  )
}

/** The header, which is the same on many pages for anonymous readers. */
function drawHeader(site: Site, search: PageSearch | undefined): Child {
  const [, start = ''] = site.path.split(/[/?]/)
  const current = Object.entries(ENTRIES).find(([, starts]) => starts.includes(start))?.[0]
  const draw = () => <Header site={site} current={current} search={search ?? {}} />
  if (site.reader !== null || search !== undefined) return draw()
  return drawOnce(site.words, JSON.stringify(['header', site.name, site.hasMcp, current]), draw)
}

function drawFooter({ words, name, isForMembers, hasPublicItems, reader }: Site): Child {
  const isSignedIn = reader !== null
  return drawOnce(words, JSON.stringify(['footer', name, isForMembers, hasPublicItems, isSignedIn]), () => (
    <footer class="foot">
      <div class="frame">
        <span>{name}</span>
        {isForMembers && !(hasPublicItems && isSignedIn) ? null : <a href="/embeds">{words.designer.title}</a>}
        {isSignedIn ? null : <LanguageSwitch words={words} />}
      </div>
    </footer>
  ))
}

/** oEmbed discovery and preview image. */
const EmbedLinks: FC<{ site: Site; id: string; title: string }> = ({ site: { baseUrl }, id, title }) => (
  <>
    <link
      rel="alternate"
      type="application/json+oembed"
      title={title}
      href={`${baseUrl}/api/oembed?url=${encodeURIComponent(`${baseUrl}/embed/${id}`)}&format=json`}
    />
    <meta property="og:image" content={`${baseUrl}/api/embed/image/${id}.png`} />
    <meta property="og:image:width" content="1200" />
    <meta property="og:image:height" content="630" />
    <meta name="twitter:card" content="summary_large_image" />
  </>
)

/** Buttons for the other languages, each with its own name: those who need one may not read this page's. They lead back to this page. */
const LanguageSwitch: FC<{ words: Site['words'] }> = ({ words }) => (
  <form method="post" action="/language">
    {LANGUAGES.filter((language) => language !== words.language).map((language) => (
      <Submit look="link" name="language" value={language} lang={language} text={wordsIn(language).languages.name} />
    ))}
  </form>
)
