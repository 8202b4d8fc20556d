import { showControls } from '../../library/controls.ts'
import type { ItemKind } from '../../library/items.ts'
import type { Needs } from '../core/define-operation.ts'
import { itemUrl } from '../core/records.ts'

/** A hint that names the item which a saved one nearly repeats. None when the caller finds no such item. */
export async function hintNearDuplicate(
  { actor, store, baseUrl, onFault }: Needs<'items', 'baseUrl'>,
  kind: ItemKind,
  id: string,
): Promise<{ hints?: string[] }> {
  try {
    const known = await store.items.findNearDuplicate(actor, kind, id)
    return known ? { hints: [`Nearly the same as ${showControls(known.title)} (${itemUrl(baseUrl, kind, known)}).`] } : {}
  } catch (error) {
    // The item is saved, whatever happens here.
    onFault?.(error)
    return {}
  }
}
