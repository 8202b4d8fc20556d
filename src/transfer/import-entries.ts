import { basename, relative, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { SkillFile } from '../domain/skills/skill.ts'
import { AppError, isRefusal } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'
import { createPeople, type People, type SkillMetadata } from './export-lists.ts'
import { type EntryPlace, type Match, matchAtOnce, matchEntries, type OpenEntry, startMatching } from './match-entries.ts'
import { type ImportOptions, type ImportOutcome, type Prepared, preparePrompt, readCategories } from './prepare-prompt.ts'
import { prepareSkill } from './prepare-skill.ts'
import { type PromptDraft, type PromptSource, readPromptFile } from './prompt-file.ts'
import { faultOf, findSkillFolders, readSkillFolder } from './skill-folder.ts'

/** The counts of an import, and its remarks about entries. */
export interface ImportReport {
  read: number
  created: number
  updated: number
  unchanged: number
  /** Left as they are: edited here since their import, or in the trash. */
  kept: number
  refused: number
  /** Sentences about single entries, each naming its row or file: first why entries were refused, then at most {@link MAX_REMARKS} others. */
  remarks: string[]
  /** How many of the remarks say why an entry was refused. */
  reasons: number
  /** Remarks beyond those. */
  moreRemarks: number
}

const MAX_REMARKS = 200
/** So many reasons are never cut by other remarks; a file that is no file of prompts may have a million. */
const MAX_REASONS = 10_000

function emptyReport(): ImportReport {
  return { read: 0, created: 0, updated: 0, unchanged: 0, kept: 0, refused: 0, remarks: [], reasons: 0, moreRemarks: 0 }
}

/** Notes one sentence. */
function addRemark(report: ImportReport, remark: string): void {
  if (report.remarks.length - report.reasons < MAX_REMARKS) report.remarks.push(remark)
  else report.moreRemarks++
}

/** Notes why an entry was refused. */
function addReason(report: ImportReport, reason: string): void {
  if (report.reasons < MAX_REASONS) report.remarks.splice(report.reasons++, 0, reason)
  else report.moreRemarks++
}

/** One report of several. */
export function mergeReports(reports: readonly ImportReport[]): ImportReport {
  const all = emptyReport()
  for (const report of reports) {
    for (const name of ['read', 'created', 'updated', 'unchanged', 'kept', 'refused', 'moreRemarks'] as const) all[name] += report[name]
    for (const [index, remark] of report.remarks.entries()) (index < report.reasons ? addReason : addRemark)(all, remark)
  }
  return all
}

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

/** Reasons named where no skill is found. */
const MAX_SHOWN_REASONS = 20

/**
 * Imports every skill below a folder, each in its own transaction; matched like prompts, and by the path of its folder.
 * @param metadata index data of each skill, by its path below `folder`; skills missing there are refused. Null: no index
 * @throws AppError `invalid_input` when the folder or the owner cannot be used at all
 */
export async function importSkills(
  store: LibraryStore,
  folder: string,
  options: ImportOptions,
  metadata: ReadonlyMap<string, SkillMetadata> | null = null,
  people: People = createPeople(),
): Promise<ImportReport> {
  const passedOver: ImportEntry[] = []
  const reasons: string[] = []
  const folders = await findSkillFolders(folder, (path, reason) => {
    const name = relative(folder, path)
    passedOver.push({ name, kind: 'passed', reason })
    if (reasons.length < MAX_SHOWN_REASONS) reasons.push(` ${name}: ${reason}.`)
  })
  if (folders.length === 0) {
    throw new AppError('invalid_input', `No skill found in ${folder}: no folder has a SKILL.md.${reasons.join('')}`)
  }
  async function* read(): AsyncGenerator<ImportEntry> {
    yield* passedOver
    for (const path of folders) yield await readOne(path)
  }
  const readOne = async (path: string): Promise<ImportEntry> => {
    const inside = relative(folder, path)
    const name = `Skill ${inside || basename(path)}`
    try {
      const known = metadata?.get(inside || basename(path))
      if (metadata && !known) throw new AppError('invalid_input', 'it is not in the index')
      const draft = await readSkillFolder(path, { isExport: known?.title !== undefined })
      // What an export says of its items is worth more than where it lies.
      const place = metadata ? undefined : { root: resolve(folder), path: inside }
      return { name, kind: 'skill', draft, known: known ?? {}, place, again: () => readOne(path) }
    } catch (error) {
      return { name, kind: null, fault: faultOf(error) }
    }
  }
  return await importEntries(store, read(), options, people)
}
