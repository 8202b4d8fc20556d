import { formatsOf } from '../formats.ts'

const { number } = formatsOf('en')

/** Importing files on a page. */
export const IMPORT_WORDS = {
  title: 'Import',
  menu: 'Import files',
  lead: 'Bring prompts and skills from files. You see what would happen before anything is saved.',
  files: 'Files',
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
  all: 'All',
  plan: 'Nothing is saved yet. This is what the import would do. The files are kept for 15 minutes.',
  nothingToDo: 'There is nothing to import: everything is in your library already, or was refused.',
  start: (n: number) => (n === 1 ? 'Import 1 item' : `Import ${number(n)} items`),
  over: 'The import is complete.',
  again: 'Import other files',
  toLibrary: 'Go to my library',
  starter: 'Load the starter library',
}
