import { z } from 'zod'
import { type Visibility, visibilitySchema } from '../../domain/items/visibility.ts'
import type { SkillFile } from '../../domain/skills/skill.ts'
import { isId } from '../../domain/text/addresses.ts'
import { AppError } from '../../errors.ts'
import type { LibraryStore } from '../../storage/store.ts'
import { onlyThemselves } from '../../transfer/export-lists.ts'
import { importEntries, type ReadEntry } from '../../transfer/import-entries.ts'
import { loadStarter } from '../../transfer/library-folder.ts'
import type { EntryResult } from '../../transfer/prepare-prompt.ts'
import { readUpload, type UploadEntry } from '../../transfer/upload.ts'
import { refInput, toPage } from '../core/inputs.ts'
import { defineProcedure, defineWrite, type Needs, requireUser, type UserActor } from '../core/procedure.ts'
import { importChecks } from '../prompts/compose.ts'

/** How long comparing entries with the library may take. */
const PLAN_MS = 5_000

/** The results of an entry: what would become of it, or did. */
export const IMPORT_OUTCOMES = ['created', 'updated', 'unchanged', 'kept', 'refused'] as const

type ImportStores = keyof LibraryStore
const entryOutput = z.object({
  /** Where it stands: a file, and a row in it. */
  name: z.string(),
  title: z.string().nullable(),
  kind: z.enum(['prompt', 'skill']).nullable(),
  outcome: z.enum(IMPORT_OUTCOMES),
  remark: z.string().nullable(),
  itemId: z.string().nullable(),
})
type EntryOutput = z.infer<typeof entryOutput>
/** Results of an import. `upload` names its files until they are imported. */
const report = z.object({ upload: z.string().nullable(), entries: z.array(entryOutput) })
const upload = z.object({
  visibility: visibilitySchema.optional(),
  files: z.array(z.object({ filename: z.string(), base64: z.string() })),
})

const gone = () => new AppError('not_found', 'This import is over. Choose the files again.')

/**
 * An entry as it is written: addresses, times and owners of a file are not taken from strangers, and a visibility that was chosen holds for
 * all.
 */
function toOwnEntry(entry: UploadEntry, visibility: Visibility | undefined): UploadEntry {
  if (entry.kind !== 'prompt') return entry
  const none = { owner: undefined, id: undefined, slug: undefined, createdAt: undefined, updatedAt: undefined, held: undefined }
  return { ...entry, draft: { ...entry.draft, ...none, visibility: visibility ?? entry.draft.visibility } }
}

/** Imports files for somebody, whose own everything is: whoever a file names could be anybody. With `isDryRun` it only says what it would do. */
async function importUpload(
  { store, sealer }: Pick<Needs<ImportStores, 'sealer'>, 'store' | 'sealer'>,
  { username }: UserActor,
  files: readonly SkillFile[],
  visibility: Visibility | undefined,
  isDryRun: boolean,
): Promise<EntryOutput[]> {
  const user = await store.people.findUser(username)
  if (!user) throw new AppError('not_found', 'This user does not exist.')
  const entries = (await readUpload(files)).map((entry) => toOwnEntry(entry, visibility))
  if (entries.length === 0) throw new AppError('invalid_input', 'These files have no entries.')
  // Who sees it is said before anything is published.
  const toAudience = (entry: UploadEntry | ReadEntry | undefined) => {
    const becomes = (entry?.kind === 'prompt' ? entry.draft.visibility : undefined) ?? visibility ?? user.defaultVisibility
    return becomes === 'private' ? null : `will be ${becomes}`
  }
  const results: EntryOutput[] = []
  const endsAt = performance.now() + PLAN_MS
  const options = {
    owner: user.username,
    visibility,
    leavesOutUnknownCategories: true,
    isDryRun,
    checks: importChecks({ sealer }),
    onProgress() {
      if (!isDryRun || performance.now() <= endsAt) return
      throw new AppError('too_large', 'These entries take too long to compare. Import a part of them, or all on the command line.')
    },
    onResult({ index, outcome, remarks, itemId }: EntryResult) {
      const entry = entries[index]
      const told = [...remarks, isDryRun && outcome === 'created' ? toAudience(entry) : null].filter((one) => one)
      results[index] = {
        name: entry?.name ?? '',
        title: entry && entry.kind !== null ? entry.draft.title : null,
        kind: entry?.kind ?? null,
        outcome,
        remark: told.join('; ') || null,
        itemId,
      }
    },
  }
  await importEntries(store, entries, options, onlyThemselves(user))
  return results
}

