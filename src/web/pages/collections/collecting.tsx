import { addToCollection, removeFromCollection } from '../../../operations/collections/collected-items.ts'
import { chooseCollections } from '../../../operations/collections/collections.ts'
import { Layout } from '../../layout.tsx'
import { createFromForm, NewCollection, readCollectingTeams } from '../../parts/collection-fields.tsx'
import { ActionButton, Done, Fault } from '../../parts/field.tsx'
import { PageLinks } from '../../parts/page-links.tsx'
import { type Action, type PageRequest, readListPage } from '../../request.ts'
import { CollectionSearch } from './collections.tsx'

const PER_PAGE = 24

type Kind = 'prompts' | 'skills'

/** The reader's collections, to put an item into. */
export function showCollecting(kind: Kind) {
  return async (request: PageRequest) => {
    const { site, call, ref, query, sent } = request
    const { words } = site
    const { collecting } = words
    const q = (query.get('q') ?? '').slice(0, 1000)
    const found = await readListPage(request, (page) => call(chooseCollections, { collection: kind, id: ref, q, page, perPage: PER_PAGE }))
    if ('to' in found) return found
    const teams = await readCollectingTeams(request)
    const path = new URL(found.item.url).pathname
    const toUrl = (page: number) => {
      const search = new URLSearchParams({ ...(q === '' ? {} : { q }), ...(page === 1 ? {} : { page: String(page) }) })
      return search.size === 0 ? `${path}/collections` : `${path}/collections?${search}`
    }
    return (
      <Layout site={site} title={collecting.addItem(found.item.title)} current={kind} isIndexed={false} styles={['admin.css']}>
        <h1 dir="auto">{collecting.addItem(found.item.title)}</h1>
        <p>
          <a href={path}>{collecting.back}</a>
        </p>
        {found.total > PER_PAGE || q !== '' ? <CollectionSearch site={site} query={q} /> : null}
        <Done words={words} query={query} sent={sent} />
        <Fault sent={sent} fields={['title', 'description', 'owner', 'visibility']} words={words} />
        {found.total === 0 ? (
          <p class="prose">{q === '' ? collecting.noneHelp : collecting.noneFound}</p>
        ) : (
          <ul class="entries">
            {found.collections.map(({ id, title, owner, url, holds, visibility }) => (
              <li>
                <div>
                  <a href={new URL(url).pathname} dir="auto">
                    {title}
                  </a>
                  <p class="quiet">
                    {words.visibilities[visibility]}
                    {owner === site.reader?.username ? null : ` · ${collecting.team(owner)}`}
                    {holds ? ` · ${collecting.isIn}` : null}
                  </p>
                </div>
                <ActionButton
                  class={holds ? 'button' : 'button first'}
                  does={holds ? 'remove' : 'add'}
                  values={{ id }}
                  label={holds ? collecting.removeFromNamed(title) : collecting.addToNamed(title)}
                >
                  {holds ? collecting.remove : collecting.add}
                </ActionButton>
              </li>
            ))}
          </ul>
        )}
        <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={toUrl} />
        <section>
          <h2>{collecting.creating}</h2>
          <NewCollection site={site} sent={sent} teams={teams} label={collecting.createAndAdd} />
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
      return { to: `${path}?done=uncollected` }
    }
    const id = form.text('do') === 'create' ? (await createFromForm(request)).id : form.text('id')
    await call(addToCollection, { id, items: [item.id] })
    return { to: `${path}?done=collected` }
  }
}
