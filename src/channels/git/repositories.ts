import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'
import { createRevisionCaches } from '../../cache/answer-cache.ts'
import type { SharedChange, SharedVersion } from '../../domain/items/changes.ts'
import { type Actor, readerKey } from '../../domain/people/actor.ts'
import { type ChannelScope, scopePath } from '../../domain/skills/channel-scope.ts'
import { AppError } from '../../errors.ts'
import { listSharedChanges, listSharedLabels, readSharedVersions } from '../../operations/channels/shared-items.ts'
import { showCollection } from '../../operations/collections/collections.ts'
import type { CallOperation } from '../../operations/core/define-operation.ts'
import type { Output } from '../../operations/core/procedure.ts'
import type { WorkMeter } from '../../storage/store.ts'
import type { FetchPlan, FetchRequest } from './fetch.ts'
import type { RepositoryAbout } from './history.ts'
import type { ObjectId } from './objects.ts'

/** Repositories whose state is kept here, of a few hundred bytes each. */
const MAX_KEPT = 1_000
/** Histories that are read at the same time; others wait. */
const MAX_BUILDS = 2
/** Listed entries that cost a point. */
const ENTRIES_A_POINT = 500
/** Memory of a history with those of its labels: below what the thread holds at a time. */
const MAX_TOGETHER_BYTES = 640 * 1024 * 1024
/** How often a history is begun again that changes while it is read. */
const ATTEMPTS = 4

/** A scope as it is now, for one reader. */
export interface Repository {
  /** Its newest commit; null where there is nothing. */
  readonly tip: ObjectId | null
  /** The newest commits at labels of its items, by label, where one of them is wanted. @throws AppError `unavailable`, `rate_limited` */
  readTips(isWanted: (label: string) => boolean): Promise<ReadonlyMap<string, ObjectId>>
  /** Plans a pack of its commits, those at labels too. @throws AppError `unavailable`, `rate_limited` */
  fetch(request: FetchRequest, work: WorkMeter): Promise<GitAnswer>
}

/** A history, as it was built last. */
interface Built {
  readonly tip: ObjectId | null
  /** Memory that the thread takes for it. */
  readonly bytes: number
  /** The labels within its scope, each with a history of its own. */
  readonly labels: readonly string[]
}

/** The history of a scope, for one reader. */
interface Line {
  readonly key: string
  readonly scope: ChannelScope
}

/** The reader who opens a repository. */
interface Reader {
  readonly actor: Actor
  /** The name of its marketplace's reader, as `nameReader` gives it. */
  readonly audience: string
  /** The caller it is counted for: one history is built for each at a time. */
  readonly caller: string
  readonly call: CallOperation
  /** Counts points for the work that opening takes. @throws AppError `rate_limited` */
  charge(points: number): Promise<void>
}

