import type { FC } from 'hono/jsx'
import type { z } from 'zod'
import { VISIBILITIES } from '../../../domain/items/visibility.ts'
import { hasRight } from '../../../domain/people/teams.ts'
import {
  addToCollection,
  chooseCollections,
  createCollection,
  type foundCollection,
  listCollections,
  removeFromCollection,
} from '../../../operations/collections/collections.ts'
import { listTeams } from '../../../operations/teams/teams.ts'
import type { SentForm } from '../../forms.ts'
import { Layout } from '../../layout.tsx'
import { Details, Link, LinkItem, Section } from '../../parts/controls.tsx'
import { authorPath } from '../../parts/facts.tsx'
import { ActionButton, Done, Fault } from '../../parts/field.tsx'
import { Form, sentWith } from '../../parts/form.tsx'
import { ListSearch, PageLinks, toListUrl } from '../../parts/lists.tsx'
import { TitledPage } from '../../parts/page-frames.tsx'
import { type Action, done, type PageRequest, readListPage } from '../../request.ts'
import type { Site } from '../../site.ts'

/** Teams that the reader may create collections for. */
async function readCollectingTeams({ site, call }: PageRequest): Promise<string[]> {
  if (!site.reader) return []
  const { teams } = await call(listTeams, {})
  return teams.filter(({ role }) => hasRight(role, 'edit')).map(({ name }) => name)
}

interface NewCollectionProps {
  readonly request: PageRequest
  /** Teams that the reader may create one for, by name. */
  readonly teams: readonly string[]
  /** The label of the button. */
  readonly label: string
  readonly action?: string
}

/** The form of a new collection. */
const NewCollection: FC<NewCollectionProps> = ({ request, teams, label, action }) => {
  const { collecting, visibilityMeans, privateToOwner } = request.words
  const means = teams.length === 0 ? visibilityMeans : { ...visibilityMeans, private: privateToOwner }
  return (
    <Form
      request={request}
      does="create"
      of={createCollection}
      action={action}
      fields={{
        title: { label: request.words.title, autocomplete: 'off' },
        description: { label: request.words.description, rows: 2 },
        ...(teams.length > 0 && {
          owner: {
            label: request.words.owner,
            options: [['', collecting.yourself] as const, ...teams.map((name) => [name, request.words.teamNamed(name)] as const)],
          },
        }),
        visibility: {
          label: request.words.visibility,
          options: [['', collecting.asDefault], ...VISIBILITIES.map((one) => [one, means[one]] as const)],
        },
      }}
      submit={label}
    />
  )
}

/** Creates the collection of the form. */
async function createFromForm({ call, form }: Pick<PageRequest, 'call'> & { readonly form: SentForm }) {
  const { collection } = await call(createCollection, {
    title: form.text('title'),
    owner: form.text('owner') || undefined,
    description: form.text('description') || undefined,
    visibility: form.text('visibility') === '' ? undefined : form.choice('visibility', VISIBILITIES),
  })
  return collection
}

const PER_PAGE = 24
const MAX_QUERY = 1_000

type Listed = z.infer<typeof foundCollection>

/** Collections that the reader finds, with a form for another. */
export async function showCollections(request: PageRequest) {
  const { site, words, call, query, sent } = request
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

type Kind = 'prompts' | 'skills'

/** The reader's collections, with a tick at those that an item is in. A script shows this part beside the item. */
export function showCollecting(kind: Kind) {
  return async (request: PageRequest) => {
    const { site, words, call, ref, query, sent } = request
    const { collecting } = words
    const q = (query.get('q') ?? '').slice(0, MAX_QUERY)
    const found = await readListPage(request, (page) => call(chooseCollections, { collection: kind, id: ref, q, page, perPage: PER_PAGE }))
    if ('to' in found) return found
    const teams = await readCollectingTeams(request)
    const path = new URL(found.item.url).pathname
    const here = `${path}/collections`
    return (
      <Layout site={site} title={collecting.addItem(found.item.title)} styles={['admin.css']}>
        <p class="quiet">
          <Link to={path} dir="auto" text={found.item.title} />
        </p>
        <section data-collecting={words.find.close}>
          <h1 dir="auto">{collecting.addItem(found.item.title)}</h1>
          <Done words={words} query={query} sent={sent} />
          <Fault sent={sentWith(sent, 'add', 'remove')} words={words} />
          {found.total > PER_PAGE || q !== '' ? (
            <ListSearch words={words} label={words.find.fields.collections} query={q} maxlength={MAX_QUERY} action={here} />
          ) : null}
          {found.total === 0 ? <p class="prose">{q === '' ? collecting.noneHelp : collecting.noneFound}</p> : null}
          <ul class="ticks">
            {found.collections.map(({ id, title, owner, holds, visibility }) => (
              <li>
                <ActionButton class="link" action={here} does={holds ? 'remove' : 'add'} values={{ id }} isPressed={holds}>
                  <span dir="auto">{title}</span>
                </ActionButton>{' '}
                <span class="quiet">
                  {words.visibilities[visibility]}
                  {owner === site.reader?.username ? null : ` · ${words.teamNamed(owner)}`}
                </span>
              </li>
            ))}
          </ul>
          <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={(page) => toListUrl(here, { q }, page)} />
          <details open={found.total === 0 || sentWith(sent, 'create') !== null}>
            <summary>{collecting.creating}…</summary>
            <NewCollection request={request} teams={teams} label={collecting.createAndAdd} action={here} />
          </details>
        </section>
      </Layout>
    )
  }
}

/** Adds the item to a collection or a new one, or removes it. */
export function collectItem(kind: Kind): Action {
  return async (request) => {
    const { call, form, ref, path } = request
    const { item } = await call(chooseCollections, { collection: kind, id: ref, perPage: 1 })
    if (form.text('do') === 'remove') {
      await call(removeFromCollection, { id: form.text('id'), items: [item.id] })
      return done(path, 'uncollected')
    }
    const id = form.text('do') === 'create' ? (await createFromForm(request)).id : form.text('id')
    await call(addToCollection, { id, items: [item.id] })
    return done(path, 'collected')
  }
}
