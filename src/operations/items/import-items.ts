import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { AppError, isRefusal } from '../../errors.ts'
import { isId } from '../../library/identifier.ts'
import { type FullImportEntry, IMPORT_OUTCOMES } from '../../library/ports/imports.ts'
import type { LibraryStore } from '../../library/ports/store.ts'
import type { SkillFile } from '../../library/skill.ts'
import { type Visibility, visibilitySchema } from '../../library/visibility.ts'
import { type ReadEntry, startImport } from '../../transfer/import-entries.ts'
import type { Match } from '../../transfer/match-entries.ts'
import { onlyThemselves } from '../../transfer/people.ts'
import { type ImportOutcome, readCategories } from '../../transfer/prepare-prompt.ts'
import { loadStarter } from '../../transfer/starter.ts'
import { readUpload, type UploadEntry } from '../../transfer/upload.ts'
import { defineOperation, type Needs, requireUser, type UserActor } from '../core/define-operation.ts'
import { refInput, toPage } from '../core/inputs.ts'

/** How long an import can be continued. */
const KEPT_MS = 24 * 3600 * 1000
/** Entries written in one transaction, and about how much of them, in UTF-16 units: others who write or read wait a moment only. */
const BATCH = { entries: 20, length: 2_000_000 }
/** How long one call goes on; what it costs its caller is in the table of pages. */
const CALL_MS = 500
/** Entries that are looked at without a break, and how long that may take in all. */
const PLANNED_AT_ONCE = 20
const PLAN_MS = 5_000
/** Entries of one title: each is compared with all items of that title. */
const MAX_EQUAL = 200

type ImportStores = keyof LibraryStore
const entryOutput = z.object({
  number: z.number().int(),
  name: z.string(),
  title: z.string().nullable(),
  kind: z.enum(['prompt', 'skill']).nullable(),
  outcome: z.enum(IMPORT_OUTCOMES),
  remark: z.string().nullable(),
  isDone: z.boolean(),
  itemId: z.string().nullable(),
})
const count = z.number().int()
const progress = {
  id: z.string(),
  total: count,
  done: count,
  counts: z.object({ created: count, updated: count, unchanged: count, kept: count, refused: count }),
}

const oldestAt = (now: number) => new Date(now - KEPT_MS).toISOString()
const gone = () => new AppError('not_found', 'This import is over. Choose the files again.')

/** Everything is the importer's own: whoever a file names could be anybody. */
async function ownOptions(store: Pick<LibraryStore, 'people'>, { username }: UserActor) {
  const user = await store.people.findUser(username)
  if (!user) throw new AppError('not_found', 'This user does not exist.')
  return { people: onlyThemselves(user), owner: user.username, usual: user.defaultVisibility }
}

/**
 * An entry as it is written: addresses, times and owners of a file are not taken from strangers, and a visibility that was chosen holds for
 * all.
 */
function toOwnEntry(entry: Extract<UploadEntry, ReadEntry>, visibility: Visibility | undefined): ReadEntry {
  if (entry.kind === 'skill') return entry
  const none = { owner: undefined, id: undefined, slug: undefined, createdAt: undefined, updatedAt: undefined, held: undefined }
  return { ...entry, draft: { ...entry.draft, ...none, visibility: visibility ?? entry.draft.visibility } }
}

/** @param isOfAnother the item that it repeats keeps where it came from */
function toBody(entry: ReadEntry, isOfAnother: boolean): string {
  const place = isOfAnother ? undefined : entry.place
  if (entry.kind === 'prompt') return JSON.stringify({ place, draft: entry.draft })
  const { title, description, files } = entry.draft
  const inBase64 = files.map(({ bytes, ...file }) => ({ ...file, base64: Buffer.from(bytes).toString('base64') }))
  return JSON.stringify({ place, draft: { title, description, remarks: [], files: inBase64 } })
}

