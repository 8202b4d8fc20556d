import { showControls } from '../../library/controls.ts'
import type { ItemKind } from '../../library/items.ts'
import type { Needs } from '../core/procedure.ts'
import { itemUrl } from '../core/records.ts'

/** What to know of an item that was saved: which one it nearly repeats, where the caller finds that, and how many words search passes over. */
export async function hintsOnSave(
  { actor, store, baseUrl, onFault }: Needs<'items' | 'own', 'baseUrl'>,
  kind: ItemKind,
  id: string,
): Promise<{ hints?: string[] }> {
  try {
    const hints: string[] = []
    const known = await store.items.findNearDuplicate(actor, kind, id)
    if (known) hints.push(`Nearly the same as ${showControls(known.title)} (${itemUrl(baseUrl, kind, known)}).`)
    const leftOut = await store.own.countLeftOut(id)
    if (leftOut > 0)
      hints.push(`Search does not find this by ${leftOut} of its words: its owner's share of them is used up (QUOTA_PER_OWNER).`)
    return hints.length > 0 ? { hints } : {}
  } catch (error) {
    // The item is saved, whatever happens here.
    onFault?.(error)
    return {}
  }
}
