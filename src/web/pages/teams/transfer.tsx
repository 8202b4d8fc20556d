import { AppError } from '../../../errors.ts'
import { showTransfer, transferItem } from '../../../operations/items/transfer-item.ts'
import { Form, Tick } from '../../parts/form.tsx'
import { TitledPage } from '../../parts/titled-page.tsx'
import { type Action, done, type PageRequest } from '../../request.ts'
import type { Collection } from '../reading/versions.tsx'

/** Of an owner with whom the item becomes private. No name has a space. */
const AS_PRIVATE = ' private'

/** A form that gives an item to another owner, and what changes by it. */
export function showTransferPage(collection: Collection) {
  return async (request: PageRequest) => {
    const { site, call, ref } = request
    const { words } = site
    const { transfers } = words
    if (site.reader === null) throw new AppError('unauthenticated', words.errors.signInFirst)
    const { itemId, title, visibility, privateVersions, receivers } = await call(showTransfer, { collection, id: ref })
    const options = receivers.map((to) =>
      to.visibility === visibility
        ? ([to.name, to.name] as const)
        : ([`${to.name}${AS_PRIVATE}`, transfers.becomesPrivate(to.name)] as const),
    )
    return (
      <TitledPage
        request={request}
        title={transfers.title}
        above={<a href={`/${collection}/${itemId}`}>{title}</a>}
        lead={transfers.lead(title)}
        about={<a href="/docs/teams#transfers">{transfers.about}</a>}
        current={collection}
        isIndexed={false}
      >
        {options.length === 0 ? (
          <p>{transfers.none}</p>
        ) : (
          <Form
            request={request}
            does="transfer"
            of={transferItem}
            fields={{ to: { label: transfers.to, options } }}
            submit={transfers.transfer}
          >
            {privateVersions === 0 ? null : <p>{transfers.privateVersions(privateVersions)}</p>}
            <Tick sent={request.sent} name="leaveOutPrivate" label={transfers.leaveOut} />
          </Form>
        )}
      </TitledPage>
    )
  }
}

/** Gives the item to another owner. */
export function submitTransfer(collection: Collection): Action {
  return async ({ call, form, ref }) => {
    const { itemId } = await call(showTransfer, { collection, id: ref })
    const to = form.text('to')
    const makePrivate = to.endsWith(AS_PRIVATE)
    const name = makePrivate ? to.slice(0, -AS_PRIVATE.length) : to
    await call(transferItem, { collection, id: itemId, to: name, leaveOutPrivate: form.has('leaveOutPrivate'), makePrivate })
    return done(`/${collection}/${itemId}`, 'transferred')
  }
}
