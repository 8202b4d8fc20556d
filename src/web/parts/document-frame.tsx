import type { Child, FC } from 'hono/jsx'
import { DOCUMENT_GROUPS, type DocumentName, listDocuments, readDocument } from '../documents.ts'
import { markEnglish } from '../language.ts'
import type { Site } from '../site.ts'
import { Details, LinkItem } from './controls.tsx'

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