async function findReport({ actor, store }: Needs<'formDrafts'>, id: string): Promise<z.infer<typeof report>> {
  const body = isId(id) ? await store.formDrafts.findFormDraft(requireUser(actor).userId, 'import', id) : null
  if (body === null) throw gone()
  return report.parse(JSON.parse(body))
}

/** Fill an empty library with the prompts and skills that come with the service. */
export const loadStarterLibrary = defineWrite({
  scope: 'admin',
  async run({ store }: Needs<ImportStores>) {
    const created = await loadStarter(store)
    if (created === 0)
      throw new AppError('conflict', 'The starter library is for an empty library. This one has items, maybe in the trash.')
    return { created }
  },
})

/** Read files of prompts and skills, and keep them for 15 minutes with what importing them would do. Nothing is imported yet. */
export const checkImport = defineProcedure({
  scope: 'account',
  input: z.object({
    files: z.array(z.object({ filename: z.string(), bytes: z.instanceof(Uint8Array) })).min(1, 'Choose at least one file.'),
    visibility: visibilitySchema.optional(),
  }),
  async run(context: Needs<ImportStores, 'sealer'>, { files, visibility }) {
    const { actor, store } = context
    const user = requireUser(actor)
    const entries = await importUpload(context, user, files, visibility, true)
    const inBase64 = files.map(({ filename, bytes }) => ({ filename, base64: Buffer.from(bytes).toString('base64') }))
    const kept: z.infer<typeof upload> = { visibility, files: inBase64 }
    const uploadId = await store.formDrafts.saveFormDraft(user.userId, 'upload', JSON.stringify(kept))
    return { id: await store.formDrafts.saveFormDraft(user.userId, 'import', JSON.stringify({ upload: uploadId, entries })) }
  },
})

/** The result of an import, or of its preview, entry by entry. */
export const showImport = defineProcedure({
  scope: 'account',
  input: z.object({
    id: refInput,
    outcome: z.enum(IMPORT_OUTCOMES).optional(),
    page: z.number().int().min(1).max(1_000).default(1),
    perPage: z.number().int().min(1).max(200).default(100),
  }),
  async run(context: Needs<'formDrafts'>, { id, outcome, page, perPage }) {
    const { upload: left, entries } = await findReport(context, id)
    const counts = { created: 0, updated: 0, unchanged: 0, kept: 0, refused: 0 }
    for (const entry of entries) counts[entry.outcome]++
    const shown = outcome === undefined ? entries : entries.filter((entry) => entry.outcome === outcome)
    const { totalPages } = toPage({ page, perPage }, shown.length)
    const first = (page - 1) * perPage
    const listed = shown.slice(first, first + perPage)
    return { id, isDone: left === null, total: entries.length, counts, entries: listed, page, totalPages }
  },
})

/** Import the files that were checked. When it fails, what is imported stays, and it can be repeated while the files are kept. */
export const runImport = defineWrite({
  scope: 'write',
  input: z.object({ id: refInput }),
  async run(context: Needs<ImportStores, 'sealer'>, { id }) {
    const { store } = context
    const user = requireUser(context.actor)
    const { upload: uploadId } = await findReport(context, id)
    const body = uploadId === null ? null : await store.formDrafts.findFormDraft(user.userId, 'upload', uploadId)
    if (uploadId === null || body === null) throw gone()
    const { files, visibility } = upload.parse(JSON.parse(body))
    const read = files.map(({ filename, base64 }) => ({ filename, bytes: Buffer.from(base64, 'base64') }))
    const entries = await importUpload(context, user, read, visibility, false)
    await store.formDrafts.removeFormDraft(user.userId, uploadId)
    return { id: await store.formDrafts.saveFormDraft(user.userId, 'import', JSON.stringify({ upload: null, entries })) }
  },
})
