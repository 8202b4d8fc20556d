import { formatsOf } from '../formats.ts'

const { number } = formatsOf('en')

const items = (count: number) => (count === 1 ? '1 item' : `${number(count)} items`)

/** The page of one's own items, where many are changed together. */
export const LIBRARY_WORDS = {
  counts: items,
  sorts: { relevance: 'Best match', updated: 'Last changed', newest: 'Newest', title: 'Title', votes: 'Most voted' },
  noMatches: 'Nothing of yours matches.',
  select: (title: string) => `Select ${title}`,
  selectAll: (total: number, most: number) =>
    total > most ? `Select the first ${number(most)} of ${number(total)}` : `Select all ${number(total)}`,
  selectPage: (count: number) => `Select the ${number(count)} on this page`,
  selected: '{count} selected',
  withSelected: 'Change selected items',
  tag: 'Tag',
  addTag: 'Add tag',
  removeTag: 'Remove tag',
  setCategory: 'Set category',
  setVisibility: 'Set visibility',
  collection: 'Collection',
  collect: 'Add to collection',
  delete: 'Delete',
  export: 'Export',
  selectFirst: 'Select at least one item first.',
  chooseFirst: 'Choose a value in the list first.',
  tagFirst: 'Type a tag first.',
  expired: 'This can no longer be undone. Items can be restored one by one from their versions, or from the trash.',
  ask: {
    'add-tag': (count: number) => `Give ${items(count)} the tag?`,
    'remove-tag': (count: number) => `Take the tag from ${items(count)}?`,
    category: (count: number) => `Change the category of ${items(count)}?`,
    visibility: (count: number) => `Change who sees ${items(count)}?`,
    collect: (count: number) => `Add ${items(count)} to the collection?`,
    delete: (count: number) => `Move ${items(count)} to the trash?`,
  },
  goOn: 'Yes',
  undo: 'Undo',
  done: {
    'add-tag': (count: number) => `Tag added to ${items(count)}.`,
    'remove-tag': (count: number) => `Tag removed from ${items(count)}.`,
    category: (count: number) => `Category set for ${items(count)}.`,
    visibility: (count: number) => `Visibility set for ${items(count)}.`,
    collect: (count: number) => `Added ${items(count)} to the collection.`,
    delete: (count: number) => `Moved ${items(count)} to the trash.`,
    undo: (count: number) => `Undone for ${items(count)}.`,
  },
  unchanged: (count: number) => `${items(count)} needed no change.`,
  refused: (count: number) => `Refused for ${items(count)}:`,
  missing: 'An item that is no longer there',
  more: (count: number) => `and ${number(count)} more`,
}
