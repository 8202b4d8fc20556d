import type { FC } from 'hono/jsx'
import { COLLECTION_MOVES, type CollectionPlace } from '../../../domain/items/collections.ts'
import { VISIBILITIES } from '../../../domain/items/visibility.ts'
import { hasRight } from '../../../domain/people/teams.ts'
import { scopePath } from '../../../domain/skills/channel-scope.ts'
import {
  deleteCollection,
  moveInCollection,
  removeFromCollection,
  showCollection,
  updateCollection,
} from '../../../operations/collections/collections.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { listSkills } from '../../../operations/items/search-items.ts'
import { localPath } from '../../forms.ts'
import { Layout } from '../../layout.tsx'
import { INSTALL_STYLES, InstallBox } from '../../parts/connect.tsx'
import { Details, HiddenFields, Link, Sample, Section, Submit } from '../../parts/controls.tsx'
import { authorPath } from '../../parts/facts.tsx'
import { Done, Fault } from '../../parts/field.tsx'
import { ConfirmedAction, Form, sentWith } from '../../parts/form.tsx'
import { ShareButton } from '../../parts/item-actions.tsx'
import { nameVisibility } from '../../parts/item-fields.tsx'
import { ItemTitle, Lead } from '../../parts/item-head.tsx'
import { PageLinks, toListUrl } from '../../parts/lists.tsx'
import { MixedRows, readStars } from '../../parts/rows.tsx'
import { type Acting, type Action, actBy, doing, done, type PageRequest, readListPage } from '../../request.ts'
import type { Site, Words } from '../../site.ts'
import { checkPath } from '../reading/findings.tsx'

const PER_PAGE = 48

type Shown = Output<typeof showCollection>['collection']

/** A collection: what is in it, how to install it and, for those who may, everything that changes it. */
export async function showCollectionPage(request: PageRequest) {
  const { site, words, call, callAnonymously, ref, query, sent } = request
  const { collecting } = words
  const found = await readListPage(request, (page) => call(showCollection, { id: ref, page, perPage: PER_PAGE }))
  if ('to' in found) return found
  const { collection, items, page, total, totalPages } = found
  const path = new URL(collection.url).pathname
  // A former slug leads on.
  if (path !== request.path && ref !== collection.id) return { to: path + new URL(site.path, site.baseUrl).search }
  const mayEdit = hasRight(collection.role, 'edit')
  const stars = await readStars(request, items)
  // What agents without a key find.
  const shared =
    site.isForMembers || collection.skills === 0
      ? 0
      : (await callAnonymously(listSkills, { collections: [collection.id], perPage: 1 })).total
  const scope = scopePath({ kind: 'collection', ref: path.split('/').at(-1) ?? collection.id })
  const mayOrder = mayEdit && total > 0
  const isOrdering = mayOrder && query.get('edit') === 'order'
  const toUrl = (number: number, edit = isOrdering ? 'order' : '') => toListUrl(path, { edit }, number)
  return (
    <Layout
      site={site}
      title={collection.title}
      description={collection.description ?? undefined}
      path={path}
      isIndexed={collection.visibility === 'public' && query.size === 0 && total > 0}
      styles={[...(collection.skills > 0 || mayEdit ? INSTALL_STYLES : []), ...(mayEdit ? ['admin.css', 'collection.css'] : [])]}
      scripts={isOrdering && items.length > 1 ? ['collection.js'] : []}
    >
      <header>
        <ItemTitle
          site={site}
          title={collection.title}
          visibility={collection.role !== null || collection.visibility === 'members' ? collection.visibility : null}
          team={collection.isOfTeam ? collection.owner : null}
        />
        <Lead text={collection.description} />
        <Ownership site={site} collection={collection} />
        <Done words={words} query={query} sent={sent} />
        <Fault sent={sentWith(sent, 'remove', 'delete', 'before', 'after', ...COLLECTION_MOVES)} words={words} />
        <div class="item-actions">
          <ShareButton words={words} item={collection} look="button quiet" />
          {collection.skills > 0 ? <Link to={checkPath(scope)} look="button quiet" rel="nofollow" text={words.checking.link} /> : null}
          {mayOrder ? (
            <Link
              to={toUrl(page, isOrdering ? '' : 'order')}
              look={isOrdering ? 'button first' : 'button quiet'}
              text={isOrdering ? collecting.endOrder : collecting.editOrder}
            />
          ) : null}
        </div>
        {mayEdit ? <Editing request={request} collection={collection} path={path} /> : null}
      </header>
      {collection.skills > 0 ? (
        <InstallBox
          site={site}
          installed={{ scope, needsKey: shared === 0 }}
          lead={words.reading.installAll(shared || collection.skills)}
        />
      ) : null}
      {site.hasMcp && total > 0 ? (
        <Details class="install" summary={words.connect}>
          <p class="quiet">
            {collecting.mcpAddress} <a href="/connect">{words.reading.howToConnect}</a>
          </p>
          <Sample words={words} text={`${site.baseUrl}/api/mcp${scope}`} />
        </Details>
      ) : null}
      {total === 0 ? (
        <Section title={words.nothingYet}>
          <p class="prose">{mayEdit ? collecting.emptyFor : collecting.emptyForOthers}</p>
        </Section>
      ) : (
        <>
          <p>
            {collecting.searchIn}{' '}
            {collection.prompts > 0 ? <a href={`/prompts?collections=${encodeURIComponent(collection.id)}`}>{words.prompts}</a> : null}
            {collection.prompts > 0 && collection.skills > 0 ? ' · ' : null}
            {collection.skills > 0 ? <a href={`/skills?collections=${encodeURIComponent(collection.id)}`}>{words.skills}</a> : null}
          </p>
          <h2 class="visually-hidden">{collecting.items}</h2>
          <div
            data-order={isOrdering ? path : undefined}
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
                isOrdering ? (
                  <Order
                    words={words}
                    item={item}
                    action={path}
                    back={toUrl(page)}
                    isFirst={page === 1 && place === 0}
                    isLast={page === totalPages && place === items.length - 1}
                  />
                ) : null
              }
            />
            {isOrdering ? <p class="visually-hidden" role="status" data-said /> : null}
          </div>
        </>
      )}
      <PageLinks site={site} page={page} pages={totalPages} toUrl={toUrl} />
    </Layout>
  )
}

