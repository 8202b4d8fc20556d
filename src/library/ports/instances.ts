import type { ItemKind } from '../items.ts'
import type { ListAudience } from '../visibility.ts'

/** A change, announced after it is durable. */
export interface LibraryChange {
  readonly kind: ItemKind
  readonly ownerId: string
  /** Who saw it in lists, before or after. */
  readonly audience: ListAudience
  /** Whether something was deleted for good: nobody may keep a text of it any longer. */
  readonly isPurge?: true | undefined
}

/** Notifications from other instances. */
export interface InstanceListener {
  /** Another instance changed something. */
  onChange(change: LibraryChange): void
  /** Another instance ended sessions of browsers, or changed rights. */
  onLoginsChanged(): void
  /** A message another instance left for this one; each is heard once, in the order in which one sender left them. */
  onMail(body: string): void
}

/** The processes of the service that share a store. Each works without hearing of the others: what it hears only makes it quicker to know. */
export interface Instances {
  /** This process among them. */
  readonly instance: string
  /** Whether there may be others that serve from this store. */
  readonly isShared: boolean
  /** Subscribes to notifications; returns the unsubscribe function. */
  listen(listener: InstanceListener): () => Promise<void>
  /** Sends a message to another instance. Unread messages expire. */
  sendMail(instance: string, body: string): Promise<void>
  /** Tells all processes that sessions of browsers ended or rights changed. Afterwards `readLoginsRevision` gives another number in each. */
  tellLoginsChanged(): Promise<void>
  /** Another number whenever sessions ended or rights changed, in this process or in another. */
  readLoginsRevision(): Promise<number>
}

/** Counts over all instances: what limits go by. */
export interface CounterStore {
  /**
   * Adds points, or subtracts them, to named counts of a time window that ends at `endsAt` (ISO 8601); returns the totals. Old windows are
   * deleted.
   */
  addPoints(endsAt: string, points: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>>
}
