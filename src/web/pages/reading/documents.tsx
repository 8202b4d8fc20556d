import { raw } from 'hono/html'
import type { FC } from 'hono/jsx'
import { DOCUMENTS, readDocument } from '../../documents.ts'
import { Layout } from '../../layout.tsx'
import { ConnectBox } from '../../parts/connect-box.tsx'
import { DocumentFrame, DocumentHead } from '../../parts/document-frame.tsx'
import type { PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'

type Name = (typeof DOCUMENTS)[keyof typeof DOCUMENTS][number]['name']

/** The index of the documents. */
export async function showDocuments({ site }: PageRequest) {
  const { words } = site
  return (
    <Layout site={site} title={words.documents} description={words.documentsLead} path="/docs" current="docs">
      <h1>{words.documents}</h1>
      <p class="lead">{words.documentsLead}</p>
      <Index site={site} sources={DOCUMENTS.guides} />
      <h2>{words.references}</h2>
      <Index site={site} sources={DOCUMENTS.references} />
    </Layout>
  )
}

const Index: FC<{ site: Site; sources: readonly { readonly name: Name; readonly isOfMcp?: boolean }[] }> = ({ site, sources }) => (
  <dl class="index">
    {sources
      .filter((source) => site.hasMcp || !source.isOfMcp)
      .map(({ name }) => (
        <div>
          <dt>
            <a href={`/docs/${name}`}>{readDocument(name, site).title}</a>
          </dt>
          <dd>{site.words.aboutDocuments[name]}</dd>
        </div>
      ))}
  </dl>
)

/** A page that shows one document, with its sections in the margin. */
export function showDocument(name: Name) {
  return async ({ site }: PageRequest) => {
    const { words } = site
    const { title, html, sections } = readDocument(name, site)
    return (
      <Layout
        site={site}
        title={title}
        description={words.aboutDocuments[name]}
        path={`/docs/${name}`}
        current={name === 'connect' ? 'connect' : 'docs'}
      >
        <DocumentFrame site={site} name={name}>
          <article class="document">
            <DocumentHead site={site} title={title} />
            {sections.length < 2 ? null : (
              <nav class="contents" aria-label={words.onThisPage}>
                <ul>
                  {sections.map(({ id, text }) => (
                    <li>
                      <a href={`#${id}`}>{text}</a>
                    </li>
                  ))}
                </ul>
              </nav>
            )}
            <div>
              {name === 'connect' ? <ConnectBox site={site} /> : null}
              <div class="written">{raw(html)}</div>
            </div>
          </article>
        </DocumentFrame>
      </Layout>
    )
  }
}
