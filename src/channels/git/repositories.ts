import { setImmediate as nextTurn } from 'node:timers/promises'
import { createRevisionCaches } from '../../cache/revision-cache.ts'
import { AppError } from '../../errors.ts'
import { type Actor, privateReaderId } from '../../library/actor.ts'
import { type ChannelScope, scopePath } from '../../library/channel-scope.ts'
import type { SharedChange, SharedVersion } from '../../library/shared-changes.ts'
import { listSharedChanges } from '../../operations/channels/list-shared-changes.ts'
import { MAX_VERSIONS, readSharedVersions } from '../../operations/channels/read-shared-versions.ts'
import type { CallOperation } from '../../operations/core/invoke.ts'
import type { GitThread } from './git-thread.ts'
import type { RepositoryAbout } from './history.ts'
import type { GitAnswer, GitQuestion } from './messages.ts'
import type { ObjectId } from './objects.ts'

/** Most entries of one history. */
const MAX_CHANGES = 500_000
/** Repositories whose state is kept here, of a few hundred bytes each. */
const MAX_KEPT = 1_000
/** Skills of one page of texts: each has up to 8 MiB. */
const SKILLS_A_PAGE = 4
/** How often a history is begun again that changes while it is read. */
const ATTEMPTS = 4

/** A history as it is now, for one reader. */
export interface Repository {
  /** Its newest commit; null where there is nothing. */
  readonly tip: ObjectId | null
  /** Asks about the history. @throws AppError `unavailable` */
  ask(makeQuestion: (key: string) => GitQuestion): Promise<GitAnswer>
}

/** Opens what one actor may see within a scope. @throws AppError `not_found`, `unavailable` */
export type OpenRepository = (actor: Actor, call: CallOperation, scope: ChannelScope) => Promise<Repository>

/** Repositories over one library. States are kept until the library changes; histories by the thread, within its bounds. */
export function createRepositories(
  readRevision: () => Promise<number>,
  thread: GitThread,
  describe: (scope: ChannelScope) => RepositoryAbout,
): OpenRepository {
  const caches = createRevisionCaches(readRevision)
  const states = caches.create<{ readonly tip: ObjectId | null }>(MAX_KEPT)
  /** The last thing that happens to each history: one after the other. */
  const queues = new Map<string, Promise<unknown>>()

  const inTurn = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const running = (queues.get(key) ?? Promise.resolve()).then(work, work)
    queues.set(key, running)
    try {
      return await running
    } finally {
      if (queues.get(key) === running) queues.delete(key)
    }
  }

  /** Brings the history of the thread to what there is now. */
  const build = async (key: string, call: CallOperation, scope: ChannelScope): Promise<ObjectId | null> => {
    const { only: _, ...whole } = scope
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const changes = await readChanges(call, scopePath(whole))
      // An empty part of the library is answered like one that does not exist.
      if (changes.length === 0 && scope.kind !== 'all') throw new AppError('not_found', 'Nothing found at this address.')
      const opened = await thread.ask({ kind: 'open', key, about: describe(whole), changes })
      const isBuilt = opened.kind === 'held' && (await addTexts(key, call, changes, opened.count))
      const told = isBuilt ? await thread.ask({ kind: 'tip', key }) : null
      if (told?.kind === 'tip') return told.tip
    }
    throw new AppError('unavailable', 'The library is changing too fast at the moment. Try again.')
  }

  /** False when something was withdrawn meanwhile. */
  const addTexts = async (key: string, call: CallOperation, changes: readonly SharedChange[], count: number): Promise<boolean> => {
    for (let at = count; at < changes.length; ) {
      const page = changes.slice(at, at + MAX_VERSIONS)
      const firstSkills = page.findIndex(
        (_, place) => page.slice(0, place + 1).filter(({ kind }) => kind === 'skill').length > SKILLS_A_PAGE,
      )
      const wanted = (firstSkills < 0 ? page : page.slice(0, firstSkills)).map(({ seq }) => seq)
      const { versions } = await call(readSharedVersions, { changes: wanted })
      const bySeq = new Map(versions.map((version) => [version.seq, version]))
      const inOrder = wanted.flatMap((seq): SharedVersion[] => {
        const version = bySeq.get(seq)
        return version ? [version] : []
      })
      if (inOrder.length < wanted.length) return false
      const added = await thread.ask({ kind: 'add', key, versions: inOrder })
      if (added.kind !== 'held') return false
      at += wanted.length
      await nextTurn()
    }
    return true
  }

  return async (actor, call, scope) => {
    const key = JSON.stringify([privateReaderId(actor), scopePath(scope)])
    const bring = async (): Promise<{ readonly tip: ObjectId | null }> =>
      await inTurn(key, async () => {
        const revision = await caches.refresh()
        const known = states.get(key)
        if (known) return known
        const state = { tip: await build(key, call, scope) }
        states.put(revision, key, state)
        return state
      })
    const { tip } = await bring()
    return {
      tip,
      async ask(makeQuestion) {
        const first = await thread.ask(makeQuestion(key))
        if (first.kind !== 'gone') return first
        // The thread let go of it.
        await inTurn(key, () => build(key, call, scope))
        return await thread.ask(makeQuestion(key))
      },
    }
  }
}

/** Every entry that the caller may see within a scope, in order. */
async function readChanges(call: CallOperation, scope: string): Promise<SharedChange[]> {
  const found: SharedChange[] = []
  for (const kind of ['prompt', 'skill'] as const) {
    let next: number | null = 0
    while (next !== null) {
      const page: Awaited<ReturnType<typeof readPage>> = await readPage(call, scope, kind, next)
      found.push(...page.changes)
      if (found.length > MAX_CHANGES) {
        throw new AppError('unavailable', 'There is too much here for one Git repository. Clone a tag, a category or a user instead.')
      }
      next = page.next
      await nextTurn()
    }
  }
  return found.sort((a, b) => a.seq - b.seq)
}

const readPage = async (call: CallOperation, scope: string, kind: 'prompt' | 'skill', after: number) =>
  await call(listSharedChanges, { scope, kind, after })
