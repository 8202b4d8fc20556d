/** Where an entry stands: a folder or archive that was given, and the path of its file or folder in it. */
export interface EntryPlace {
  readonly root: string
  readonly path: string
}

/** A place as it is kept with the item. */
export function placeName({ root, path }: EntryPlace): string {
  return `${root}/${path}`
}

/** An item that an entry may mean: one of its kind, owner, author and title. */
export interface Candidate {
  readonly id: string
  /** Where the last import found it; absent: nobody knows. */
  readonly source?: string
  readonly isEqual: boolean
}

/** An entry that more than one thing may be said of. */
export interface OpenEntry {
  readonly place: EntryPlace | undefined
  readonly candidates: readonly Candidate[]
}

/** The item of an entry, null for a new one. */
export interface Match {
  readonly id: string | null
  /** Whether the item belongs to another source, which keeps it. */
  readonly isOfAnother: boolean
}

type MatchState = ReturnType<typeof startMatching>

/** An empty state, for the beginning of a run. */
export function startMatching() {
  return {
    /** Items that entries of this run took, which no other entry gets. */
    claimed: new Set<string>(),
    /** The places of all entries, as items keep them. */
    places: new Set<string>(),
    /** Roots below which an item was found at its place. */
    roots: new Set<string>(),
  }
}

/**
 * The item of an entry where no later entry can have a better right to it: an equal one from the same place, or of unknown origin, or none
 * at all. Undefined: this shows when all entries are read, by {@link matchEntries}.
 */
export function matchAtOnce({ place, candidates }: OpenEntry, state: MatchState): Match | undefined {
  const source = place && placeName(place)
  if (source !== undefined) state.places.add(source)
  const free = candidates.filter(({ id }) => !state.claimed.has(id))
  if (place && free.some((candidate) => candidate.source === source)) state.roots.add(place.root)
  if (free.length === 0) return { id: null, isOfAnother: false }
  const equal = free.filter(({ isEqual }) => isEqual)
  const sure = equal.find((candidate) => candidate.source === source) ?? equal.find((candidate) => candidate.source === undefined)
  if (!sure) return undefined
  state.claimed.add(sure.id)
  return { id: sure.id, isOfAnother: false }
}

/**
 * The items of the entries that waited, each the best that is left: an equal one, then the one from its place, then one of its title that
 * nobody else can mean. An item from another source is taken only when it is equal.
 * @param countBelow how many items an earlier import found below a folder
 */
export async function matchEntries(
  entries: readonly OpenEntry[],
  state: MatchState,
  countBelow: (root: string) => Promise<number>,
): Promise<Match[]> {
  const { claimed, places } = state
  const formerRoots = await findFormerRoots(entries, state.roots, countBelow)
  const rootsOf = ({ root }: EntryPlace) => [root, ...(formerRoots.get(root) ?? [])]
  const isFrom = ({ place }: OpenEntry, source: string | undefined) =>
    place === undefined ? source === undefined : rootsOf(place).some((root) => source === placeName({ root, path: place.path }))
  /** The path of an item below the entry's root, when it has one. */
  const pathBelow = ({ place }: OpenEntry, source: string | undefined) => {
    const root = place && rootsOf(place).find((one) => source?.startsWith(`${one}/`))
    return root === undefined ? undefined : source?.slice(root.length + 1)
  }
  const wanted = new Map<string, number>()
  const isMoved = (entry: OpenEntry, { id, source }: Candidate) => {
    const path = pathBelow(entry, source)
    if (path === undefined || !entry.place || places.has(placeName({ root: entry.place.root, path }))) return false
    return wanted.get(id) === 1 && entry.candidates.filter((one) => pathBelow(entry, one.source) !== undefined).length === 1
  }
  const ranks: ((entry: OpenEntry, candidate: Candidate) => boolean)[] = [
    (entry, candidate) => candidate.isEqual && isFrom(entry, candidate.source),
    (_, candidate) => candidate.isEqual,
    (entry, candidate) => isFrom(entry, candidate.source),
    (entry, candidate) => isMoved(entry, candidate) || candidate.source === undefined,
  ]
  const matches: (Match | undefined)[] = entries.map(() => undefined)
  for (const [rank, fits] of ranks.entries()) {
    if (rank === ranks.length - 1) {
      for (const [index, { candidates }] of entries.entries()) {
        if (!matches[index]) for (const { id } of candidates) wanted.set(id, (wanted.get(id) ?? 0) + 1)
      }
    }
    for (const [index, entry] of entries.entries()) {
      const found = matches[index] ? undefined : entry.candidates.find((one) => !claimed.has(one.id) && fits(entry, one))
      if (!found) continue
      claimed.add(found.id)
      matches[index] = {
        id: found.id,
        isOfAnother: rank === 1 && found.source !== undefined && pathBelow(entry, found.source) === undefined,
      }
    }
  }
  return matches.map((match) => match ?? { id: null, isOfAnother: false })
}

/**
 * Where the folders of this run were at an earlier import: a folder of which at least half is found again at the same paths, one item of it
 * equal. Another repository with files of the same names is none.
 */
async function findFormerRoots(
  entries: readonly OpenEntry[],
  known: ReadonlySet<string>,
  countBelow: (root: string) => Promise<number>,
): Promise<Map<string, string[]>> {
  const found = new Map<string, Map<string, { hits: number; equal: number }>>()
  for (const { place, candidates } of entries) {
    if (!place || known.has(place.root)) continue
    const below = found.get(place.root) ?? new Map<string, { hits: number; equal: number }>()
    found.set(place.root, below)
    for (const { source, isEqual } of candidates) {
      if (!source?.endsWith(`/${place.path}`)) continue
      const root = source.slice(0, -place.path.length - 1)
      const { hits, equal } = below.get(root) ?? { hits: 0, equal: 0 }
      below.set(root, { hits: hits + 1, equal: equal + (isEqual ? 1 : 0) })
    }
  }
  const former = new Map<string, string[]>()
  for (const [root, below] of found) {
    const [best] = [...below].filter(([, { equal }]) => equal > 0).toSorted(([, one], [, other]) => other.equal - one.equal)
    if (best && best[1].hits * 2 >= (await countBelow(best[0]))) former.set(root, [best[0]])
  }
  return former
}
