import type { LibraryStore } from '../storage/store.ts'
import { type ImportEntry, importEntries } from './import-entries.ts'
import { createPeople, type People } from './people.ts'
import type { ImportOptions } from './prepare-prompt.ts'
import { type PromptSource, readPromptFile } from './prompt-file.ts'
import type { ImportReport } from './report.ts'

/**
 * Imports the prompts of a file. Entries match existing items by owner, author and title: equal content is skipped, items edited here or in
 * the trash are kept, the rest is updated. Each batch is a transaction: reported items stay, and an interrupted run can be repeated.
 * @throws AppError `invalid_input` when the file or the owner cannot be used at all
 */
export async function importPrompts(
  store: LibraryStore,
  from: string | PromptSource,
  options: ImportOptions,
  people: People = createPeople(),
): Promise<ImportReport> {
  return await importEntries(store, readRows(from), options, people)
}

async function* readRows(from: string | PromptSource): AsyncGenerator<ImportEntry> {
  for await (const row of readPromptFile(from)) {
    const name = `Row ${row.number}`
    yield 'fault' in row
      ? { name, kind: null, fault: row.fault }
      : { name, label: `${name} (${row.draft.title})`, kind: 'prompt', draft: row.draft }
  }
}
