import { AppError } from '../../../errors.ts'
import { showTransfer, transferItem } from '../../../operations/items/transfer-item.ts'
import { Layout } from '../../layout.tsx'
import { Choice, Fault } from '../../parts/field.tsx'
import type { Action, PageRequest } from '../../request.ts'
import type { Collection } from '../reading/versions.tsx'

/** Of an owner with whom the item becomes private. No name has a space. */
const AS_PRIVATE = ' private'

/** A form that gives an item to another owner, and what changes by it. */
export function showTransferPage(collection: Collection) {
  return async ({ site, call, ref, sent }: PageRequest) => {
    if (site.reader === null) throw new AppError('unauthenticated', site.words.errors.signInFirst)
    const { itemId, title, visibility, privateVersions, receivers } = await call(showTransfer, { collection, id: ref })
    const { words } = site
    const { transfers } = words
    return (
      <Layout site={site} title={transfers.title} current={collection} isIndexed={false}>
        <p class="quiet">
          <a href={`/${collection}/${itemId}`}>{title}</a>
        </p>
        <h1>{transfers.title}</h1>
        <p class="lead">
          {transfers.lead(title)} <a href="/docs/teams#transfers">{transfers.about}</a>
        </p>
        <Fault sent={sent} fields={['to']} words={words} />
        {receivers.length === 0 ? (
          <p>{transfers.none}</p>
        ) : (
          <form method="post" class="fields">
            <Choice
              sent={sent}
              name="to"
              label={transfers.to}
              value=""
              options={receivers.map((to) =>
                to.visibility === visibility ? [to.name, to.name] : [`${to.name}${AS_PRIVATE}`, transfers.becomesPrivate(to.name)],
              )}
            />
            {privateVersions === 0 ? null : <p>{transfers.privateVersions(privateVersions)}</p>}
            <label class="tick">
              <input type="checkbox" name="leaveOutPrivate" value="yes" checked={sent?.form.has('leaveOutPrivate') ?? false} />{' '}
              {transfers.leaveOut}
            </label>
            <p>
              <button class="button first" type="submit" name="do" value="transfer">
                {transfers.transfer}
              </button>
            </p>
          </form>
        )}
      </Layout>
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
    return { to: `/${collection}/${itemId}?done=transferred` }
  }
}
