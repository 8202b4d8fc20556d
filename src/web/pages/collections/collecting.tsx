import { addToCollection, removeFromCollection } from '../../../operations/collections/collected-items.ts'
import { chooseCollections } from '../../../operations/collections/collections.ts'
import { Layout } from '../../layout.tsx'
import { createFromForm, NewCollection, readCollectingTeams } from '../../parts/collection-fields.tsx'
import { Link } from '../../parts/controls.tsx'
import { ListSearch, toListUrl } from '../../parts/entries.tsx'
import { ActionButton, Done, Fault } from '../../parts/field.tsx'
import { sentWith } from '../../parts/form.tsx'
import { PageLinks } from '../../parts/page-links.tsx'
import { type Action, done, type PageRequest, readListPage } from '../../request.ts'

const PER_PAGE = 24
const MAX_QUERY = 1_000

type Kind = 'prompts' | 'skills'

/** The reader's collections, with a tick at those that an item is in. A script shows this part beside the item. */
export function showCollecting(kind: Kind) {
  return async (request: PageRequest) => {
    const { site, call, ref, query, sent } = request
    const { words } = site
    const { collecting } = words
    const q = (query.get('q') ?? '').slice(0, MAX_QUERY)
    const found = await readListPage(request, (page) => call(chooseCollections, { collection: kind, id: ref, q, page, perPage: PER_PAGE }))
    if ('to' in found) return found
    const teams = await readCollectingTeams(request)
    const path = new URL(found.item.url).pathname
    const here = `${path}/collections`
    return (
      <Layout site={site} title={collecting.addItem(found.item.title)} current={kind} isIndexed={false} styles={['admin.css']}>
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
