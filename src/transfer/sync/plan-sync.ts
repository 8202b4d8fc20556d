import type { ItemKind } from '../../domain/items/items.ts'
import type { SyncedPath } from '../../domain/service/transfer.ts'
import { AppError } from '../../errors.ts'

/** A file or skill of the folder at a path. */
export interface FolderEntry {
  readonly kind: ItemKind
  readonly digest: string
  /** The slug that a prompt's file names in its frontmatter. */
  readonly slug: string | null
}

/** An item as syncing compares it. */
export interface SyncedItem {
  readonly kind: ItemKind
  readonly id: string
  readonly slug: string
  /** Of the item as a file. */
  readonly digest: string
  /** The names of a skill's files. */
  readonly filenames: readonly string[]
}

/** The subjects of steps. `from` is the last synced state of the path. */
interface Parts {
  readonly path: string
  readonly item: SyncedItem
  readonly entry: FolderEntry
  readonly from: SyncedPath
}
type PathOf<Name extends keyof Parts = never> = Pick<Parts, 'path' | Name>
/** Parts that may not be there: null then. */
type Maybe<Name extends keyof Parts> = { readonly [One in Name]: Parts[One] | null }

/** One step of a sync. */
export type SyncStep =
  /** A file was renamed: its state moves along. */
  | ({ readonly do: 'move' } & PathOf<'from'>)
  | ({ readonly do: 'update-item' } & Parts)
  /** `isPrivate`: its text may be that of an older item, which may have been private. */
  | ({ readonly do: 'create-item'; readonly isPrivate: boolean } & PathOf<'entry'> & Maybe<'from'>)
  | ({ readonly do: 'write-file' } & PathOf<'item'> & Maybe<'entry' | 'from'>)
  /** Both sides changed, or were never compared. */
  | ({ readonly do: 'compare' } & PathOf<'item' | 'entry'> & Maybe<'from'>)
  | ({ readonly do: 'trash-item' } & PathOf<'item' | 'from'>)
  | ({ readonly do: 'remove-file' } & PathOf<'entry' | 'from'>)
  /** Deleted on one side, and left on the other. */
  | ({ readonly do: 'leave'; readonly isFileMissing: boolean } & PathOf)
  /** Nothing is done, and the report says why. */
  | ({ readonly do: 'refuse'; readonly why: string } & PathOf)
  /** Deleted on both sides. */
  | ({ readonly do: 'drop-state' } & PathOf<'from'>)

/** The state of both sides, now and at the last sync. */
export interface SyncSides {
  readonly state: readonly SyncedPath[]
  readonly folder: ReadonlyMap<string, FolderEntry>
  /** Paths that exist and cannot be read: nothing is decided about them. */
  readonly refused: ReadonlySet<string>
  readonly items: ReadonlyMap<string, SyncedItem>
}

/**
 * Decides what a sync does, three-way: a side changed when it differs from the last synced state. An edit wins over a deletion.
 * @param deletes whether deletions are carried over
 * @throws AppError `conflict` when deletions would empty a side
 */
export function planSync(sides: SyncSides, deletes: boolean): SyncStep[] {
  const { folder, refused, items } = sides
  const steps: SyncStep[] = []
  const rows = followRenames(sides, steps)
  if (deletes) refuseEmptySide(sides, rows)
  const free = new Map(folder)
  const open = new Map(items)
  const taken = new Set([...folder.keys(), ...refused].map((path) => path.toLowerCase()))
  const lost = new Set(rows.filter((row) => !folder.has(row.path) && !refused.has(row.path)).map((row) => kindOf(row.path)))
  const misplaced = findMisplaced(sides, rows)
  const namedElsewhere = new Set(misplaced.values())
  for (const row of rows) {
    taken.add(row.path.toLowerCase())
    free.delete(row.path)
    open.delete(row.itemId)
    if (refused.has(row.path)) continue
    const known = planKnown(row, folder.get(row.path), items.get(row.itemId), deletes && !namedElsewhere.has(row.itemId))
    const isMisplaced = misplaced.has(row.path)
    steps.push(...known.map((step) => (step.do === 'update-item' && isMisplaced ? refuseMisplaced(row.path) : step)))
  }
  const bySlug = new Map([...open.values()].map((item) => [`${item.kind} ${item.slug}`, item]))
  for (const [path, entry] of free) {
    const item = [slugOf(path), entry.slug].map((slug) => bySlug.get(`${entry.kind} ${slug}`)).find((found) => found && open.has(found.id))
    if (item) open.delete(item.id)
    steps.push(
      item
        ? { do: 'compare', path, item, entry, from: null }
        : { do: 'create-item', path, entry, from: null, isPrivate: lost.has(entry.kind) },
    )
  }
  for (const item of open.values()) {
    const path = freePath(item, taken)
    taken.add(path)
    steps.push({ do: 'write-file', path, item, entry: null, from: null })
  }
  return steps
}

