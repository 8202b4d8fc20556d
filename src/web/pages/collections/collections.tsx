import type { FC } from 'hono/jsx'
import type { z } from 'zod'
import type { foundCollection } from '../../../operations/collections/collection-records.ts'
import { listCollections } from '../../../operations/collections/collections.ts'
import { createFromForm, NewCollection, readCollectingTeams } from '../../parts/collection-fields.tsx'
import { Details, LinkItem, Section } from '../../parts/controls.tsx'
import { toListUrl } from '../../parts/entries.tsx'
import { authorPath } from '../../parts/facts.tsx'
import { PageLinks } from '../../parts/page-links.tsx'
import { TitledPage } from '../../parts/titled-page.tsx'
import { type Action, done, type PageRequest, readListPage } from '../../request.ts'
import type { Site } from '../../site.ts'

const PER_PAGE = 24
const MAX_QUERY = 1_000

type Listed = z.infer<typeof foundCollection>

/** Collections that the reader finds, with a form for another. */
export async function showCollections(request: PageRequest) {
  const { site, call, query, sent } = request
  const { words } = site
  const { collecting } = words
  const q = (query.get('q') ?? '').slice(0, MAX_QUERY)
  const found = await readListPage(request, (page) => call(listCollections, { q, page, perPage: PER_PAGE }))
  if ('to' in found) return found
  const teams = await readCollectingTeams(request)
  return (
    <TitledPage
      request={request}
      title={collecting.collections}
      lead={collecting.lead}
      about={<a href="/docs/collections">{collecting.about}</a>}
      description={collecting.lead}
      path="/collections"
      current="collections"
      search={{ list: 'collections', query: q }}
      isIndexed={query.size === 0 && found.total > 0}
    >
      {site.reader ? (
        <Details class="install" open={sent !== null} summary={collecting.creating}>
          <NewCollection request={request} teams={teams} label={collecting.create} />
        </Details>
      ) : null}
      {found.total === 0 ? (
        <Section title={q === '' ? collecting.none : collecting.noneFound}>
          <p class="prose">{collecting.noneHelp}</p>
        </Section>
      ) : (
        <>
          <h2 class="visually-hidden">{collecting.counts(found.total)}</h2>
          <ol class="rows">
            {found.collections.map((collection) => (
              <CollectionRow site={site} collection={collection} />
            ))}
          </ol>
        </>
      )}
      <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={(page) => toListUrl('/collections', { q }, page)} />
    </TitledPage>
  )
}

const CollectionRow: FC<{ site: Site; collection: Listed }> = ({ site: { words }, collection }) => {
  const { title, description, owner, visibility, prompts, skills, url } = collection
  return (
    <li>
      <h3 dir="auto">
        <a href={new URL(url).pathname}>{title}</a>
      </h3>
      <ul class="facts line">
        {visibility === 'public' ? null : <li>{words.visibilities[visibility]}</li>}
        <LinkItem to={authorPath(owner)} text={owner} />
        <li>{words.collecting.holds(prompts, skills)}</li>
      </ul>
      {description === null ? null : (
        <p class="description" dir="auto">
          {description}
        </p>
      )}
    </li>
  )
}

export const createCollectionHere: Action = async (request) => {
  const { url } = await createFromForm(request)
  return done(new URL(url).pathname, 'collection-created')
}
