import type { FC } from 'hono/jsx'
import type { Output } from '../../../operations/core/procedure.ts'
import { listTrash, restoreItem } from '../../../operations/items/trash.ts'
import { Layout } from '../../layout.tsx'
import { Link } from '../../parts/controls.tsx'
import { Day } from '../../parts/day.tsx'
import { ActionButton, Alert, Done } from '../../parts/field.tsx'
import { PageLinks } from '../../parts/page-links.tsx'
import { type Action, type PageRequest, readListPage } from '../../request.ts'

const PER_PAGE = 24
/** Deleted items, and a way back. */
export async function showTrash(request: PageRequest) {
  const { site, call, query, sent } = request
  const { words } = site
  const found = await readListPage(request, (page) => call(listTrash, { page, perPage: PER_PAGE }))
  if ('to' in found) return found
  return (
    <Layout site={site} title={words.trash} current="library" isIndexed={false}>
      <h1>{words.trash}</h1>
      <p class="lead">{words.trashLead}</p>
      <Done words={words} query={query} sent={sent} />
      {sent ? <Alert text={sent.fault.message} /> : null}
      {found.total === 0 ? <p>{words.trashEmpty}</p> : <Deleted words={words} items={found.items} />}
      <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={(page) => (page === 1 ? '/trash' : `/trash?page=${page}`)} />
    </Layout>
  )
}

const Deleted: FC<{ words: PageRequest['site']['words']; items: Output<typeof listTrash>['items'] }> = ({ words, items }) => (
  <ul class="entries">
    {items.map(({ id, kind, title, deletedAt }) => (
      <li>
        <div>
          <strong>{title}</strong> <span class="quiet">{words.kinds[kind]}</span>
          <p class="quiet">
            {words.deleted} <Day words={words} at={deletedAt} />
          </p>
        </div>
        <div>
          <ActionButton does="restore" values={{ id, collection: `${kind}s` }} label={words.restoreItem(title)} text={words.restore} />{' '}
          <Link to={`/${kind}s/${id}/purge`} look="button" aria-label={words.purge.linkOf(title)} text={words.deleteForGood} />
        </div>
      </li>
    ))}
  </ul>
)

/** Brings something back. */
export const restoreFromTrash: Action = async ({ call, form }) => {
  const collection = form.choice('collection', ['prompts', 'skills'])
  const { slug } = await call(restoreItem, { collection, id: form.text('id') })
  return { to: `/${collection}/${encodeURIComponent(slug)}?done=restored` }
}
