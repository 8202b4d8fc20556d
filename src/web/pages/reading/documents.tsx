import { raw } from 'hono/html'
import type { Child, FC } from 'hono/jsx'
import { cutAtWord } from '../../../domain/text/characters.ts'
import { readMarks } from '../../../search/analysis/mark-words.ts'
import { DOCUMENT_GROUPS, type DocumentName, listDocuments, readDocument, searchDocuments } from '../../documents.ts'
import { markEnglish } from '../../language.ts'
import { Layout } from '../../layout.tsx'
import { ConnectBox } from '../../parts/connect.tsx'
import { Link, LinkItem, Section } from '../../parts/controls.tsx'
import { Fact } from '../../parts/facts.tsx'
import { DocumentFrame, DocumentHead } from '../../parts/page-frames.tsx'
import { findPassage, Highlight, readStart } from '../../parts/row-text.ts'
import type { PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'

/** Longest query that is read, in UTF-16 units. */
const MAX_QUERY = 200

/** How much of a section a hit shows, in UTF-16 units. */
const SHOWN = 240

/** The index of the documents, or the sections that a query finds. */
export async function showDocuments({ site, words, query }: PageRequest) {
  const q = (query.get('q') ?? '').slice(0, MAX_QUERY)
  if (q.trim() !== '') return <Found site={site} query={q} />
  return (
    <Layout site={site} title={words.documents} description={words.documentsLead} path="/docs" search={{ list: 'docs' }}>
      <h1>{words.documents}</h1>
      <p class="lead">{words.documentsLead}</p>
      {DOCUMENT_GROUPS.map((group) => (
        <Section title={words.documentGroups[group]}>
          <Index site={site} names={listDocuments(site, group)}>
            {group === 'reference' ? (
              <Fact label={<Link to="/rules" text={words.findings.rules} />}>{words.findings.rulesLead}</Fact>
            ) : null}
          </Index>
        </Section>
      ))}
    </Layout>
  )
}

/** Sections with words of a query. */
const Found: FC<{ site: Site; query: string }> = ({ site, query }) => {
  const { words } = site
  const hits = searchDocuments(query, site)
  const marks = readMarks(query)
  return (
    <Layout site={site} title={words.find.results(query)} path="/docs" isIndexed={false} search={{ list: 'docs', query }}>
      <h1>{words.documents}</h1>
      <p class="quiet" role="status">
        {hits.length === 0 ? words.nothingFound : words.sectionsFound(hits.length)} <a href="/docs">{words.allDocuments}</a>
      </p>
      <ol class="rows">
        {hits.map(({ name, document, id, title, text }) => {
          const start = marks === null ? 0 : findPassage(readStart(text), marks)
          return (
            <li>
              <h3>
                <a href={id === '' ? `/docs/${name}` : `/docs/${name}#${id}`} lang={markEnglish(words)}>
                  <Highlight text={title} marks={marks} />
                </a>
              </h3>
              {title === document ? null : (
                <p class="quiet" lang={markEnglish(words)}>
                  {document}
                </p>
              )}
              <p class="first-words" lang={markEnglish(words)}>
                {start > 0 ? '… ' : null}
                <Highlight text={cutAtWord(text.slice(start), SHOWN)} marks={marks} />
              </p>
            </li>
          )
        })}
      </ol>
    </Layout>
  )
}

const Index: FC<{ site: Site; names: readonly DocumentName[]; children?: Child }> = ({ site, names, children }) => (
  <dl class="index">
    {names.map((name) => (
      <Fact label={<Link to={`/docs/${name}`} lang={markEnglish(site.words)} text={readDocument(name, site).title} />}>
        {site.words.aboutDocuments[name]}
      </Fact>
    ))}
    {children}
  </dl>
)

/** A page that shows one document, with its sections in the margin. */
export function showDocument(name: DocumentName) {
  return async ({ site, words }: PageRequest) => {
    const { title, html, sections } = readDocument(name, site)
    return (
      <Layout site={site} title={title} description={words.aboutDocuments[name]} path={`/docs/${name}`} search={{ list: 'docs' }}>
        <DocumentFrame site={site} name={name}>
          <article class="document">
            <DocumentHead site={site} title={title} />
            {sections.length < 2 ? null : (
              <nav class="contents" aria-label={words.onThisPage}>
                <ul>
                  {sections.map(({ id, text }) => (
                    <LinkItem to={`#${id}`} lang={markEnglish(words)} text={text} />
                  ))}
                </ul>
              </nav>
            )}
            <div>
              {name === 'connect' ? <ConnectBox site={site} /> : null}
              <div class="written" lang={markEnglish(words)}>
                {raw(html)}
              </div>
            </div>
          </article>
        </DocumentFrame>
      </Layout>
    )
  }
}
