import type { Child, FC } from 'hono/jsx'
import { ALL_DOCUMENTS, DOCUMENT_GROUPS, DOCUMENTS, type DocumentSource, readDocument } from '../documents.ts'
import { markEnglish } from '../language.ts'
import type { Site } from '../site.ts'
import { LinkItem } from './controls.tsx'

interface DocumentFrameProps {
  readonly site: Site
  /** Of the document that is shown, below `/docs/`. */
  readonly name: string
  readonly children?: Child
}

/** A document between the index of all, which small screens fold, and the links to its neighbours. */
export const DocumentFrame: FC<DocumentFrameProps> = ({ site, name, children }) => {
  const { words } = site
  const shown = ALL_DOCUMENTS.filter((source) => isShown(source, site))
  const place = shown.findIndex((source) => source.name === name)
  const previous = shown[place - 1]
  const next = shown[place + 1]
  return (
    <div class="docs">
      <details class="docs-index">
        <summary>{words.allDocuments}</summary>
        <nav aria-label={words.allDocuments}>
          {DOCUMENT_GROUPS.map((group) => (
            <>
              <p class="kind">{words.documentGroups[group]}</p>
              <Titles site={site} sources={DOCUMENTS[group]} name={name} />
            </>
          ))}
        </nav>
      </details>
      <div>
        {children}
        <nav class="neighbours" aria-label={words.neighbours}>
          {previous ? (
            <a href={`/docs/${previous.name}`} rel="prev">
              <span class="kind">{words.previousDocument}</span>{' '}
              <span lang={markEnglish(words)}>{readDocument(previous.name, site).title}</span>
            </a>
          ) : null}
          {next ? (
            <a href={`/docs/${next.name}`} rel="next">
              <span class="kind">{words.nextDocument}</span> <span lang={markEnglish(words)}>{readDocument(next.name, site).title}</span>
            </a>
          ) : null}
        </nav>
      </div>
    </div>
  )
}

function isShown({ isOfMcp }: DocumentSource, { hasMcp }: Site): boolean {
  return hasMcp || !isOfMcp
}

const Titles: FC<{ site: Site; sources: readonly DocumentSource[]; name: string }> = ({ site, sources, name }) => (
  <ul>
    {sources
      .filter((source) => isShown(source, site))
      .map((source) => (
        <LinkItem
          to={`/docs/${source.name}`}
          aria-current={source.name === name ? 'page' : undefined}
          lang={markEnglish(site.words)}
          text={readDocument(source.name, site).title}
        />
      ))}
  </ul>
)

/** The head of a document: the way to all documents, and its title. */
export const DocumentHead: FC<{ site: Site; title: string }> = ({ site, title }) => (
  <header>
    <p class="quiet">
      <a href="/docs">{site.words.documents}</a>
    </p>
    <h1 lang={markEnglish(site.words)}>{title}</h1>
  </header>
)