function planKnown(from: SyncedPath, entry: FolderEntry | undefined, item: SyncedItem | undefined, deletes: boolean): SyncStep[] {
  const { path } = from
  const isItemChanged = item !== undefined && item.digest !== from.libraryDigest
  const isEntryChanged = entry !== undefined && entry.digest !== from.digest
  if (entry && item) {
    if (isEntryChanged && isItemChanged) return [{ do: 'compare', path, item, entry, from }]
    if (isEntryChanged) return [{ do: 'update-item', path, item, entry, from }]
    return isItemChanged ? [{ do: 'write-file', path, item, entry, from }] : []
  }
  if (entry) {
    if (isEntryChanged) return [{ do: 'create-item', path, entry, from, isPrivate: true }]
    return [deletes ? { do: 'remove-file', path, entry, from } : { do: 'leave', path, isFileMissing: false }]
  }
  if (item) {
    if (isItemChanged) return [{ do: 'write-file', path, item, entry: null, from }]
    return [deletes ? { do: 'trash-item', path, item, from } : { do: 'leave', path, isFileMissing: true }]
  }
  return [{ do: 'drop-state', path, from }]
}

/**
 * Files that were changed and name another item than the one they were synced with, such as two whose names were swapped: the text of a
 * private item could go into a public one. @returns the items they name, by path
 */
function findMisplaced({ folder, items }: SyncSides, rows: readonly SyncedPath[]): Map<string, string> {
  const bySlug = new Map([...items.values()].map((item) => [`${item.kind} ${item.slug}`, item.id]))
  const misplaced = new Map<string, string>()
  for (const { path, itemId, digest } of rows) {
    const entry = folder.get(path)
    const named = entry && entry.digest !== digest && entry.slug !== null ? bySlug.get(`${entry.kind} ${entry.slug}`) : undefined
    if (named !== undefined && named !== itemId && items.has(itemId)) misplaced.set(path, named)
  }
  return misplaced
}

function refuseMisplaced(path: string): SyncStep {
  const why = 'it has the text of another prompt, which its field "name" names. Give both files their former names, or remove the field'
  return { do: 'refuse', path, why }
}

/** The state with renamed files at their new paths: the same bytes at a new path, or a prompt's file that names the item of a missing one. */
function followRenames({ state, folder, refused, items }: SyncSides, steps: SyncStep[]): SyncedPath[] {
  const known = new Set(state.map((row) => row.path))
  const fresh = new Map([...folder].filter(([path]) => !known.has(path)))
  const byDigest = new Map([...fresh].map(([path, entry]) => [`${entry.kind} ${entry.digest}`, path]))
  const byName = new Map(
    [...fresh].flatMap(([path, entry]) => (entry.slug === null ? [] : [[`${entry.kind} ${entry.slug}`, path] as const])),
  )
  const move = (row: SyncedPath, key: string | null, index: ReadonlyMap<string, string>): SyncedPath => {
    const path = key === null ? undefined : index.get(key)
    if (path === undefined || folder.has(row.path) || refused.has(row.path) || !fresh.delete(path)) return row
    steps.push({ do: 'move', path, from: row })
    return { ...row, path }
  }
  const sameBytes = state.map((row) => move(row, `${kindOf(row.path)} ${row.digest}`, byDigest))
  return sameBytes.map((row) => {
    const item = items.get(row.itemId)
    return move(row, item ? `${item.kind} ${item.slug}` : null, byName)
  })
}

/** A folder that is not mounted, or another library, looks like a deletion of everything. Either kind may be in a folder of its own. */
function refuseEmptySide({ folder, items }: SyncSides, all: readonly SyncedPath[]): void {
  for (const kind of ['prompt', 'skill'] as const) {
    const rows = all.filter((row) => kindOf(row.path) === kind)
    if (rows.length === 0) continue
    const refuse = (side: string, its: string) =>
      new AppError(
        'conflict',
        `The ${side} has none of ${its} ${rows.length} synced ${kind}s. Check the ${side}, or sync without --delete.`,
      )
    if (!rows.some((row) => folder.has(row.path))) throw refuse('folder', 'its')
    if (!rows.some((row) => items.has(row.itemId))) throw refuse('library', 'the')
  }
}

export function kindOf(path: string): ItemKind {
  return path.startsWith('skills/') ? 'skill' : 'prompt'
}

function slugOf(path: string): string {
  return path.slice(path.indexOf('/') + 1).replace(/\.md$/, '')
}

function freePath({ kind, slug }: SyncedItem, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? slug : `${slug}-${number}`
    const path = kind === 'prompt' ? `prompts/${name}.md` : `skills/${name}`
    if (!taken.has(path.toLowerCase())) return path
  }
}
