import type { Child, FC } from 'hono/jsx'
import { Layout } from '../layout.tsx'
import type { PageRequest } from '../request.ts'
import { LinkLine } from './controls.tsx'
import { Alert, Done } from './field.tsx'

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
  <Layout site={site} title={name} isIndexed={false} {...more}>
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