/** The owner of a collection, where it is not the reader's own, and its size. */
const Ownership: FC<{ site: Site; collection: Shown }> = ({ site: { words, reader }, collection }) => {
  const { owner, isOfTeam, role, prompts, skills } = collection
  const { collecting } = words
  return (
    <p class="quiet">
      {owner === reader?.username ? null : (
        <>
          {collecting.ownedBy} <a href={authorPath(owner)}>{owner}</a>
          {isOfTeam ? `, ${collecting.ownedByTeam(role)}` : '.'}{' '}
        </>
      )}
      {prompts + skills === 0 ? null : `${collecting.holds(prompts, skills)}.`}
    </p>
  )
}

/** The form that changes the collection itself. */
const Editing: FC<{ request: PageRequest; collection: Shown; path: string }> = ({ request, collection, path }) => {
  const { words } = request
  const { collecting } = words
  const mayPublish = hasRight(collection.role, 'manage')
  const team = collection.isOfTeam ? collection.owner : null
  return (
    <Details class="install" open={sentWith(request.sent, 'save') !== null} summary={words.edit}>
      <Form
        request={request}
        does="save"
        of={updateCollection}
        action={path}
        fields={{
          title: { label: words.title, value: collection.title, autocomplete: 'off', isRequired: true },
          description: { label: words.description, value: collection.description, rows: 3 },
          slug: { label: collecting.address, value: collection.slug, hint: collecting.addressHint, maxlength: 64, autocomplete: 'off' },
          ...(mayPublish && {
            visibility: {
              label: words.visibility,
              value: collection.visibility,
              options: VISIBILITIES.map((one) => [one, nameVisibility(words, one, team)] as const),
            },
          }),
        }}
        submit={words.save}
      >
        {mayPublish ? null : <p class="quiet">{collecting.onlyMaintainers}</p>}
      </Form>
      {hasRight(collection.role, 'delete') ? (
        <ConfirmedAction action={path} does="delete" label={words.delete} means={collecting.deleteMeans} />
      ) : null}
    </Details>
  )
}

interface OrderProps {
  readonly words: Words
  readonly item: { readonly id: string; readonly title: string }
  readonly action: string
  /** The page that shows the item. */
  readonly back: string
  readonly isFirst: boolean
  readonly isLast: boolean
}

/** Buttons that move an item, and remove it. A script adds a handle to drag it by. */
const Order: FC<OrderProps> = ({ words: { collecting, remove }, item, action, back, isFirst, isLast }) => (
  <form method="post" action={action} class="order" data-item={item.id}>
    <HiddenFields values={{ item: item.id, back }} />
    {(
      [
        ['up', '↑', isFirst],
        ['down', '↓', isLast],
      ] as const
    ).map(([to, sign, isOff]) => (
      <Submit
        does={to}
        look="button quiet"
        disabled={isOff}
        title={collecting.moves[to]}
        aria-label={collecting.move(item.title, to)}
        text={sign}
      />
    ))}
    <Submit does="remove" look="button quiet" aria-label={collecting.removeItem(item.title)} text={remove} />
  </form>
)

/** Moves an item of the page to a place, and leads to where it is now. */
function moveTo(readPlace: (request: Acting) => CollectionPlace): Action {
  return async (request) => {
    const item = request.form.text('item')
    await request.call(moveInCollection, { id: request.ref, item, ...readPlace(request) })
    return { to: `${done(backOf(request), 'moved').to}#item-${encodeURIComponent(item)}` }
  }
}

const backOf = ({ form, path }: Acting) => localPath(form.text('back'), path)

/** Does what a button of the page says. */
export const changeCollection = actBy({
  save: doing(
    updateCollection,
    ({ form, ref }) => ({
      id: ref,
      title: form.text('title'),
      description: form.text('description') || null,
      ...(form.has('slug') ? { slug: form.text('slug') } : {}),
      ...(form.has('visibility') ? { visibility: form.choice('visibility', VISIBILITIES) } : {}),
    }),
    'saved',
    (_request, { collection }) => new URL(collection.url).pathname,
  ),
  delete: doing(deleteCollection, ({ ref }) => ({ id: ref }), 'collection-deleted', '/collections'),
  remove: doing(removeFromCollection, ({ form, ref }) => ({ id: ref, items: [form.text('item')] }), 'uncollected', backOf),
  before: moveTo(({ form }) => ({ before: form.text('beside') })),
  after: moveTo(({ form }) => ({ after: form.text('beside') })),
  ...Object.fromEntries(COLLECTION_MOVES.map((to) => [to, moveTo(() => ({ to }))])),
})