/** What {@link toBody} wrote. */
function readBody({ name, kind, body }: FullImportEntry): ReadEntry {
  const { place, draft } = JSON.parse(body ?? 'null')
  if (kind === 'prompt') return { name, place, kind, draft }
  const files = draft.files.map(
    ({ base64, ...file }: Omit<SkillFile, 'bytes'> & { base64: string }): SkillFile => ({
      ...file,
      bytes: Buffer.from(base64, 'base64'),
    }),
  )
  return { name, place, kind: 'skill', draft: { ...draft, files } }
}

type Planned = Pick<FullImportEntry, 'outcome' | 'remark' | 'itemId'>

/** The result of an entry, null while it waits. That the library refuses it is an outcome too. */
async function toPlanned(work: Promise<ImportOutcome | null>): Promise<Planned | null> {
  try {
    const outcome = await work
    return outcome && { outcome: outcome.done, itemId: outcome.id, remark: outcome.remark ?? null }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { outcome: 'refused', itemId: null, remark: error.message.replace(/\.$/, '') }
  }
}

export const loadStarterLibrary = defineOperation({
  name: 'load_starter_library',
  title: 'Load the starter library',
  summary: 'Fill an empty library with the prompts and skills that come with the service.',
  scope: 'admin',
  writes: true,
  surfaces: {},
  input: z.object({}),
  output: z.object({ created: count }),
  async run({ store }: Needs<ImportStores>) {
    const created = await loadStarter(store)
    if (created === 0)
      throw new AppError('conflict', 'The starter library is for an empty library. This one has items, maybe in the trash.')
    return { created }
  },
})

export const checkImport = defineOperation({
  name: 'check_import',
  title: 'Check an import',
  summary: 'Read files of prompts and skills, and keep for a day what importing them would do. Nothing is imported yet.',
  scope: 'account',
  surfaces: {},
  input: z.object({
    files: z.array(z.object({ filename: z.string(), bytes: z.instanceof(Uint8Array) })).min(1, 'Choose at least one file.'),
    visibility: visibilitySchema.optional(),
  }),
  output: z.object({ id: z.string() }),
  async run({ actor, store, clock }: Needs<ImportStores, 'clock'>, input) {
    const user = requireUser(actor)
    const { people, owner, usual } = await ownOptions(store, user)
    const options = { owner, visibility: input.visibility, leavesOutUnknownCategories: true, isDryRun: true }
    const run = startImport(options, people, await readCategories(store))
    const entries: Omit<FullImportEntry, 'number'>[] = []
    const waiting: { readonly index: number; readonly own: ReadEntry }[] = []
    const titles = new Map<string, number>()
    const uploaded = await readUpload(input.files)
    const endsAt = performance.now() + PLAN_MS
    const pause = async (done: number) => {
      if (done % PLANNED_AT_ONCE === 0) await setImmediate()
      if (performance.now() > endsAt) {
        throw new AppError('too_large', 'These entries take too long to compare. Import a part of them, or all on the command line.')
      }
    }
    const toEntry = (own: ReadEntry, planned: Planned, isOfAnother = false): Omit<FullImportEntry, 'number'> => {
      const isRefused = planned.outcome === 'refused'
      const becomes = (own.kind === 'prompt' ? own.draft.visibility : undefined) ?? input.visibility ?? usual
      // Who sees it is said before anything is published.
      const told = own.kind === 'prompt' ? [own.draft.remark ?? null] : own.draft.remarks
      const remarks = [planned.remark, ...told, planned.outcome === 'created' && becomes !== 'private' ? `will be ${becomes}` : null]
      return {
        name: own.name,
        title: own.draft.title,
        kind: own.kind,
        body: isRefused ? null : toBody(own, isOfAnother),
        ...planned,
        remark: remarks.filter((one) => one !== null).join('; ') || null,
        isDone: isRefused,
      }
    }
    const toRefused = (name: string, remark: string) =>
      ({ name, title: null, kind: null, body: null, outcome: 'refused', remark, isDone: true, itemId: null }) as const
    for (const [index, entry] of uploaded.entries()) {
      await pause(index)
      if (entry.kind === null) {
        entries.push(toRefused(entry.name, entry.fault))
        continue
      }
      const own = toOwnEntry(entry, input.visibility)
      const title = `${own.kind} ${own.draft.title}`
      titles.set(title, (titles.get(title) ?? 0) + 1)
      const isOver = (titles.get(title) ?? 0) > MAX_EQUAL
      const planned = isOver
        ? ({ outcome: 'refused', itemId: null, remark: `more than ${MAX_EQUAL} entries have this title` } as const)
        : await toPlanned(run.take(store, own))
      if (!planned) waiting.push({ index, own })
      entries.push(planned ? toEntry(own, planned) : toRefused(own.name, ''))
    }
    const matches = await run.settle(store)
    for (const [place, { index, own }] of waiting.entries()) {
      await pause(place)
      const match: Match | undefined = matches[place]
      const planned = match && (await toPlanned(run.finish(store, own, match)))
      if (planned) entries[index] = toEntry(own, planned, match.isOfAnother)
    }
    if (entries.length === 0) throw new AppError('invalid_input', 'These files have no entries.')
    const id = await store.imports.keepImport(user.userId, { visibility: input.visibility ?? null, entries }, oldestAt(clock()))
    return { id }
  },
})

