import type { FC } from 'hono/jsx'
import { COLLECTION_MOVES, type CollectionPlace } from '../../../domain/items/collections.ts'
import { VISIBILITIES } from '../../../domain/items/visibility.ts'
import { hasRight } from '../../../domain/people/teams.ts'
import { scopePath } from '../../../domain/skills/channel-scope.ts'
import { AppError } from '../../../errors.ts'
import { moveInCollection, removeFromCollection } from '../../../operations/collections/collected-items.ts'
import { deleteCollection, showCollection, updateCollection } from '../../../operations/collections/collections.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { listSkills } from '../../../operations/items/search-items.ts'
import { localPath } from '../../forms.ts'
import { Layout } from '../../layout.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { authorPath } from '../../parts/facts.tsx'
import { ActionButton, Choice, Done, Fault, Field } from '../../parts/field.tsx'
import { INSTALL_STYLES, InstallBox } from '../../parts/install-box.tsx'
import { nameVisibility } from '../../parts/item-fields.tsx'
import { ItemTitle } from '../../parts/item-head.tsx'
import { PageLinks } from '../../parts/page-links.tsx'
import { MixedRows } from '../../parts/rows.tsx'
import { Sample } from '../../parts/sample.tsx'
import { readStars } from '../../parts/star.tsx'
import { type Action, type PageRequest, readListPage } from '../../request.ts'
import type { Site, Words } from '../../site.ts'

const PER_PAGE = 48

type Shown = Output<typeof showCollection>['collection']

/** A collection: what is in it, how to install it and, for those who may, everything that changes it. */
export async function showCollectionPage(request: PageRequest) {
  const { site, call, callAnonymously, ref, query, sent } = request
  const { words } = site
  const { collecting } = words
  const found = await readListPage(request, (page) => call(showCollection, { id: ref, page, perPage: PER_PAGE }))
  if ('to' in found) return found
  const { collection, items, page, total, totalPages } = found
  const path = new URL(collection.url).pathname
  // A former slug leads on.
  if (path !== request.path && ref !== collection.id) return { to: path + new URL(site.path, site.baseUrl).search }
  const mayEdit = hasRight(collection.role, 'edit')
  const [prompts, skills] = [
    items.flatMap((item) => (item.kind === 'prompt' ? [item] : [])),
    items.flatMap((item) => (item.kind === 'skill' ? [item] : [])),
  ]
  const stars = await readStars(request, prompts, skills)
  // What agents without a key find.
  const shared =
    site.isForMembers || collection.skills === 0
      ? 0
      : (await callAnonymously(listSkills, { collections: [collection.id], perPage: 1 })).total
  const scope = scopePath({ kind: 'collection', ref: path.split('/').at(-1) ?? collection.id })
  const here = page === 1 ? path : `${path}?page=${page}`
  return (
    <Layout
      site={site}
      title={collection.title}
      description={collection.description ?? undefined}
      path={path}
      current="collections"
      isIndexed={collection.visibility === 'public' && query.size === 0 && total > 0}
      styles={[...(collection.skills > 0 || mayEdit ? INSTALL_STYLES : []), ...(mayEdit ? ['collection.css'] : [])]}
      scripts={mayEdit && items.length > 1 ? ['collection.js'] : []}
    >
      <header>
        <ItemTitle
          site={site}
          title={collection.title}
          visibility={collection.role !== null || collection.visibility === 'members' ? collection.visibility : null}
          team={collection.isOfTeam ? collection.owner : null}
        />
        {collection.description === null ? null : (
          <p class="lead" dir="auto">
            {collection.description}
          </p>
        )}
        <Ownership site={site} collection={collection} />
        <Done words={words} query={query} sent={sent} />
        <Fault sent={sent} fields={['title', 'description', 'visibility', 'slug']} words={words} />
        {mayEdit ? <Editing site={site} collection={collection} sent={sent} path={path} /> : null}
      </header>
      {collection.skills > 0 ? (
        <InstallBox
          site={site}
          installed={{ scope, needsKey: shared === 0 }}
          lead={words.reading.installAll(shared || collection.skills)}
        />
      ) : null}
      {site.hasMcp && total > 0 ? (
        <details class="install">
          <summary>{collecting.connect}</summary>
          <p class="quiet">
            {collecting.mcpAddress} <a href="/connect">{words.reading.howToConnect}</a>
          </p>
          <Sample words={words} text={`${site.baseUrl}/api/mcp${scope}`} />
        </details>
      ) : null}
      {total === 0 ? (
        <section>
          <h2>{collecting.empty}</h2>
          <p class="prose">{mayEdit ? collecting.emptyFor : collecting.emptyForOthers}</p>
        </section>
      ) : (
        <>
          <nav aria-label={words.filters}>
            <ul class="filters">
              {collection.prompts > 0 ? (
                <li>
                  <a href={`/prompts?collections=${encodeURIComponent(collection.id)}`}>{collecting.searchPrompts}</a>
                </li>
              ) : null}
              {collection.skills > 0 ? (
                <li>
                  <a href={`/skills?collections=${encodeURIComponent(collection.id)}`}>{collecting.searchSkills}</a>
                </li>
              ) : null}
            </ul>
          </nav>
          <h2 class="visually-hidden">{collecting.items}</h2>
          <div
            data-order={mayEdit ? path : undefined}
            data-drag={collecting.drag}
            data-moved={collecting.moved('{title}')}
            data-failed={collecting.moveFailed}
            data-first={page === 1 ? 'true' : undefined}
            data-last={page === totalPages ? 'true' : undefined}
          >
            <MixedRows
              site={site}
              items={items}
              stars={stars}
              start={(page - 1) * PER_PAGE + 1}
              controls={(item, place) =>
                mayEdit ? (
                  <Order
                    site={site}
                    item={item}
                    action={path}
                    back={here}
                    isFirst={page === 1 && place === 0}
                    isLast={page === totalPages && place === items.length - 1}
                  />
                ) : null
              }
            />
            {mayEdit ? <p class="visually-hidden" role="status" data-said /> : null}
          </div>
        </>
      )}
      <PageLinks site={site} page={page} pages={totalPages} toUrl={(number) => (number === 1 ? path : `${path}?page=${number}`)} />
    </Layout>
  )
}

