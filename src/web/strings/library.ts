import { count, number } from './count.ts'

const items = (n: number) => count(n, 'item')

/** The page of one's own items, where many are changed together. */
export const LIBRARY_WORDS = {
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
}

/** Deleting an item or its history for good. */
export const PURGE_WORDS = {
  lead: (title: string) => `Deleting “${title}” or a part of it cannot be undone, not even by an administrator.`,
  copies: ({ backups, upgrades, replaced }: { backups: number; upgrades: number; replaced: number }) =>
    [
      ...(backups > 0 ? [`Backups that may still contain it, until newer ones replace them: ${backups}.`] : []),
      ...(upgrades + replaced > 0
        ? [`Older copies of the library that may still contain it, until an administrator deletes them: ${upgrades + replaced}.`]
        : []),
      'Copies made by others or stored elsewhere are not affected.',
    ].join(' '),
  versionsLead: (newest: number) =>
    `Version ${newest} is the newest and stays. As the last one here, it loses its earlier tags and categories. Versions are not renumbered.`,
  first: 'From version',
  last: 'To version',
  deleteVersions: 'Delete these versions for good',
  file: 'A file in older versions',
  fileLead: 'If a secret got into a file: change or remove the file first, then delete its older contents here.',
  filename: 'File name',
  deleteFile: 'Delete its older contents for good',
  all: 'The whole item',
  allLead: 'This deletes every version, vote and file. A public address is never used again.',
  deleteAll: 'Delete the whole item for good',
  sure: 'I understand that this cannot be undone',
  beSure: 'Check the box first: this cannot be undone.',
  linkOf: (title: string) => `Delete ${title} for good`,
  history: 'Delete older versions for good',
}

/** Importing files on a page. */
export const IMPORT_WORDS = {
  title: 'Import',
  menu: 'Import files',
  lead: 'Bring prompts and skills from files. You see what would happen before anything is saved.',
  filesHint:
    'CSV, JSON or JSONL with prompts, Markdown, .prompt.yml, .prompt and .prompty files of one prompt each, or zips of these and of skills. Up to 10 MiB at once; larger imports run on the command line.',
  folder: 'Or a folder',
  folderHint: 'Every folder with a SKILL.md becomes a skill.',
  drop: 'You can also drop files and folders anywhere on this page.',
  reading: 'Reading…',
  failed: 'The files could not be sent. Check your connection and try again.',
  visibility: 'Visibility of new items',
  asInFiles: 'As the files say, otherwise your default',
  check: 'Check files',
  chooseFiles: 'Choose at least one file.',
  help: 'Which columns and fields are read',
  outcomes: {
    planned: { created: 'New', updated: 'Changed', unchanged: 'Unchanged', kept: 'Kept', refused: 'Refused' },
    done: { created: 'Created', updated: 'Updated', unchanged: 'Unchanged', kept: 'Kept', refused: 'Refused' },
  },
  means: {
    created: 'is not in your library yet',
    updated: 'differs from what you imported before',
    unchanged: 'is in your library already',
    kept: 'stays as it is in your library',
    refused: 'cannot be imported',
  },
  columns: { outcome: 'Result', title: 'Title', name: 'Where', remark: 'Remark' },
  plan: 'Nothing is saved yet. This is what the import would do. The files are kept for 15 minutes.',
  nothingToDo: 'There is nothing to import: everything is in your library already, or was refused.',
  start: (n: number) => (n === 1 ? 'Import 1 item' : `Import ${number(n)} items`),
  over: 'The import is complete.',
  again: 'Import other files',
  toLibrary: 'Go to my library',
  starter: 'Load the starter library',
}
