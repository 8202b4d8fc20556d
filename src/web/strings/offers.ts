import { formatsOf } from '../formats.ts'

const { number } = formatsOf('en')

/** Transfers of items between owners. */
export const OFFER_WORDS = {
  transfer: 'Transfer',
  title: 'Transfer to another owner',
  lead: (title: string) =>
    `“${title}” goes to a person or a team, with its addresses, versions and votes, when they accept. Where you maintain the team, it goes over at once.`,
  about: 'How transfers work',
  privateVersions: (count: number) =>
    count === 1
      ? 'One earlier version was private when it was written. The new owner would see it.'
      : `${number(count)} earlier versions were private when they were written. The new owner would see them.`,
  leaveOut: 'Leave out private versions, and tags of private times: delete them for good when it goes over',
  to: 'Username or team',
  offer: 'Offer',
  isOffered: (to: string) => `It is offered to ${to}. Another offer takes the place of this one.`,
  offers: 'Offers',
  offersLead: 'Items that go from one owner to another when the other accepts.',
  incoming: 'Offered to you and your teams',
  outgoing: 'Offered by you and your teams',
  none: 'None.',
  way: (from: string, to: string) => `from ${from} to ${to}`,
  by: (name: string) => `by ${name}`,
  leavesOut: 'without earlier private versions',
  until: 'until',
  accept: 'Accept',
  acceptNamed: (title: string) => `Accept ${title}`,
  decline: 'Decline',
  declineNamed: (title: string) => `Decline ${title}`,
  declineMeans: 'It stays with its owner, who can offer it again.',
  withdraw: 'Withdraw',
  withdrawNamed: (title: string) => `Withdraw the offer of ${title}`,
}