export const showImport = defineOperation({
  name: 'show_import',
  title: 'Show an import',
  summary: 'What an import you began would do, or did, entry by entry.',
  scope: 'account',
  surfaces: {},
  input: z.object({
    id: refInput,
    outcome: z.enum(IMPORT_OUTCOMES).optional(),
    page: z.number().int().min(1).max(1_000).default(1),
    perPage: z.number().int().min(1).max(200).default(100),
  }),
  output: z.object({ ...progress, entries: z.array(entryOutput), page: count, totalPages: count }),
  async run({ actor, store, clock }: Needs<'imports', 'clock'>, { id, outcome, page, perPage }) {
    const found = isId(id) ? await store.imports.findImport(requireUser(actor).userId, id, oldestAt(clock())) : null
    if (!found) throw gone()
    const { total } = toPage({ page, perPage }, outcome === undefined ? found.total : found.counts[outcome])
    const entries = await store.imports.listImportEntries(id, { outcome: outcome ?? null, limit: perPage, offset: (page - 1) * perPage })
    const { done, counts } = found
    return { id, total: found.total, done, counts: { ...counts }, entries, page, totalPages: Math.ceil(total / perPage) }
  },
})

export const runImport = defineOperation({
  name: 'run_import',
  title: 'Continue an import',
  summary: 'Import further entries for about half a second. What is imported stays; call it again until all are done.',
  scope: 'write',
  writes: true,
  surfaces: {},
  input: z.object({ id: refInput }),
  output: z.object(progress),
  async run({ actor, store, clock }: Needs<ImportStores, 'clock'>, { id }) {
    const user = requireUser(actor)
    const find = async () => (isId(id) ? await store.imports.findImport(user.userId, id, oldestAt(clock())) : null)
    const kept = await find()
    if (!kept) throw gone()
    const { people, owner } = await ownOptions(store, user)
    const options = { owner, visibility: kept.visibility ?? undefined, leavesOutUnknownCategories: true }
    const run = startImport(options, people, await readCategories(store))
    const endsAt = performance.now() + CALL_MS
    for (let isLeft = true; isLeft && performance.now() < endsAt; await setImmediate()) {
      isLeft = await store.inTransaction(async (transaction) => {
        const next = await transaction.imports.nextImportEntries(id, BATCH.entries, BATCH.length)
        const finished = []
        for (const entry of next) {
          const match = { id: entry.itemId, isOfAnother: false }
          const planned = await toPlanned(run.finish(transaction, readBody(entry), match))
          if (planned) finished.push({ number: entry.number, ...planned, remark: planned.remark ?? entry.remark })
        }
        if (finished.length > 0) await transaction.imports.finishImportEntries(id, finished)
        return next.length > 0
      })
    }
    const { total, done, counts } = (await find()) ?? kept
    return { id, total, done, counts: { ...counts } }
  },
})
