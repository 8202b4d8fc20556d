import { formatsOf } from '../formats.ts'

const { number } = formatsOf('en')

/** Transfers of items between owners. */
export const TRANSFER_WORDS = {
  transfer: 'Transfer',
  title: 'Transfer to another owner',
  lead: (title: string) => `“${title}” is transferred immediately, with its addresses, versions and votes.`,
  about: 'How transfers work',
  none: 'There is no team you could transfer this to.',
  privateVersions: (count: number) =>
    count === 1
      ? 'One earlier version was private. The new owner would see it.'
      : `${number(count)} earlier versions were private. The new owner would see them.`,
  leaveOut: 'Delete private versions, and tags from private times, for good first',
  to: 'New owner',
  becomesPrivate: (name: string) => `${name} (becomes private: you cannot publish there)`,
}