/** Repositories over one library. States are kept until the library changes; histories by the thread, within its bounds. */
export function createRepositories(
  readRevision: () => Promise<number>,
  thread: GitThread,
  describe: (scope: ChannelScope, audience: string) => RepositoryAbout,
) {
  const caches = createRevisionCaches(readRevision)
  const states = caches.create<Built>('repositories', MAX_KEPT)
  /** The last thing that happens to each history: one after the other. */
  const queues = new Map<string, Promise<unknown>>()
  const limit = pLimit(MAX_BUILDS)

  const inTurn = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const turn = (queues.get(key) ?? Promise.resolve()).then(work, work)
    queues.set(key, turn)
    try {
      return await turn
    } finally {
      if (queues.get(key) === turn) queues.delete(key)
    }
  }

  /** Brings the history of the thread to what there is now. */
  const build = async ({ key, scope }: Line, { call, charge, audience }: Reader): Promise<Built> => {
    const { only: _, ...whole } = scope
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const count = await listChanges(key, call, scopePath(whole))
      if (count === 0) return { tip: null, bytes: 0, labels: [] }
      let told: GitAnswer = await thread.ask({ kind: 'open', key, about: describe(whole, audience) })
      if (count >= ENTRIES_A_POINT) await charge(Math.floor(count / ENTRIES_A_POINT))
      while (told.kind === 'wanted' && told.changes.length > 0) {
        const versions = await readTexts(call, told.changes, scope.label)
        told = versions.length < told.changes.length ? { kind: 'gone' } : await thread.ask({ kind: 'add', key, versions })
        await nextTurn()
      }
      const last = told.kind === 'wanted' ? await thread.ask({ kind: 'tip', key }) : null
      if (last?.kind !== 'tip') continue
      const { tip, bytes } = last
      return { tip, bytes, labels: scope.label === undefined ? (await call(listSharedLabels, { scope: scopePath(whole) })).labels : [] }
    }
    throw new AppError('unavailable', 'The library is changing too fast at the moment. Try again.')
  }

  /** Sends the thread every entry that the caller may see within a scope. Gives how many there are. */
  const listChanges = async (key: string, call: CallOperation, scope: string): Promise<number> => {
    let listed: GitAnswer = await thread.ask({ kind: 'list', key, isFirst: true, changes: [] })
    for (const kind of ['prompt', 'skill'] as const) {
      let next: number | null = 0
      while (next !== null) {
        const page: Output<typeof listSharedChanges> = await call(listSharedChanges, { scope, kind, after: next })
        listed = await thread.ask({ kind: 'list', key, isFirst: false, changes: page.changes })
        next = page.next
        await nextTurn()
      }
    }
    return listed.kind === 'listed' ? listed.count : 0
  }

  const buildInTurn = (line: Line, reader: Reader): Promise<Built> =>
    inTurn(`caller ${reader.caller}`, () => limit(() => build(line, reader)))

  const bring = (line: Line, reader: Reader): Promise<Built> =>
    inTurn(line.key, async () => {
      const revision = await caches.refresh()
      const known = states.get(line.key)
      if (known) return known
      const built = await buildInTurn(line, reader)
      if (built.tip !== null) states.put(revision, line.key, built)
      return built
    })

  /** Opens what one reader may see within a scope. @throws AppError `not_found`, `unavailable`, `rate_limited` */
  return async (reader: Reader, scope: ChannelScope): Promise<Repository> => {
    const keyOf = (of: ChannelScope) => JSON.stringify([readerKey(reader.actor), reader.audience, scopePath(of)])
    const toLine = (of: ChannelScope): Line => ({ key: keyOf(of), scope: of })
    const main = toLine(scope)
    const { tip, bytes, labels } = await bring(main, reader)
    // An empty part of the library is answered like one that does not exist; a collection may be filled later.
    if (tip === null && scope.kind === 'collection') await reader.call(showCollection, { id: scope.ref })
    else if (tip === null && scope.kind !== 'all') throw new AppError('not_found', 'Nothing found at this address.')

    const plan = async (lines: readonly Line[], request: FetchRequest, work: WorkMeter): Promise<GitAnswer> => {
      const ask = () => thread.ask({ kind: 'fetch', keys: lines.map(({ key }) => key), request }, work)
      const answer = async () => {
        const first = await ask()
        if (first.kind !== 'gone') return first
        // The thread let go of one.
        for (const line of lines) await buildInTurn(line, reader)
        return await ask()
      }
      // In turn, so that no answer comes from a history that is half built; in one order, so that nobody waits for one who waits for them.
      const keys = lines.map(({ key }) => key).toSorted()
      return await keys.reduce<() => Promise<GitAnswer>>((work, key) => () => inTurn(key, work), answer)()
    }
    /** The histories of labels, as far as they fit. */
    const openLabels = async () => {
      const opened: { readonly label: string; readonly line: Line; readonly tip: ObjectId }[] = []
      let left = MAX_TOGETHER_BYTES - bytes
      for (const label of labels) {
        const line = toLine({ ...scope, label })
        const built = await bring(line, reader).catch((error: unknown) => {
          // What is too large at a label must not keep anybody from the rest.
          if (!(error instanceof AppError && error.code === 'unavailable')) throw error
        })
        if (!built || built.tip === null || built.bytes > left) continue
        left -= built.bytes
        opened.push({ label, line, tip: built.tip })
      }
      return opened
    }
    return {
      tip,
      async readTips(isWanted) {
        const opened = labels.some(isWanted) ? await openLabels() : []
        return new Map(opened.map((one) => [one.label, one.tip]))
      },
      async fetch(request, work) {
        const own = tip === null ? [] : [main]
        const answer = await plan(own, request, work)
        if (answer.kind !== 'plan' || answer.plan.unknown === null || labels.length === 0) return answer
        return await plan([...own, ...(await openLabels()).map(({ line }) => line)], request, work)
      },
    }
  }
}

/** The versions of entries, in the same order. One that was withdrawn meanwhile is missing, and the thread begins again. */
async function readTexts(call: CallOperation, changes: readonly number[], label: string | undefined): Promise<SharedVersion[]> {
  const { versions } = await call(readSharedVersions, { changes: [...changes], label })
  const bySeq = new Map(versions.map((version) => [version.seq, version]))
  return changes.flatMap((seq) => bySeq.get(seq) ?? [])
}

