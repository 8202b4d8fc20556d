import type { Actor } from '../actor.ts'
import type { AuditEntry, AuditStore } from '../audit.ts'
import type { PurgeStore } from '../purges.ts'
import type { CacheUse, FigureStore, ReplicaState } from '../service.ts'
import type { ArrivalStore } from './arrivals.ts'
import type { CategoryStore } from './categories.ts'
import type { CollectionStore } from './collections.ts'
import type { EmbeddingStore } from './embeddings.ts'
import type { EmbedStore, FormDraftStore } from './embeds.ts'
import type { ImportStore } from './imports.ts'
import type { InstallLinkStore } from './install-links.ts'
import type { CounterStore, Instances } from './instances.ts'
import type { ItemVectorStore } from './item-vectors.ts'
import type { ItemReader, ItemWriter } from './items.ts'
import type { KeyStore } from './keys.ts'
import type { LoginRecords } from './logins.ts'
import type { MarkStore } from './marks.ts'
import type { BudgetStore } from './models.ts'
import type { OfferStore } from './offers.ts'
import type { OwnItemsStore } from './own-items.ts'
import type { PeopleStore } from './people.ts'
import type { SessionStore } from './sessions.ts'
import type { SyncStore } from './sync.ts'
import type { TeamStore } from './teams.ts'
import type { TransferStore } from './transfer.ts'
import type { UsageStore } from './usage.ts'

/** What a revision is of: everything, or what others than its owner may see. */
export type RevisionScope = 'library' | 'public'

/** Adds up what the work of one call takes, in points: a point is about a millisecond of processor. */
export interface WorkMeter {
  points: number
}

/** The service's own records, and how its database does. */
export interface ServiceStore extends FigureStore {
  /** Items of any kind and state, the trash included: whether the library is empty. */
  isEmpty(): Promise<boolean>
  /** How many connections to a database server are busy and idle, and how much waits for one; null for a library in a file. */
  readUsage(): { readonly busy: number; readonly idle: number; readonly waiting: number } | null
  /** How often public answers came from caches since the start. */
  readCacheUse(): readonly CacheUse[]
  /** Checks that the library is usable: reads a row, and retries a write if the last one failed. @throws AppError `unavailable` */
  check(): Promise<void>
  /** Writes without changing anything. @throws AppError `unavailable` where the library cannot be written to */
  checkWrite(): Promise<void>
  /** Loads the search index; resolves when search is ready. */
  loadSearch(): Promise<void>
  /** Whether the library has more words than fit into memory: search finds items by their titles for the others. */
  isSearchCut(): boolean
  /**
   * The current revision of a scope: another number whenever an answer of that scope could have changed, whoever wrote. Whatever the request
   * reads afterwards is of this revision or a later one.
   */
  readRevision(scope: RevisionScope): Promise<number>
  /** Runs what answers one request: what it reads of items may come from a replica where that shows this actor nothing old. */
  answer<T>(actor: Actor, work: () => T): T
  /** Runs `work`, and adds to a meter what the writes that it begins take. */
  meterWork<T>(meter: WorkMeter, work: () => T): T
  /** How the replica does; null without one. */
  readReplica(): Promise<ReplicaState | null>
  /** Statements that a replica may answer, by who did; null without one. */
  countReads(): { readonly replica: number; readonly primary: number } | null
  /** A secret of the service by name, made from `make` on first use and kept. */
  ensureSecret(name: 'sealing_key', make: () => string): Promise<string>
  /** The address at which the service was last reached, or null when it never listened. */
  findServiceUrl(): Promise<string | null>
  /** Notes the address at which the service is reached from now on. */
  keepServiceUrl(url: string): Promise<void>
}

/** Everything the service keeps, by aggregate. */
export interface LibraryStore {
  readonly items: ItemReader & ItemWriter
  readonly marks: MarkStore
  readonly own: OwnItemsStore
  readonly categories: CategoryStore
  readonly collections: CollectionStore
  readonly purges: PurgeStore
  readonly people: PeopleStore
  readonly arrivals: ArrivalStore
  readonly teams: TeamStore
  readonly offers: OfferStore
  readonly keys: KeyStore
  readonly installLinks: InstallLinkStore
  readonly syncs: SyncStore
  readonly logins: LoginRecords
  readonly formDrafts: FormDraftStore
  readonly imports: ImportStore
  readonly embeds: EmbedStore
  readonly embeddings: EmbeddingStore
  readonly itemVectors: ItemVectorStore
  readonly budgets: BudgetStore
  readonly usage: UsageStore
  readonly sessions: SessionStore
  readonly instances: Instances & CounterStore
  readonly transfer: TransferStore
  readonly audit: AuditStore
  readonly service: ServiceStore
  /**
   * Several writes as one transaction. Nothing but store calls may be awaited inside.
   * A write that is refused with an AppError has written nothing, so the others may go on; any other error must end the transaction.
   * @param toEvents what is recorded in the audit log for the events of its writes, when `work` is done. Default: all of them
   */
  inTransaction<T>(
    work: (store: LibraryStore) => Promise<T>,
    toEvents?: (entries: readonly AuditEntry[]) => readonly AuditEntry[],
  ): Promise<T>
  close(): Promise<void>
}
