import { AppError } from '../errors.ts'
import type { LibraryStore } from '../library/ports/store.ts'
import type { SkillFile } from '../library/skill.ts'
import { type Claimed, type ImportOptions, importPromptDraft, readCategories } from './import-prompts.ts'
import { importSkillDraft, type SkillMetadata } from './import-skills.ts'
import type { People } from './people.ts'
import type { PromptDraft } from './prompt-file.ts'
import { addRemark, emptyReport, type ImportReport } from './report.ts'

/** Prompts written in one transaction. */
const BATCH_SIZE = 100

/** An entry of any source: a prompt, a skill with what its source says of it, or why there is none. */
export type ImportEntry = { readonly name: string } & (
  | { readonly kind: 'prompt'; readonly draft: PromptDraft }
  | {
      readonly kind: 'skill'
      readonly draft: {
        readonly title: string
        readonly description: string | null
        readonly files: readonly SkillFile[]
        readonly remarks: readonly string[]
      }
      readonly known?: SkillMetadata
    }
  | { readonly kind: null; readonly fault: string }
)

/**
 * Imports entries as they come, matched with what is there like those of a file. What is imported stays when the source fails half-way.
 * @throws AppError `invalid_input` for an owner that cannot be used, and what the source throws
 */
export async function importEntries(
  store: LibraryStore,
  entries: AsyncIterable<ImportEntry> | Iterable<ImportEntry>,
  options: ImportOptions,
  people: People,
): Promise<ImportReport> {
  const report = emptyReport()
  const claimed: Claimed = new Set()
  if (options.owner !== undefined) await people.findOwner(store, options.owner)
  const categories = await readCategories(store)
  const importOne = async (transaction: LibraryStore, entry: ImportEntry): Promise<void> => {
    report.read++
    const remark = (text: string) => addRemark(report, `${entry.name}: ${text.replace(/\.$/, '')}.`)
    try {
      if (entry.kind === null) throw new AppError('invalid_input', entry.fault)
      const outcome =
        entry.kind === 'prompt'
          ? await importPromptDraft(transaction, entry.draft, options, people, claimed, categories)
          : await importSkillDraft(transaction, entry.draft, options, entry.known ?? {}, people, claimed, categories)
      report[outcome.done]++
      if (outcome.remark) remark(outcome.remark)
      for (const text of entry.kind === 'prompt' ? [entry.draft.remark ?? ''] : entry.draft.remarks) if (text !== '') remark(text)
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'internal') throw error
      report.refused++
      remark(`refused: ${error.message}`)
    }
    options.onProgress?.(report.read)
  }
  let batch: ImportEntry[] = []
  const flush = async () => {
    const now = batch
    batch = []
    await store.inTransaction(async (transaction) => {
      for (const entry of now) await importOne(transaction, entry)
    })
  }
  for await (const entry of entries) {
    if (entry.kind === 'skill') await importOne(store, entry)
    else if (batch.push(entry) >= BATCH_SIZE) await flush()
  }
  if (batch.length > 0) await flush()
  return report
}
