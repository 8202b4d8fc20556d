import type { Child, FC } from 'hono/jsx'
import { Link, Submit } from './parts/controls.tsx'
import { drawOnce } from './parts/draw-once.ts'
import { type Current, Header, type PageSearch } from './parts/header.tsx'
import type { Site } from './site.ts'
import { LANGUAGES, wordsIn } from './strings/languages.ts'

export interface LayoutProps {
  readonly site: Site
  /** Of the page alone; the library's name is added. */
  readonly title: string | null
  readonly description?: string | undefined
  /** Canonical path, for search engines. */
  readonly path?: string | undefined
  /** Which entry of the menu this is. */
  readonly current?: Current
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
  current,
  isIndexed = true,
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
        {drawHeader(site, current, search)}
        <main class="frame" id="content">
          {children}
        </main>
        {drawFooter(site)}
      </body>
    </html>
  )
}

/** The header, which is the same on many pages for anonymous readers. */
function drawHeader(site: Site, current: Current, search: PageSearch | undefined): Child {
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
