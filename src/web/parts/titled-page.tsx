import type { Child, FC } from 'hono/jsx'
import { Layout, type LayoutProps } from '../layout.tsx'
import type { PageRequest } from '../request.ts'
import { Done } from './field.tsx'

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
