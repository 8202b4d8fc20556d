import type { FC } from 'hono/jsx'
import { AppError } from '../../../errors.ts'
import type { Output } from '../../../operations/core/define-operation.ts'
import { acceptOffer, declineOffer, listOffers, withdrawOffer } from '../../../operations/transfers/offers.ts'
import { Layout } from '../../layout.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Day } from '../../parts/day.tsx'
import { ActionButton, Done, Fault } from '../../parts/field.tsx'
import type { Action, PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'

const PATH = '/offers'

type Offer = Output<typeof listOffers>['incoming'][number]

/** What the reader can accept, and what others can. */
export async function showOffers(request: PageRequest) {
  const { site, call, query, sent } = request
  const { words } = site
  const found = await call(listOffers, {})
  return (
    <Layout site={site} title={words.offers.offers} current="teams" isIndexed={false} styles={['admin.css']}>
      <h1>{words.offers.offers}</h1>
      <p class="lead">
        {words.offers.offersLead} <a href="/docs/teams#transfers">{words.offers.about}</a>
      </p>
      <Done words={words} query={query} sent={sent} />
      <Fault sent={sent} words={words} />
      {(['incoming', 'outgoing'] as const).map((side) => (
        <section>
          <h2>{words.offers[side]}</h2>
          {found[side].length === 0 ? <p>{words.offers.none}</p> : null}
          <ul class="entries members">
            {found[side].map((offer) => (
              <Row site={site} offer={offer} isIncoming={side === 'incoming'} />
            ))}
          </ul>
        </section>
      ))}
    </Layout>
  )
}

const Row: FC<{ site: Site; offer: Offer; isIncoming: boolean }> = ({ site: { words }, offer, isIncoming }) => {
  const { id, collection, itemId, title, from, to, offeredBy, leaveOutPrivate, expiresAt } = offer
  const { offers } = words
  return (
    <li>
      <div>
        {isIncoming ? <strong>{title}</strong> : <a href={`/${collection}/${itemId}`}>{title}</a>}{' '}
        <span class="quiet">{words.audit.kinds[collection === 'prompts' ? 'prompt' : 'skill']}</span>
        <p class="quiet">
          {offers.way(from, to)}
          {offeredBy === from ? '' : ` · ${offers.by(offeredBy)}`} · {offers.until} <Day words={words} at={expiresAt} />
          {leaveOutPrivate ? ` · ${offers.leavesOut}` : ''}
        </p>
      </div>
      <div class="controls">
        {isIncoming ? (
          <>
            <ActionButton action={PATH} does="accept" values={{ id }} class="button first" label={offers.acceptNamed(title)}>
              {offers.accept}
            </ActionButton>
            <Confirm label={offers.decline} name={offers.declineNamed(title)} means={offers.declineMeans}>
              <ActionButton action={PATH} does="decline" values={{ id }} label={offers.declineNamed(title)}>
                {offers.decline}
              </ActionButton>
            </Confirm>
          </>
        ) : (
          <ActionButton action={PATH} does="withdraw" values={{ id }} label={offers.withdrawNamed(title)}>
            {offers.withdraw}
          </ActionButton>
        )}
      </div>
    </li>
  )
}

/** Answers an offer, or takes one back. */
export const answerOffer: Action = async ({ site, call, form }) => {
  const id = form.text('id')
  switch (form.text('do')) {
    case 'accept': {
      const { offer } = await call(acceptOffer, { id })
      return { to: `/${offer.collection}/${offer.itemId}?done=transferred` }
    }
    case 'decline':
      await call(declineOffer, { id })
      return { to: `${PATH}?done=declined` }
    case 'withdraw':
      await call(withdrawOffer, { id })
      return { to: `${PATH}?done=withdrawn` }
    default:
      throw new AppError('invalid_input', site.words.errors.noButton)
  }
}
