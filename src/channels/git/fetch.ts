import { AppError } from '../../errors.ts'
import type { History } from './history.ts'
import { type ObjectId, readObject, readTree } from './objects.ts'
import type { PktLine } from './pkt-line.ts'

/** The request of a client (git-scm.com, "protocol-v2", fetch). */
export interface FetchRequest {
  readonly wants: readonly ObjectId[]
  readonly haves: readonly ObjectId[]
  /** Commits whose parents the client does not have. */
  readonly shallows: readonly ObjectId[]
  readonly isDone: boolean
  /** Most commits to send from the tip; null for all. */
  readonly depth: number | null
}

/** Most wants, haves and shallow commits of one request. */
const MAX_IDS = 5_000

/** A request that gets no answer. */
const UNSUPPORTED: ReadonlySet<string> = new Set(['deepen-not', 'deepen-relative', 'deepen-since', 'filter', 'packfile-uris', 'want-ref'])

/** A fetch, from its lines. @throws AppError `invalid_input` */
export function readFetch(lines: readonly PktLine[]): FetchRequest {
  const ids = { want: new Set<ObjectId>(), have: new Set<ObjectId>(), shallow: new Set<ObjectId>() }
  let isDone = false
  let depth: number | null = null
  const start = lines.findIndex(({ kind }) => kind === 'delimiter')
  for (const line of start < 0 ? [] : lines.slice(start + 1)) {
    if (line.kind !== 'data') continue
    const [name = '', value = ''] = line.text.split(' ', 2)
    if (UNSUPPORTED.has(name)) {
      throw new AppError('invalid_input', `"${name}" is not supported here. Fetch with --depth or --unshallow.`)
    }
    // Whatever else a client may say changes no answer: thin-pack, no-progress, include-tag, ofs-delta.
    if (name === 'done') isDone = true
    else if (name === 'want' || name === 'have' || name === 'shallow') {
      if (!/^[0-9a-f]{40}$/.test(value)) throw new AppError('invalid_input', 'An object id must be 40 hexadecimal digits.')
      ids[name].add(value)
    } else if (name === 'deepen') {
      if (!/^\d{1,12}$/.test(value)) throw new AppError('invalid_input', '"deepen" needs a whole number.')
      depth = Number(value) || null
    }
    if (ids.want.size + ids.have.size + ids.shallow.size > MAX_IDS) {
      throw new AppError('invalid_input', `A request names at most ${MAX_IDS} commits.`)
    }
  }
  return { wants: [...ids.want], haves: [...ids.have], shallows: [...ids.shallow], isDone, depth }
}

/** The answer before a pack. */
export interface FetchPlan {
  /** A commit that was asked for and is not in the history; nothing else is said then. */
  readonly unknown: ObjectId | null
  /** Of the commits that the client has, those in the history. */
  readonly common: readonly ObjectId[]
  /** Commits that the client has without their parents from now on, and those it gets the parents of; null when nothing was asked. */
  readonly boundary: { readonly shallow: readonly ObjectId[]; readonly unshallow: readonly ObjectId[] } | null
  /** The contents of the pack, each with the objects it stands among; null when the client must say more first. */
  readonly objects: ReadonlyMap<ObjectId, History['objects']> | null
}

/** The parts of histories that a client lacks, of those it wants commits of. */
export function planFetch(histories: readonly History[], request: FetchRequest): FetchPlan {
  const isKnown = (id: ObjectId) => histories.some(({ placeOf }) => placeOf.has(id))
  const unknown = request.wants.find((id) => !isKnown(id)) ?? null
  if (unknown !== null) return { unknown, common: [], boundary: null, objects: null }
  const common = request.haves.filter(isKnown)
  const wanted = histories.filter(({ placeOf }) => request.wants.some((id) => placeOf.has(id)))
  const parts = wanted.map((history) => planHistory(history, request))
  const objects = new Map<ObjectId, History['objects']>()
  for (const [place, history] of wanted.entries()) {
    const ids = parts[place]?.objects
    if (!ids) return { unknown, common, boundary: null, objects: null }
    for (const id of ids) if (!objects.has(id)) objects.set(id, history.objects)
  }
  const boundary = {
    shallow: parts.flatMap((part) => part.boundary?.shallow ?? []),
    unshallow: parts.flatMap((part) => part.boundary?.unshallow ?? []),
  }
  return { unknown, common, boundary: request.depth === null ? null : boundary, objects }
}

/**
 * The part of a history that a client lacks. Commits stand in one line, so those below one it has are there too, down to where it was cut: what each
 * commit changes is enough for those above.
 */
function planHistory(history: History, request: FetchRequest) {
  const { commits, placeOf } = history
  const common = request.haves.filter((id) => placeOf.has(id))
  const wanted = Math.max(-1, ...request.wants.map((id) => placeOf.get(id) ?? -1))
  const had = Math.max(-1, ...common.map((id) => placeOf.get(id) ?? -1))
  const cuts = request.shallows.flatMap((id) => placeOf.get(id) ?? [])
  const isCutting = request.depth !== null
  const cut = Math.max(-1, ...cuts.filter((place) => place <= Math.max(had, wanted)))
  const first = request.depth === null ? 0 : Math.max(0, wanted - request.depth + 1)
  const boundary = isCutting ? toBoundary(history, first, cuts) : null
  const isReady = request.isDone || common.length > 0 || request.haves.length === 0
  if (!isReady) return { boundary, objects: null }
  const objects = new Set<ObjectId>()
  const addCommits = (from: number, to: number) => {
    for (let place = to; place >= from; place--) objects.add(commits[place]?.id ?? '')
    for (let place = from; place <= to; place++) for (const id of commits[place]?.changed ?? []) objects.add(id)
  }
  const addWhole = (place: number) => {
    const commit = commits[place]
    if (commit) for (const id of listTree(history, commit.tree)) objects.add(id)
  }
  if (had < 0) {
    addCommits(first, wanted)
    if (first > 0) addWhole(first)
  } else {
    addCommits(Math.max(had + 1, first), wanted)
    // The client has the tree of what it has, so that of a later first commit comes from the changes in between.
    for (let place = had + 1; place < first; place++) for (const id of commits[place]?.changed ?? []) objects.add(id)
    if (isCutting && cut > first) {
      addCommits(first, cut - 1)
      addWhole(first)
    }
  }
  objects.delete('')
  return { boundary, objects }
}

function toBoundary({ commits }: History, first: number, cuts: readonly number[]): FetchPlan['boundary'] {
  const idOf = (place: number) => commits[place]?.id ?? []
  return {
    shallow: first > 0 && !cuts.includes(first) ? [idOf(first)].flat() : [],
    unshallow: cuts.filter((place) => place > first || (place === first && first === 0)).flatMap(idOf),
  }
}

/** A tree with everything in it. */
function* listTree(history: History, tree: ObjectId): Generator<ObjectId> {
  yield tree
  for (const { id, isFolder } of readTree(readObject(tree, (one) => history.objects.get(one)))) {
    if (isFolder) yield* listTree(history, id)
    else yield id
  }
}
