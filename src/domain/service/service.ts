import type { StorageFault } from '../../errors.ts'
import type { OwnerUsage } from '../people/usage.ts'

/** A file that an upgrade or a restore left beside the library. */
interface FileBeside {
  readonly name: string
  readonly bytes: number
}

/** How often a cache answered, and how often it could not. */
export interface CacheUse {
  readonly name: string
  readonly hits: number
  readonly misses: number
}

/** Where the library is kept, and how large it is. */
export interface DatabaseSize {
  /** As people know it. */
  readonly engine: string
  /** The name of the file, or of the host: no path, user or password. */
  readonly place: string
  readonly bytes: number
  /** Of the write-ahead log, and free on its disk; null where a server keeps it. */
  readonly logBytes: number | null
  readonly freeBytes: number | null
  /** The largest first; empty for a server. */
  readonly beside: readonly FileBeside[]
}

/** The size and health of a library. */
export interface LibraryFigures {
  readonly prompts: number
  readonly skills: number
  readonly inTrash: number
  readonly users: number
  readonly logins: number
  /** The newest migration, such as 0011-frozen-schema. */
  readonly schema: string
  readonly database: DatabaseSize
  /** The index in memory of this process. */
  readonly search: { readonly isReady: boolean; readonly items: number }
  /** Those who keep most. */
  readonly owners: readonly (OwnerUsage & { readonly username: string })[]
}

/** The load of this process. */
export interface LoadFigures {
  readonly running: number
  /** Requests that wait for a place among those of their caller, and for their turn. */
  readonly waiting: { readonly admission: number; readonly turns: number }
  readonly streams: number
}

/** A fault of the last day: the error shown to callers, without its cause. */
export interface RecentFault {
  readonly message: string
  readonly times: number
  readonly lastAt: string
}

/** Faults of the library that were met since the start, by kind. */
export type FaultCounts = ReadonlyMap<StorageFault, number>

/** A setting as administrators see it. */
export interface SettingState {
  readonly name: string
  readonly isDefault: boolean
  /** null: it holds a secret, or nothing. */
  readonly value: string | null
  readonly isSecret: boolean
}

/** How a running service does, as an operator needs to know it. */
export interface ServiceStatus extends LibraryFigures, LoadFigures {
  readonly version: string
  readonly startedAt: string
  /** null: the service makes none by itself. */
  readonly backups: { readonly lastAt: string | null; readonly failures: number } | null
  readonly embeddings: 'ok' | 'degraded' | 'off'
  /** null: off. `embedded` of `total` items have a vector, private ones included. */
  readonly encoder: { readonly state: 'embedding' | 'ready' | 'fallback'; readonly embedded: number; readonly total: number } | null
  readonly faults: readonly RecentFault[]
  readonly settings: readonly SettingState[]
}