/** Heap of the thread; objects of histories are outside of it. */
const LIMITS = { maxOldGenerationSizeMb: 1024 }

/** Processor time that a point pays for. */
const MS_A_POINT = 10

/** A request to the thread of histories. A history is called by its key. */
export type GitQuestion =
  /** A page of the entries that a history shall hold; the first page begins a new list. */
  | { readonly kind: 'list'; readonly key: string; readonly isFirst: boolean; readonly changes: readonly SharedChange[] }
  /** Opens a history that holds the listed entries. What it holds already is kept where it is their beginning. */
  | { readonly kind: 'open'; readonly key: string; readonly about: RepositoryAbout }
  /** The texts that were asked for. */
  | { readonly kind: 'add'; readonly key: string; readonly versions: readonly SharedVersion[] }
  | { readonly kind: 'tip'; readonly key: string }
  | { readonly kind: 'fetch'; readonly keys: readonly string[]; readonly request: FetchRequest }
  /** The next piece of a pack. */
  | { readonly kind: 'next'; readonly pack: string }
  | { readonly kind: 'cancel'; readonly pack: string }

/** Its answer. */
export type GitAnswer =
  /** How many entries are listed. */
  | { readonly kind: 'listed'; readonly count: number }
  /** The entries whose texts come next, by number; none when the history holds all. */
  | { readonly kind: 'wanted'; readonly changes: readonly number[] }
  | { readonly kind: 'tip'; readonly tip: ObjectId | null; readonly bytes: number }
  | { readonly kind: 'plan'; readonly plan: Omit<FetchPlan, 'objects'>; readonly pack: string | null }
  | { readonly kind: 'piece'; readonly bytes: Uint8Array<ArrayBuffer> | null }
  /** The history is not there, or not any more. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly reason: 'too-large' | 'fault'; readonly message: string }

/** Numbered, so that answers find their questions. */
export interface NumberedQuestion {
  readonly number: number
  readonly question: GitQuestion
}
export interface NumberedAnswer {
  readonly number: number
  /** Processor time that the thread took for it, in milliseconds. */
  readonly cpuMs: number
  readonly answer: GitAnswer
}

/** The thread that builds histories and packs. */
export type GitThread = ReturnType<typeof createGitThread>

/** A thread that starts with the first question and, empty, with the first one after it ended. */
export function createGitThread() {
  const pending = new Map<number, { resolve(answer: GitAnswer): void; reject(error: AppError): void; work: WorkMeter | undefined }>()
  let worker: Worker | null = null
  let last = 0
  let hasEnded = false

  const start = (): Worker => {
    const started = startWorker()
    started.on('message', ({ number, answer, cpuMs }: NumberedAnswer) => {
      const waiting = pending.get(number)
      if (waiting?.work) waiting.work.points += cpuMs / MS_A_POINT
      pending.delete(number)
      if (pending.size === 0) started.unref()
      if (answer.kind !== 'failed') waiting?.resolve(answer)
      else waiting?.reject(answer.reason === 'too-large' ? tooLarge() : unavailable(new Error(answer.message)))
    })
    const onEnd = (error?: unknown) => {
      if (worker !== started) return
      worker = null
      const lost = [...pending.values()]
      pending.clear()
      for (const { reject } of lost) reject(unavailable(error))
    }
    started.on('error', onEnd)
    started.on('exit', () => onEnd())
    started.unref()
    return started
  }
  return {
    /**
     * @param work gets the points of the processor time that the answer took
     * @throws AppError `unavailable` when the thread cannot start, ends, or fails
     */
    ask: (question: GitQuestion, work?: WorkMeter) =>
      new Promise<GitAnswer>((resolve, reject) => {
        if (hasEnded) return reject(unavailable())
        try {
          worker ??= start()
        } catch (error) {
          return reject(unavailable(error))
        }
        const number = ++last
        pending.set(number, { resolve, reject, work })
        worker.ref()
        worker.postMessage({ number, question } satisfies NumberedQuestion)
      }),
    async close(): Promise<void> {
      hasEnded = true
      await worker?.terminate()
    },
  }
}

function tooLarge(): AppError {
  return new AppError('unavailable', 'There is too much here for one Git repository. Clone a tag, a category or a user instead.')
}

function unavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'The Git repository could not be made. Try again in a moment.', { cause })
}

function startWorker(): Worker {
  // The build puts the worker next to the program.
  const name = import.meta.url.endsWith('.ts') ? './git-worker.ts' : './git-worker.js'
  return new Worker(new URL(name, import.meta.url), { resourceLimits: LIMITS, execArgv: [] })
}
