import { LRUCache } from 'lru-cache'
import type { CacheUse } from '../library/service.ts'
import type { RevisionCache, RevisionCaches } from './revision-cache.ts'

/** Changes that are compared with what is cached. Whatever was cached before the oldest of them is forgotten. */
const MAX_CHANGES = 1_000

/** A change that cached values may show, with the revision it made. */
export interface Change {
  readonly revision: number
}

/** Where changes are read. */
export interface ChangeLog<C extends Change> {
  /** Another, higher number after each change, in this process or in another. */
  readRevision(): Promise<number>
  /** The changes after a revision and the last revision read; `changes` is null when they are not known, or touch everything. */
  readChanges(after: number): Promise<{ readonly changes: readonly C[] | null; readonly revision: number }>
}

/** Caches whose values survive the changes that do not touch them. */
export interface ChangeCaches<C extends Change> extends Pick<RevisionCaches, 'refresh'> {
  /**
   * @param name for figures; of one name there may be several
   * @param maxSize largest sum of the sizes that entries are put with
   * @param isTouched whether a change may alter a value; true when in doubt
   */
  create<T extends object | string | number>(
    name: string,
    maxSize: number,
    isTouched: (value: T, change: C, key: string) => boolean,
  ): ChangeCache<T, C>
  readUse(): CacheUse[]
}

/** A cache of values that a closer look may find untouched. */
interface ChangeCache<T extends object | string | number, C extends Change> extends RevisionCache<T> {
  /** A value, with the changes since it was put that touch it, newest first; undefined when there is none, or not all are known. */
  find(key: string): { readonly value: T; readonly touching: readonly C[] } | undefined
  /** Counts a use that `find` began. */
  count(isHit: boolean): void
}

/** A value with the revision up to which no change touched it. */
interface Entry<T> {
  readonly value: T
  revision: number
}

/**
 * Caches that follow a log of changes. A value is compared with the changes since it was put when somebody asks for it, so a change costs
 * nothing for what nobody asks for.
 */
export function createChangeCaches<C extends Change>({ readRevision, readChanges }: ChangeLog<C>): ChangeCaches<C> {
  let current: number | null = null
  /** What was put before this revision is forgotten. */
  let oldest = 0
  let changes: C[] = []
  let reading: Promise<void> | null = null
  const all: { clear(): void }[] = []
  const uses = new Map<string, { hits: number; misses: number }>()

  const forget = (revision: number): void => {
    current = revision
    oldest = revision
    changes = []
    for (const cache of all) cache.clear()
  }
  const follow = async (after: number): Promise<void> => {
    const read = await readChanges(after)
    if (read.changes === null || current !== after) return forget(read.revision)
    current = read.revision
    changes.push(...read.changes)
    const dropped = changes.splice(0, Math.max(0, changes.length - MAX_CHANGES))
    oldest = dropped.at(-1)?.revision ?? oldest
  }
  return {
    async refresh() {
      const before = current
      const revision = await readRevision()
      // Another library, or an older state of it.
      if (current === null || (before !== null && revision < before)) forget(revision)
      for (let last = -1; current !== null && current < revision && current !== last; ) {
        last = current
        reading ??= follow(current).finally(() => {
          reading = null
        })
        await reading
      }
      return current ?? revision
    },
    create<T extends object | string | number>(
      name: string,
      maxSize: number,
      isTouched: (value: T, change: C, key: string) => boolean,
    ): ChangeCache<T, C> {
      const cache = new LRUCache<string, Entry<T>>({ maxSize })
      all.push(cache)
      const use = uses.get(name) ?? { hits: 0, misses: 0 }
      uses.set(name, use)
      const find = (key: string, most: number) => {
        const entry = cache.get(key)
        if (!entry || entry.revision < oldest) return undefined
        const touching: C[] = []
        for (let at = changes.length - 1; at >= 0 && touching.length < most; at--) {
          const change = changes[at]
          if (!change || change.revision <= entry.revision) break
          if (isTouched(entry.value, change, key)) touching.push(change)
        }
        if (touching.length === 0) entry.revision = current ?? entry.revision
        return { value: entry.value, touching }
      }
      const count = (isHit: boolean) => {
        if (isHit) use.hits++
        else use.misses++
      }
      return {
        find: (key) => find(key, MAX_CHANGES),
        count,
        get(key) {
          const found = find(key, 1)
          const isHit = found?.touching.length === 0
          count(isHit)
          if (isHit) return found.value
          cache.delete(key)
          return undefined
        },
        put(revision, key, value, size = 1) {
          // A later one is of a library that is gone.
          if (revision >= oldest && revision <= (current ?? 0)) cache.set(key, { value, revision }, { size })
        },
      }
    },
    readUse: () => [...uses].map(([name, use]) => ({ name, ...use })),
  }
}
