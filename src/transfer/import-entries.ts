import { setImmediate } from 'node:timers/promises'
import type { SkillFile } from '../domain/skills/skill.ts'
import { isRefusal } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'
import type { SkillMetadata } from './export-lists.ts'
import { type EntryPlace, type Match, matchAtOnce, matchEntries, type OpenEntry, startMatching } from './match-entries.ts'
import type { People } from './people.ts'
import { type ImportOptions, type ImportOutcome, type Prepared, preparePrompt, readCategories } from './prepare-prompt.ts'
import { prepareSkill } from './prepare-skill.ts'
import type { PromptDraft } from './prompt-file.ts'
import { addReason, addRemark, emptyReport, type ImportReport } from './report.ts'

/** Most prompts written in one transaction, and how long one goes on: others who write wait a moment only. */
const BATCH_SIZE = 200
const BATCH_MS = 50

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

/** Begins an import, which finds the item that each entry means, and then imports it; with `isDryRun` it only says what would become of entries. */
function startImport(options: ImportOptions, people: People, categories: ReadonlySet<string>) {
  const state = startMatching()
  const waiting: (OpenEntry & { readonly ownerId: string })[] = []
  const prepare = async (store: LibraryStore, entry: ReadEntry, isFree: (id: string) => boolean): Promise<Prepared> => {
    const preparing = { store, options, people, isFree, categories, place: entry.place }
    return await (entry.kind === 'prompt' ? preparePrompt(preparing, entry.draft) : prepareSkill(preparing, entry.draft, entry.known ?? {}))
  }
  const write = async (prepared: Prepared, { id, isOfAnother }: Match, place: EntryPlace | undefined) => {
    const outcome = await prepared.write(id, isOfAnother ? undefined : place)
    if (outcome.id !== null) state.claimed.add(outcome.id)
    return outcome
  }
  return {
    /** The result of an entry, or null: it waits until all are read. @throws AppError what the library refuses it for */
    async take(store: LibraryStore, entry: ReadEntry): Promise<ImportOutcome | null> {
      const prepared = await prepare(store, entry, (id) => !state.claimed.has(id))
      const match = prepared.knownId
        ? { id: prepared.knownId, isOfAnother: false }
        : matchAtOnce({ ...prepared, place: entry.place }, state)
      if (match) return await write(prepared, match, entry.place)
      waiting.push({ place: entry.place, candidates: prepared.candidates, ownerId: prepared.ownerId })
      return null
    },
    /** The items of the entries that wait, in their order. */
    settle: async (store: LibraryStore) =>
      await matchEntries(waiting, state, (root) => store.items.countImportedBelow(waiting[0]?.ownerId ?? '', root)),
    /** Imports an entry as the item that was found. @throws AppError */
    finish: async (store: LibraryStore, entry: ReadEntry, match: Match) =>
      await write(await prepare(store, entry, (id) => id === match.id), match, entry.place),
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
  const waiting: { readonly index: number; readonly name: string; readonly again: () => Promise<ImportEntry> }[] = []
  const tell = (index: number, entry: ReadEntry, { done, id, remark }: ImportOutcome) => {
    report[done]++
    const remarks = [remark, ...(entry.kind === 'prompt' ? [entry.draft.remark] : entry.draft.remarks)].filter((text) => text !== undefined)
    for (const text of remarks) if (text) addRemark(report, `${entry.label ?? entry.name}: ${text.replace(/\.$/, '')}.`)
    options.onResult?.({ index, outcome: done, remarks, itemId: id })
  }
  const refuse = (index: number, name: string, message: string) => {
    report.refused++
    const reason = message.replace(/\.$/, '')
    addReason(report, `${name} refused: ${reason}.`)
    options.onResult?.({ index, outcome: 'refused', remarks: [reason], itemId: null })
  }
  interface Work {
    readonly index: number
    readonly name: string
    run(transaction: LibraryStore): Promise<void>
  }
  /** The message of a refusal; null where the work is done. */
  const findFault = async (work: () => Promise<unknown> | undefined): Promise<string | null> => {
    try {
      await work()
      return null
    } catch (error) {
      if (!isRefusal(error)) throw error
      return error.message
    }
  }
  const unlessRefused = async ({ index, name }: Work, work: () => Promise<void>) => {
    const fault = await findFault(work)
    if (fault !== null) refuse(index, name, fault)
  }
  const inTransaction = async (work: (transaction: LibraryStore) => Promise<void>) =>
    await (options.isDryRun ? work(store) : store.inTransaction(work))
  let batch: Work[] = []
  const flush = async () => {
    while (batch.length > 0) {
      let done = 0
      await inTransaction(async (transaction) => {
        const endsAt = performance.now() + BATCH_MS
        for (const work of batch) {
          await unlessRefused(work, () => work.run(transaction))
          done++
          if (performance.now() > endsAt) return
        }
      })
      batch = batch.slice(done)
      await setImmediate()
      options.onProgress?.(report.read)
    }
  }
  const schedule = async (kind: ReadEntry['kind'], work: Work) => {
    if (kind === 'prompt') {
      if (batch.push(work) >= BATCH_SIZE) await flush()
      return
    }
    // A skill comes with all its files, and gets a transaction of its own.
    await flush()
    await unlessRefused(work, () => inTransaction((transaction) => work.run(transaction)))
    await setImmediate()
    options.onProgress?.(report.read)
  }
  let count = 0
  for await (const entry of entries) {
    const { name } = entry
    if (entry.kind === 'passed') {
      addRemark(report, `${name} passed over: ${entry.reason}.`)
      continue
    }
    report.read++
    const index = count++
    const config = entry.kind === 'prompt' ? entry.draft.config : null
    // Looked at without a transaction.
    const fault = entry.kind === null ? entry.fault : await findFault(() => options.checks?.config(config))
    if (entry.kind === null || fault !== null) {
      await schedule('prompt', { index, name, run: async () => refuse(index, name, fault ?? '') })
      continue
    }
    await schedule(entry.kind, {
      index,
      name,
      async run(transaction) {
        const outcome = await run.take(transaction, entry)
        if (outcome) tell(index, entry, outcome)
        else waiting.push({ index, name, again: entry.again ?? (async () => entry) })
      },
    })
  }
  await flush()
  const matches = await run.settle(store)
  for (const [place, { index, name, again }] of waiting.entries()) {
    const [entry, match] = [await again(), matches[place]]
    if (!match || entry.kind === null || entry.kind === 'passed') refuse(index, name, 'it changed while it was imported')
    else {
      await schedule(entry.kind, {
        index,
        name: entry.name,
        run: async (transaction) => tell(index, entry, await run.finish(transaction, entry, match)),
      })
    }
  }
  await flush()
  return report
}
