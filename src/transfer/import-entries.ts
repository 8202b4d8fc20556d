import { isRefusal } from '../errors.ts'
import type { LibraryStore } from '../library/ports/store.ts'
import type { SkillFile } from '../library/skill.ts'
import { type EntryPlace, type Match, type MatchState, matchAtOnce, matchEntries, type OpenEntry, startMatching } from './match-entries.ts'
import type { People } from './people.ts'
import { type ImportOptions, type ImportOutcome, type Prepared, preparePrompt, readCategories } from './prepare-prompt.ts'
import { prepareSkill, type SkillMetadata } from './prepare-skill.ts'
import type { PromptDraft } from './prompt-file.ts'
import { addReason, addRemark, emptyReport, type ImportReport } from './report.ts'

/** Prompts written in one transaction: few enough that others who write wait a moment only. */
const BATCH_SIZE = 200

/** An entry that can be imported: a prompt, or a skill with what its source says of it. */
export type ReadEntry = {
  readonly name: string
  /** As remarks name it, when its name says little. */
  readonly label?: string
  /** Where it stands, for what is kept in folders. */
  readonly place?: EntryPlace | undefined
  /** Reads it again, so that it need not be held until all are read. */
  readonly again?: () => Promise<ImportEntry>
} & (
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
)

/** An entry of any source, or why there is none. What was passed over is no entry, and only named. */
export type ImportEntry =
  | ReadEntry
  | { readonly name: string; readonly place?: EntryPlace; readonly kind: null; readonly fault: string }
  | { readonly name: string; readonly place?: EntryPlace; readonly kind: 'passed'; readonly reason: string }

/** What a run does with entries: it finds the item that each one means, and then imports it. */
export interface ImportRun {
  /** The result of an entry, or null: it waits until all are read. @throws AppError what the library refuses it for */
  take(store: LibraryStore, entry: ReadEntry): Promise<ImportOutcome | null>
  /** The items of the entries that wait, in their order. */
  settle(store: LibraryStore): Promise<readonly Match[]>
  /** Imports an entry as the item that was found. @throws AppError */
  finish(store: LibraryStore, entry: ReadEntry, match: Match): Promise<ImportOutcome>
}

/** Begins an import; with `isDryRun` it only says what would become of entries. */
export function startImport(options: ImportOptions, people: People, categories: ReadonlySet<string>): ImportRun {
  const state: MatchState = startMatching()
  const waiting: (OpenEntry & { readonly ownerId: string })[] = []
  const prepare = async (store: LibraryStore, entry: ReadEntry, isFree: (id: string) => boolean): Promise<Prepared> =>
    entry.kind === 'prompt'
      ? await preparePrompt(store, entry.draft, options, people, isFree, categories, entry.place)
      : await prepareSkill(store, entry.draft, options, entry.known ?? {}, people, isFree, categories, entry.place)
  const write = async (prepared: Prepared, { id, isOfAnother }: Match, place: EntryPlace | undefined) => {
    const outcome = await prepared.write(id, isOfAnother ? undefined : place)
    if (outcome.id !== null) state.claimed.add(outcome.id)
    return outcome
  }
  return {
    async take(store, entry) {
      const prepared = await prepare(store, entry, (id) => !state.claimed.has(id))
      const match = prepared.knownId
        ? { id: prepared.knownId, isOfAnother: false }
        : matchAtOnce({ ...prepared, place: entry.place }, state)
      if (match) return await write(prepared, match, entry.place)
      waiting.push({ place: entry.place, candidates: prepared.candidates, ownerId: prepared.ownerId })
      return null
    },
    settle: async (store) => await matchEntries(waiting, state, (root) => store.items.countImportedBelow(waiting[0]?.ownerId ?? '', root)),
    finish: async (store, entry, match) => await write(await prepare(store, entry, (id) => id === match.id), match, entry.place),
  }
}

/**
 * Imports entries as they come, matched with what is there over the whole run. What is imported stays when the source fails half-way.
 * @throws AppError `invalid_input` for an owner that cannot be used, and what the source throws
 */
export async function importEntries(
  store: LibraryStore,
  entries: AsyncIterable<ImportEntry> | Iterable<ImportEntry>,
  options: ImportOptions,
  people: People,
): Promise<ImportReport> {
  const report = emptyReport()
  if (options.owner !== undefined) await people.findOwner(store, options.owner)
  const run = startImport(options, people, await readCategories(store))
  const waiting: { readonly name: string; readonly again: () => Promise<ImportEntry> }[] = []
  const tell = (entry: ReadEntry, outcome: ImportOutcome) => {
    report[outcome.done]++
    for (const text of [outcome.remark, ...(entry.kind === 'prompt' ? [entry.draft.remark] : entry.draft.remarks)])
      if (text) addRemark(report, `${entry.label ?? entry.name}: ${text.replace(/\.$/, '')}.`)
  }
  const refuse = (name: string, reason: string) => {
    report.refused++
    addReason(report, `${name} refused: ${reason.replace(/\.$/, '')}.`)
  }
  const unlessRefused = async (name: string, work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      if (!isRefusal(error)) throw error
      refuse(name, error.message)
    }
  }
  type Work = (transaction: LibraryStore) => Promise<void>
  let batch: { readonly name: string; readonly work: Work }[] = []
  const flush = async () => {
    const now = batch
    batch = []
    if (now.length === 0) return
    await store.inTransaction(async (transaction) => {
      for (const { name, work } of now) await unlessRefused(name, () => work(transaction))
    })
    options.onProgress?.(report.read)
  }
  const schedule = async (kind: ReadEntry['kind'], name: string, work: Work) => {
    if (kind === 'prompt') {
      if (batch.push({ name, work }) >= BATCH_SIZE) await flush()
      return
    }
    // A skill comes with all its files, and gets a transaction of its own.
    await flush()
    await unlessRefused(name, () => store.inTransaction(work))
    options.onProgress?.(report.read)
  }
  for await (const entry of entries) {
    if (entry.kind === 'passed') {
      addRemark(report, `${entry.name} passed over: ${entry.reason}.`)
      continue
    }
    report.read++
    if (entry.kind === null) {
      await schedule('prompt', entry.name, async () => refuse(entry.name, entry.fault))
      continue
    }
    await schedule(entry.kind, entry.name, async (transaction) => {
      const outcome = await run.take(transaction, entry)
      if (outcome) tell(entry, outcome)
      else waiting.push({ name: entry.name, again: entry.again ?? (async () => entry) })
    })
  }
  await flush()
  const matches = await run.settle(store)
  for (const [index, { name, again }] of waiting.entries()) {
    const [entry, match] = [await again(), matches[index]]
    if (!match || entry.kind === null || entry.kind === 'passed') refuse(name, 'it changed while it was imported')
    else await schedule(entry.kind, entry.name, async (transaction) => tell(entry, await run.finish(transaction, entry, match)))
  }
  await flush()
  return report
}
