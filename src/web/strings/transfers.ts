import { formatsOf } from '../formats.ts'

const { number } = formatsOf('en')

/** Transfers of items between owners. */
export const TRANSFER_WORDS = {
  transfer: 'Transfer',
  title: 'Transfer to another owner',
  lead: (title: string) => `“${title}” goes over at once, with its addresses, versions and votes.`,
  about: 'How transfers work',
  none: 'You edit for no team that it could go to.',
  privateVersions: (count: number) =>
    count === 1
      ? 'One earlier version was private when it was written. The new owner would see it.'
      : `${number(count)} earlier versions were private when they were written. The new owner would see them.`,
  leaveOut: 'Leave out private versions, and tags of private times: delete them for good',
  to: 'New owner',
  becomesPrivate: (name: string) => `${name} (it becomes private, as you may not publish there)`,
}
