import { AppError } from '../../../errors.ts'
import { listTeams } from '../../../operations/teams/list-teams.ts'
import { offerItem, showOffer } from '../../../operations/transfers/offers.ts'
import { Layout } from '../../layout.tsx'
import { Fault, Field } from '../../parts/field.tsx'
import type { Action, PageRequest } from '../../request.ts'
import type { Collection } from '../reading/versions.tsx'

/** A form that offers an item to another owner, and what goes along. */
export function showTransfer(collection: Collection) {
  return async (request: PageRequest) => {
    const { site, call, ref, sent } = request
    if (site.reader === null) throw new AppError('unauthenticated', site.words.errors.signInFirst)
    const [{ itemId, title, privateVersions, offer }, { teams }] = await Promise.all([
      call(showOffer, { collection, id: ref }),
      call(listTeams, {}),
    ])
    const { words } = site
    const { offers } = words
    return (
      <Layout site={site} title={offers.title} current={collection} isIndexed={false}>
        <p class="quiet">
          <a href={`/${collection}/${itemId}`}>{title}</a>
        </p>
        <h1>{offers.title}</h1>
        <p class="lead">
          {offers.lead(title)} <a href="/docs/teams#transfers">{offers.about}</a>
        </p>
        {offer === null ? null : (
          <p class="notice">
            {offers.isOffered(offer.to)} <a href="/offers">{offers.offers}</a>
          </p>
        )}
        <Fault sent={sent} fields={['to']} words={words} />
        <form method="post" class="fields">
          <Field sent={sent} name="to" label={offers.to} maxlength={64} autocomplete="off" list="owners" isRequired />
          <datalist id="owners">
            {teams.map(({ name }) => (
              <option value={name} />
            ))}
          </datalist>
          {privateVersions === 0 ? null : <p>{offers.privateVersions(privateVersions)}</p>}
          <label class="tick">
            <input type="checkbox" name="leaveOutPrivate" value="yes" checked={sent?.form.has('leaveOutPrivate') ?? false} />{' '}
            {offers.leaveOut}
          </label>
          <p>
            <button class="button first" type="submit" name="do" value="offer">
              {offers.offer}
            </button>
          </p>
        </form>
      </Layout>
    )
  }
}

/** Offers the item, or gives it at once where the reader maintains the receiving team. */
export function submitTransfer(collection: Collection): Action {
  return async ({ call, form, ref }) => {
    const { itemId } = await call(showOffer, { collection, id: ref })
    const { state } = await call(offerItem, {
      collection,
      id: itemId,
      to: form.text('to').trim(),
      leaveOutPrivate: form.has('leaveOutPrivate'),
    })
    return { to: state === 'offered' ? '/offers?done=offered' : `/${collection}/${itemId}?done=transferred` }
  }
}
