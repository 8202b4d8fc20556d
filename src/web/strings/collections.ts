import type { COLLECTION_MOVES } from '../../domain/items/collections.ts'
import type { TeamRole } from '../../domain/people/teams.ts'
import { formatsOf } from '../formats.ts'

const { number } = formatsOf('en')

const count = (n: number, one: string, many: string) => (n === 1 ? `1 ${one}` : `${number(n)} ${many}`)

/** Collections. */
export const COLLECTION_WORDS = {
  collections: 'Collections',
  lead: 'Sets of prompts and skills, each in an order of its own.',
  search: 'Search collections',
  counts: (n: number) => count(n, 'collection', 'collections'),
  holds: (prompts: number, skills: number) =>
    [...(prompts === 0 ? [] : [count(prompts, 'prompt', 'prompts')]), ...(skills === 0 ? [] : [count(skills, 'skill', 'skills')])].join(
      ', ',
    ) || 'empty',
  none: 'No collections yet.',
  noneHelp: 'A collection holds prompts and skills that belong together, in the order you give them.',
  noneFound: 'No collection has these words in its title.',
  about: 'About collections',
  create: 'Create collection',
  creating: 'New collection',
  title: 'Title',
  description: 'Description',
  owner: 'Owner',
  yourself: 'You',
  team: (name: string) => `Team ${name}`,
  visibility: 'Who else sees it',
  asDefault: 'As new items of the owner',
  ownedBy: 'Owned by',
  ownedByYou: 'Owned by you.',
  ownedByTeam: (role: TeamRole | null) =>
    role === null
      ? 'a team.'
      : { reader: 'your team, as a reader.', editor: 'your team, as an editor.', maintainer: 'your team, as a maintainer.' }[role],
  empty: 'Nothing here yet.',
  emptyFor: 'Open a prompt or a skill, and choose “Add to collection”.',
  emptyForOthers: 'You see none of what is in it, or it is empty.',
  items: 'What is in it',
  edit: 'Edit',
  save: 'Save',
  address: 'Address',
  addressHint: 'The end of its address. Earlier addresses lead here.',
  onlyMaintainers: 'Maintainers of the team choose who else sees it.',
  delete: 'Delete',
  deleteMeans: 'Deletes the collection for good. What is in it stays in the library.',
  moves: { first: 'To the beginning', up: 'Up', down: 'Down', last: 'To the end' } satisfies Record<
    (typeof COLLECTION_MOVES)[number],
    string
  >,
  move: (title: string, to: (typeof COLLECTION_MOVES)[number]) =>
    ({ first: `Move ${title} to the beginning`, up: `Move ${title} up`, down: `Move ${title} down`, last: `Move ${title} to the end` })[to],
  remove: 'Remove',
  removeItem: (title: string) => `Remove ${title} from the collection`,
  drag: 'Drag to reorder',
  moveFailed: 'The order was not saved. Reload the page and try again.',
  moved: (title: string) => `Moved ${title}.`,
  searchPrompts: 'Search its prompts',
  searchSkills: 'Search its skills',
  mcpAddress: 'Its prompts and skills alone, for a client of MCP:',
  connect: 'Connect',
  addTo: 'Add to collection',
  addItem: (title: string) => `Add “${title}” to a collection`,
  add: 'Add',
  addToNamed: (title: string) => `Add to ${title}`,
  removeFromNamed: (title: string) => `Remove from ${title}`,
  isIn: 'It is in this collection.',
  createAndAdd: 'Create and add',
  back: 'Back',
  inCollections: 'In collections',
  only: (title: string) => `Collection: ${title}`,
}
