import type { Child, FC } from 'hono/jsx'
import { DOCUMENT_GROUPS, type DocumentName, listDocuments, readDocument } from '../documents.ts'
import { markEnglish } from '../language.ts'
import { Layout, type LayoutProps } from '../layout.tsx'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { Details, LinkItem, LinkLine } from './controls.tsx'
import { Alert, Done, Fault } from './field.tsx'

interface TitledPageProps extends Omit<LayoutProps, 'site'> {
  readonly request: Pick<PageRequest, 'site' | 'query' | 'sent'>
  /** Default: the title */
  readonly heading?: string
  /** The page that it belongs to. */
  readonly above?: Child
  readonly lead?: string
  /** After the lead: where more is said. */
  readonly about?: Child
}

/** A page with a heading and what it is for, which says what was just done. */
export const TitledPage: FC<TitledPageProps> = ({ request, heading, above, lead, about, children, ...layout }) => {
  const { site, query, sent } = request
  return (
    <Layout site={site} {...layout}>
      {above ? <p class="quiet">{above}</p> : null}
      <h1>{heading ?? layout.title}</h1>
      {lead ? (
        <p class="lead">
          {lead} {about}
        </p>
      ) : null}
      <Done words={site.words} query={query} sent={sent} />
      {children}
    </Layout>
  )
}

interface SectionPageProps {
  readonly request: PageRequest
  /** The path of its section. */
  readonly at: string
  /** The heading, where the page is of one thing of its section. */
  readonly title?: string | undefined
  /** The names of its forms, which show their own faults; those of buttons stand above everything. */
  readonly forms?: readonly string[]
  /** More style sheets, by the names of their files. */
  readonly styles?: readonly string[]
  /** More scripts, by the names of their files. */
  readonly scripts?: readonly string[]
  readonly children?: Child
}

/** A page of the settings or of the administration, with all sections at the side; on a phone, behind one button. */
export const SectionPage: FC<SectionPageProps> = ({ request, at, title, forms = [], styles = [], scripts, children }) => {
  const { site, query, sent } = request
  const { words, reader } = site
  const isAdmin = at.startsWith('/admin')
  const of = isAdmin ? words.administration : words.settings
  const own = { ...words.settingsSections, ...(reader?.isAdmin ? { '/admin': words.administration } : {}) }
  const sections: Readonly<Record<string, string>> = isAdmin ? words.adminSections : own
  const heading = title ?? sections[at]
  return (
    <Layout site={site} title={`${heading} · ${of}`} styles={['admin.css', ...styles]} scripts={scripts}>
      <div class="sections">
        <nav aria-label={of}>
          <Details class="section-menu" summary={of}>
            <ul>
              {Object.entries(sections).map(([path, name]) => (
                <LinkItem to={path} current={path === at && 'page'} text={name} />
              ))}
            </ul>
          </Details>
        </nav>
        <div>
          <h1 dir="auto">{heading}</h1>
          <Done words={words} query={query} sent={sent} />
          <Fault sent={sent && forms.includes(sent.form.text('do')) ? null : sent} words={words} />
          {children}
        </div>
      </div>
    </Layout>
  )
}

interface NarrowPageProps {
  readonly request: Pick<PageRequest, 'site' | 'query' | 'sent'>
  readonly title: string
  /** The name of the page where it is not its heading. */
  readonly name?: string
  /** Why the link that led here does not work. */
  readonly dead?: string | null | undefined
  readonly scripts?: readonly string[]
  /** Where the browser is sent. */
  readonly goesTo?: string
  readonly children?: Child
}

/** A page of one form, such as to sign in. Search engines do not list it. */
export const NarrowPage: FC<NarrowPageProps> = ({ request: { site, query, sent }, title, name = title, dead, children, ...more }) => (
  <Layout site={site} title={name} {...more}>
    <div class="narrow">
      <h1>{title}</h1>
      <Done words={site.words} query={query} sent={sent} />
      {dead ? <Alert text={dead} /> : null}
      {children}
    </div>
  </Layout>
)

/** Leads to another site by a page: the content policy lets forms lead nowhere else. */
export const LeavePage: FC<{
  request: Pick<PageRequest, 'site' | 'query' | 'sent'>
  title: string
  lead: string
  goOn: string
  url: string
  name?: string
}> = ({ lead, goOn, url, ...page }) => (
  <NarrowPage {...page} goesTo={url}>
    <p>{lead}</p>
    <LinkLine to={url} look="button first" rel="noreferrer" text={goOn} />
  </NarrowPage>
)

interface DocumentFrameProps {
  readonly site: Site
  /** Of the document that is shown, below `/docs/`. */
  readonly name: DocumentName
  readonly children?: Child
}

/** A document between the index of all, which small screens fold, and the links to its neighbours. */
export const DocumentFrame: FC<DocumentFrameProps> = ({ site, name, children }) => {
  const { words } = site
  const shown = listDocuments(site)
  const place = shown.indexOf(name)
  const neighbour = (to: DocumentName | undefined, rel: string, kind: string) =>
    to === undefined ? null : (
      <a href={`/docs/${to}`} rel={rel}>
        <span class="kind">{kind}</span> <span lang={markEnglish(words)}>{readDocument(to, site).title}</span>
      </a>
    )
  return (
    <div class="docs">
      <Details class="docs-index" summary={words.allDocuments}>
        <nav aria-label={words.allDocuments}>
          {DOCUMENT_GROUPS.map((group) => (
            <>
              <p class="kind">{words.documentGroups[group]}</p>
              <ul>
                {listDocuments(site, group).map((one) => (
                  <LinkItem
                    to={`/docs/${one}`}
                    current={one === name && 'page'}
                    lang={markEnglish(words)}
                    text={readDocument(one, site).title}
                  />
                ))}
              </ul>
            </>
          ))}
        </nav>
      </Details>
      <div>
        {children}
        <nav class="neighbours" aria-label={words.neighbours}>
          {neighbour(shown[place - 1], 'prev', words.previousDocument)}
          {neighbour(shown[place + 1], 'next', words.nextDocument)}
        </nav>
      </div>
    </div>
  )
}

/** The head of a document: the way to all documents, and its title. */
export const DocumentHead: FC<{ site: Site; title: string }> = ({ site, title }) => (
  <header>
    <p class="quiet">
      <a href="/docs">{site.words.documents}</a>
    </p>
    <h1 lang={markEnglish(site.words)}>{title}</h1>
  </header>
)
