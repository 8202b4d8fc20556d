import type { Child, FC } from 'hono/jsx'
import { Layout } from '../layout.tsx'
import type { PageRequest } from '../request.ts'
import { Done, Fault } from './field.tsx'

interface SectionsPageProps {
  readonly request: PageRequest
  /** The title of all sections. */
  readonly of: string
  /** Names of the sections by their paths. */
  readonly sections: Readonly<Record<string, string>>
  readonly at: string
  /** More style sheets, by the names of their files. */
  readonly styles?: readonly string[] | undefined
  /** More scripts, by the names of their files. */
  readonly scripts?: readonly string[] | undefined
  /** The heading, where the page is of one thing of its section. */
  readonly title?: string | undefined
  /** The names of its forms, which show their own faults; those of buttons stand above everything. */
  readonly forms?: readonly string[] | undefined
  readonly children?: Child
}

/** A page of several sections, each at an address of its own, with all of them at the side; on a phone, behind one button. */
export const SectionsPage: FC<SectionsPageProps> = ({
  request: { site, query, sent },
  of,
  sections,
  at,
  styles,
  scripts,
  title = sections[at],
  forms = [],
  children,
}) => (
  <Layout site={site} title={`${title} · ${of}`} current="account" isIndexed={false} styles={styles} scripts={scripts}>
    <div class="sections">
      <nav aria-label={of}>
        <details class="section-menu">
          <summary>{of}</summary>
          <ul>
            {Object.entries(sections).map(([path, name]) => (
              <li>
                <a href={path} aria-current={path === at ? 'page' : undefined}>
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </details>
      </nav>
      <div>
        <h1 dir="auto">{title}</h1>
        <Done words={site.words} query={query} sent={sent} />
        <Fault sent={sent && forms.includes(sent.form.text('do')) ? null : sent} words={site.words} />
        {children}
      </div>
    </div>
  </Layout>
)
