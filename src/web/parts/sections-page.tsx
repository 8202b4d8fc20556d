import type { Child, FC } from 'hono/jsx'
import { Layout } from '../layout.tsx'
import type { PageRequest } from '../request.ts'
import { Details, LinkItem } from './controls.tsx'
import { Done, Fault } from './field.tsx'

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
    <Layout
      site={site}
      title={`${heading} · ${of}`}
      current="account"
      isIndexed={false}
      styles={['admin.css', ...styles]}
      scripts={scripts}
    >
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
