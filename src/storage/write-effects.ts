import type { Kysely } from 'kysely'
import type { LibraryChange, SharedState } from '../domain/items/changes.ts'
import type { Visibility } from '../domain/items/visibility.ts'
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
export type WriteEffects = ReturnType<typeof collectEffects>

/** Collects the effects of one write. */
export function collectEffects() {
  /** By row number. */
  const items = new Map<number, ChangedItem>()
  /** The readers of what changed beside items. */
  const shown = new Set<Visibility>()
  const changes: LibraryChange[] = []
  const audit = collectEntries()
  const notes: WriteNotes = {
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
  }
  return {
    notes,
    items,
    shown,
    changes,
    entries: audit.entries,
    /** The present states of the items. */
    async readStates(db: Kysely<Database>): Promise<SharedState[]> {
      const states = [...items.values()].flatMap(({ state }) => state ?? [])
      const unknown = [...items].flatMap(([seq, { state }]) => (state ? [] : [seq]))
      return unknown.length === 0 ? states : [...states, ...(await readSharedStates(db, unknown))]
    },
  }
}