/** The owner, size and audience of a collection, in words. */
const Ownership: FC<{ site: Site; collection: Shown }> = ({ site: { words, reader }, collection }) => {
  const { owner, isOfTeam, role, visibility, prompts, skills } = collection
  const { collecting } = words
  return (
    <p class="quiet">
      {owner === reader?.username ? (
        collecting.ownedByYou
      ) : (
        <>
          {collecting.ownedBy} <a href={authorPath(owner)}>{owner}</a>
          {isOfTeam ? `, ${collecting.ownedByTeam(role)}` : '.'}
        </>
      )}{' '}
      {role === null ? null : `${nameVisibility(words, visibility, isOfTeam ? owner : null)}. `}
      {prompts + skills === 0 ? null : `${collecting.holds(prompts, skills)}.`}
    </p>
  )
}

/** Everything that changes the collection itself. */
const Editing: FC<{ site: Site; collection: Shown; sent: PageRequest['sent']; path: string }> = ({
  site: { words },
  collection,
  sent,
  path,
}) => {
  const { collecting } = words
  const mayPublish = hasRight(collection.role, 'manage')
  return (
    <div class="actions">
      <details class="install" open={sent !== null && sent.form.text('do') === 'save'}>
        <summary>{collecting.edit}</summary>
        <form method="post" action={path} class="fields">
          <Field sent={sent} name="title" label={collecting.title} value={collection.title} maxlength={200} autocomplete="off" isRequired />
          <Field sent={sent} name="description" label={collecting.description} value={collection.description} rows={3} maxlength={500} />
          <Field
            sent={sent}
            name="slug"
            label={collecting.address}
            value={collection.slug}
            hint={collecting.addressHint}
            maxlength={64}
            autocomplete="off"
          />
          {mayPublish ? (
            <Choice
              sent={sent}
              name="visibility"
              label={collecting.visibility}
              value={collection.visibility}
              options={VISIBILITIES.map((one) => [one, nameVisibility(words, one, collection.isOfTeam ? collection.owner : null)] as const)}
            />
          ) : (
            <p class="quiet">{collecting.onlyMaintainers}</p>
          )}
          <p>
            <button class="button first" type="submit" name="do" value="save">
              {collecting.save}
            </button>
          </p>
        </form>
        {hasRight(collection.role, 'delete') ? (
          <Confirm label={collecting.delete} means={collecting.deleteMeans}>
            <ActionButton action={path} does="delete">
              {collecting.delete}
            </ActionButton>
          </Confirm>
        ) : null}
      </details>
    </div>
  )
}

