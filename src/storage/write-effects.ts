import type { Kysely } from 'kysely'
import type { LibraryChange, SharedState } from '../domain/items/changes.ts'
import type { Visibility } from '../domain/items/visibility.ts'
import type { AuditEntry } from '../domain/service/audit.ts'
import type { SearchableText } from '../search/analysis/indexed-text.ts'
import { collectEntries } from './audit-log.ts'
import { readSharedStates } from './change-log.ts'
import type { WriteNotes } from './items/item-parts.ts'
import type { Database } from './schema.ts'

/** The effect of a write on an item. */
interface ChangedItem {
  /** Its new text for the index; null when only its state changed. */
  text: SearchableText | null
  isNew: boolean
  /** For whom new words count; null for nobody. */
  ownerSeq: number | null
  /** Its present state, where that is known without reading it. */
  state: SharedState | null
}

/** The effects of a write at the end of its transaction. */
export interface WriteEffects {
  readonly notes: WriteNotes
  /** By row number. */
  readonly items: ReadonlyMap<number, ChangedItem>
  /** The readers of what changed beside items. */
  readonly shown: ReadonlySet<Visibility>
  readonly changes: readonly LibraryChange[]
  readonly entries: readonly AuditEntry[]
  /** The present states of the items. */
  readStates(db: Kysely<Database>): Promise<SharedState[]>
}

/** Collects the effects of one write. */
export function collectEffects(): WriteEffects {
  const items = new Map<number, ChangedItem>()
  const shown = new Set<Visibility>()
  const changes: LibraryChange[] = []
  const audit = collectEntries()
  return {
    items,
    shown,
    changes,
    entries: audit.entries,
    notes: {
      index(seq, text, { isNew = false, ownerSeq = null, state = null } = {}) {
        const known = items.get(seq)
        items.set(seq, {
          text: text ?? known?.text ?? null,
          isNew: isNew || (known?.isNew ?? false),
          ownerSeq: ownerSeq ?? known?.ownerSeq ?? null,
          state,
        })
      },
      shown: (audience) => shown.add(audience),
      changed: (change) => changes.push(change),
      audit: audit.note,
    },
    async readStates(db) {
      const states = [...items.values()].flatMap(({ state }) => state ?? [])
      const unknown = [...items].flatMap(([seq, { state }]) => (state ? [] : [seq]))
      return unknown.length === 0 ? states : [...states, ...(await readSharedStates(db, unknown))]
    },
  }
}
