import { listTrash, restoreItem } from '../../../operations/items/trash.ts'
import { Link } from '../../parts/controls.tsx'
import { On } from '../../parts/day.tsx'
import { Entry, List } from '../../parts/entries.tsx'
import { ActionButton, Alert } from '../../parts/field.tsx'
import { TitledPage } from '../../parts/titled-page.tsx'
import { type Action, type PageRequest, readListPage } from '../../request.ts'

/** Deleted items, and a way back. */
export async function showTrash(request: PageRequest) {
  const { site, call, sent } = request
  const { words } = site
  const found = await readListPage(request, (page) => call(listTrash, { page, perPage: 24 }))
  if ('to' in found) return found
  return (
    <TitledPage request={request} title={words.trash} lead={words.trashLead} current="library" isIndexed={false} styles={['admin.css']}>
      {sent ? <Alert text={sent.fault.message} /> : null}
      <List
        request={request}
        path="/trash"
        found={found}
        of={found.items}
        none={words.trashEmpty}
        row={({ id, kind, title, deletedAt }) => (
          <Entry
            title={<strong>{title}</strong>}
            note={words.kinds[kind]}
            facts={[<On label={words.deleted} words={words} at={deletedAt} />]}
          >
            <ActionButton does="restore" values={{ id, collection: `${kind}s` }} label={words.restoreItem(title)} text={words.restore} />
            <Link to={`/${kind}s/${id}/purge`} look="button" aria-label={words.purge.linkOf(title)} text={words.deleteForGood} />
          </Entry>
        )}
      />
    </TitledPage>
  )
}

/** Brings something back. */
export const restoreFromTrash: Action = async ({ call, form }) => {
  const collection = form.choice('collection', ['prompts', 'skills'])
  const { slug } = await call(restoreItem, { collection, id: form.text('id') })
  return { to: `/${collection}/${encodeURIComponent(slug)}?done=restored` }
}