interface OrderProps {
  readonly site: Site
  readonly item: { readonly id: string; readonly title: string }
  readonly action: string
  /** The page that shows the item. */
  readonly back: string
  readonly isFirst: boolean
  readonly isLast: boolean
}

/** Buttons that move an item, and remove it. A script adds a handle to drag it by. */
const Order: FC<OrderProps> = ({ site: { words }, item, action, back, isFirst, isLast }) => {
  const { collecting } = words
  const signs = { first: '⇈', up: '↑', down: '↓', last: '⇊' } as const
  const isShown = { first: !isFirst, up: !isFirst, down: !isLast, last: !isLast }
  return (
    <form method="post" action={action} class="order" data-item={item.id}>
      <input type="hidden" name="item" value={item.id} />
      <input type="hidden" name="back" value={back} />
      {COLLECTION_MOVES.map((to) => (
        <button
          class="button quiet"
          type="submit"
          name="do"
          value={to}
          disabled={!isShown[to]}
          title={collecting.moves[to]}
          aria-label={collecting.move(item.title, to)}
        >
          {signs[to]}
        </button>
      ))}
      <button class="button quiet" type="submit" name="do" value="remove" aria-label={collecting.removeItem(item.title)}>
        {collecting.remove}
      </button>
    </form>
  )
}

/** Does what a button of the page says. */
export const changeCollection: Action = async ({ site, call, form, ref, path }) => {
  const does = form.text('do')
  const item = form.text('item')
  const back = (done: string) => {
    const url = new URL(localPath(form.text('back'), path), 'http://here.invalid')
    url.searchParams.set('done', done)
    return url
  }
  switch (does) {
    case 'save': {
      const { collection } = await call(updateCollection, {
        id: ref,
        title: form.text('title'),
        description: form.text('description') || null,
        ...(form.has('slug') ? { slug: form.text('slug') } : {}),
        ...(form.has('visibility') ? { visibility: form.choice('visibility', VISIBILITIES) } : {}),
      })
      return { to: `${new URL(collection.url).pathname}?done=saved` }
    }
    case 'delete':
      await call(deleteCollection, { id: ref })
      return { to: '/collections?done=collection-deleted' }
    case 'remove': {
      await call(removeFromCollection, { id: ref, items: [item] })
      const { pathname, search } = back('uncollected')
      return { to: pathname + search }
    }
    default: {
      await call(moveInCollection, { id: ref, item, ...readPlace(does, form.text('beside'), site.words) })
      const { pathname, search } = back('moved')
      return { to: `${pathname}${search}#item-${encodeURIComponent(item)}` }
    }
  }
}

/** @throws AppError `invalid_input` */
function readPlace(does: string, beside: string, words: Words): CollectionPlace {
  if (does === 'before') return { before: beside }
  if (does === 'after') return { after: beside }
  const to = COLLECTION_MOVES.find((one) => one === does)
  if (!to) throw new AppError('invalid_input', words.errors.noButton)
  return { to }
}
