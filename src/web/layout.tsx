import type { Child, FC } from 'hono/jsx'
import type { Site } from './site.ts'

interface LayoutProps {
  readonly site: Site
  /** Of the page alone; the library's name is added. */
  readonly title: string | null
  readonly description?: string | undefined
  /** Path of the page under which it is known, for search engines. */
  readonly path?: string | undefined
  /** Which entry of the menu this is. */
  readonly current?: 'prompts' | 'skills' | 'connect' | undefined
  readonly isIndexed?: boolean | undefined
  readonly children?: Child
}

/** What every page stands in. */
export const Layout: FC<LayoutProps> = ({ site, title, description, path, current, isIndexed = true, children }) => {
  const { words, name, baseUrl, url, hasMcp } = site
  const fullTitle = title === null ? name : `${title} · ${name}`
  const at = (entry: LayoutProps['current']) => (entry === current ? 'page' : undefined)
  return (
    <html lang={words.language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{fullTitle}</title>
        {description ? <meta name="description" content={description} /> : null}
        {isIndexed ? null : <meta name="robots" content="noindex" />}
        <meta property="og:title" content={title ?? name} />
        <meta property="og:site_name" content={name} />
        <meta property="og:type" content="website" />
        {description ? <meta property="og:description" content={description} /> : null}
        {path === undefined ? null : <link rel="canonical" href={`${baseUrl}${path}`} />}
        <link rel="preload" href={url('literata-latin-wght-normal.woff2')} as="font" type="font/woff2" crossorigin="anonymous" />
        <link rel="stylesheet" href={url('site.css')} />
        <script src={url('site.js')} type="module" />
      </head>
      <body>
        <a class="skip" href="#content">
          {words.skip}
        </a>
        <header class="top">
          <nav class="frame" aria-label={name}>
            <a class="brand" href="/">
              {name}
            </a>
            <a href="/prompts" aria-current={at('prompts')}>
              {words.prompts}
            </a>
            <a href="/skills" aria-current={at('skills')}>
              {words.skills}
            </a>
            {hasMcp ? (
              <a href="/docs/connect" aria-current={at('connect')}>
                {words.connect}
              </a>
            ) : null}
          </nav>
        </header>
        <main class="frame" id="content">
          {children}
        </main>
        <footer class="foot">
          <div class="frame">
            <span>{name}</span>
            <a href="/api/openapi.json">{words.apiReference}</a>
          </div>
        </footer>
      </body>
    </html>
  )
}
