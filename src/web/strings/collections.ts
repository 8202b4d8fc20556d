import type { TeamRole } from '../../domain/people/teams.ts'
import { count, countItems } from './count.ts'

/** Collections. */
export const COLLECTION_WORDS = {
  collections: 'Collections',
  lead: 'Prompts and skills that belong together, in an order of your own.',
  counts: (n: number) => count(n, 'collection'),
  holds: (prompts: number, skills: number) => countItems(prompts, skills).join(', ') || 'empty',
  none: 'No collections yet.',
  noneHelp: 'A collection holds prompts and skills that belong together, in the order you give them.',
  noneFound: 'No collection has these words in its title.',
  about: 'About collections',
  create: 'Create collection',
  creating: 'New collection',
  yourself: 'You',
  asDefault: 'Your default',
  ownedBy: 'Owned by',
  ownedByTeam: (role: TeamRole | null) =>
    role === null
      ? 'a team.'
      : { reader: 'your team, as a reader.', editor: 'your team, as an editor.', maintainer: 'your team, as a maintainer.' }[role],
  emptyFor: 'Open a prompt or a skill, and choose “Add to collection”.',
  emptyForOthers: 'It is empty, or you cannot see what is in it.',
  items: 'Items',
  address: 'Address',
  addressHint: 'The last part of its address. Old addresses redirect here.',
  onlyMaintainers: 'Maintainers of the team choose the visibility.',
  deleteMeans: 'Deletes the collection for good. Its items stay in the library.',
  moves: { up: 'Move up', down: 'Move down' },
  move: (title: string, to: 'up' | 'down') => `Move ${title} ${to === 'up' ? 'up' : 'down'}`,
  removeItem: (title: string) => `Remove ${title} from the collection`,
  drag: 'Drag to reorder',
  moveFailed: 'The order was not saved. Reload the page and try again.',
  moved: (title: string) => `Moved ${title}.`,
  mcpAddress: 'MCP address of this collection:',
  addTo: 'Add to collection',
  addItem: (title: string) => `Add “${title}” to a collection`,
  createAndAdd: 'Create and add',
  inCollections: 'In collections',
  only: (title: string) => `Collection: ${title}`,
  editOrder: 'Edit order',
  endOrder: 'Done',
  searchIn: 'Search this collection:',
}
