import { setImmediate as nextTurn } from 'node:timers/promises'
import pLimit from 'p-limit'
import { createRevisionCaches } from '../../cache/revision-cache.ts'
import type { SharedVersion } from '../../domain/items/shared-changes.ts'
import { type Actor, readerKey } from '../../domain/people/actor.ts'
import { type ChannelScope, scopePath } from '../../domain/skills/channel-scope.ts'
import { AppError } from '../../errors.ts'
import { listSharedChanges, readSharedVersions } from '../../operations/channels/shared-items.ts'
import { showCollection } from '../../operations/collections/collections.ts'
import type { CallOperation } from '../../operations/core/invoke.ts'
import type { WorkMeter } from '../../storage/store.ts'
import type { GitAnswer, GitQuestion, GitThread } from './git-thread.ts'
import type { RepositoryAbout } from './history.ts'
import type { ObjectId } from './objects.ts'

/** Repositories whose state is kept here, of a few hundred bytes each. */
const MAX_KEPT = 1_000
/** Histories that are read at the same time; others wait. */
const MAX_BUILDS = 2
/** Listed entries that cost a point. */
const ENTRIES_A_POINT = 500
/** How often a history is begun again that changes while it is read. */
const ATTEMPTS = 4

/** A history as it is now, for one reader. */
export interface Repository {
  /** Its newest commit; null where there is nothing. */
  readonly tip: ObjectId | null
  /** Asks about the history. @throws AppError `unavailable` */
  ask(makeQuestion: (key: string) => GitQuestion, work: WorkMeter): Promise<GitAnswer>
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

/** Opens what one reader may see within a scope. @throws AppError `not_found`, `unavailable`, `rate_limited` */
export type OpenRepository = (reader: Reader, scope: ChannelScope) => Promise<Repository>

/** Repositories over one library. States are kept until the library changes; histories by the thread, within its bounds. */
export function createRepositories(
  readRevision: () => Promise<number>,
  thread: GitThread,
  describe: (scope: ChannelScope, audience: string) => RepositoryAbout,
): OpenRepository {
  const caches = createRevisionCaches(readRevision)
  const states = caches.create<{ readonly tip: ObjectId | null }>('repositories', MAX_KEPT)
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
  const build = async (key: string, { call, charge, audience }: Reader, scope: ChannelScope): Promise<ObjectId | null> => {
    const { only: _, ...whole } = scope
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const count = await listChanges(key, call, scopePath(whole))
      // An empty part of the library is answered like one that does not exist; a collection may be filled later.
      if (count === 0 && scope.kind === 'collection') await call(showCollection, { id: scope.ref })
      else if (count === 0 && scope.kind !== 'all') throw new AppError('not_found', 'Nothing found at this address.')
      let told: GitAnswer = await thread.ask({ kind: 'open', key, about: describe(whole, audience) })
      if (count >= ENTRIES_A_POINT) await charge(Math.floor(count / ENTRIES_A_POINT))
      while (told.kind === 'wanted' && told.changes.length > 0) {
        const versions = await readTexts(call, told.changes, scope.label)
        told = versions.length < told.changes.length ? { kind: 'gone' } : await thread.ask({ kind: 'add', key, versions })
        await nextTurn()
      }
      const last = told.kind === 'wanted' ? await thread.ask({ kind: 'tip', key }) : null
      if (last?.kind === 'tip') return last.tip
    }
    throw new AppError('unavailable', 'The library is changing too fast at the moment. Try again.')
  }

  /** Sends the thread every entry that the caller may see within a scope. Gives how many there are. */
  const listChanges = async (key: string, call: CallOperation, scope: string): Promise<number> => {
    let listed: GitAnswer = await thread.ask({ kind: 'list', key, isFirst: true, changes: [] })
    for (const kind of ['prompt', 'skill'] as const) {
      let next: number | null = 0
      while (next !== null) {
        const page: Awaited<ReturnType<typeof readPage>> = await readPage(call, scope, kind, next)
        listed = await thread.ask({ kind: 'list', key, isFirst: false, changes: page.changes })
        next = page.next
        await nextTurn()
      }
    }
    return listed.kind === 'listed' ? listed.count : 0
  }

  const buildInTurn = (key: string, reader: Reader, scope: ChannelScope): Promise<ObjectId | null> =>
    inTurn(`caller ${reader.caller}`, () => limit(() => build(key, reader, scope)))

  return async (reader, scope) => {
    const key = JSON.stringify([readerKey(reader.actor), reader.audience, scopePath(scope)])
    const bring = async (): Promise<{ readonly tip: ObjectId | null }> =>
      await inTurn(key, async () => {
        const revision = await caches.refresh()
        const known = states.get(key)
        if (known) return known
        const state = { tip: await buildInTurn(key, reader, scope) }
        states.put(revision, key, state)
        return state
      })
    const { tip } = await bring()
    return {
      tip,
      // In turn, so that no answer comes from a history that is half built.
      ask: (makeQuestion, work) =>
        inTurn(key, async () => {
          const first = await thread.ask(makeQuestion(key), work)
          if (first.kind !== 'gone') return first
          // The thread let go of it.
          await buildInTurn(key, reader, scope)
          return await thread.ask(makeQuestion(key), work)
        }),
    }
  }
}

/** The versions of entries, in the same order. One that was withdrawn meanwhile is missing, and the thread begins again. */
async function readTexts(call: CallOperation, changes: readonly number[], label: string | undefined): Promise<SharedVersion[]> {
  const { versions } = await call(readSharedVersions, { changes: [...changes], label })
  const bySeq = new Map(versions.map((version) => [version.seq, version]))
  return changes.flatMap((seq) => bySeq.get(seq) ?? [])
}

const readPage = async (call: CallOperation, scope: string, kind: 'prompt' | 'skill', after: number) =>
  await call(listSharedChanges, { scope, kind, after })
