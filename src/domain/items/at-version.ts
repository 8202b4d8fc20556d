import { parseVariables } from '../variables/variables.ts'
import type { FullVersion, Item, ItemKind, ItemOf } from './items.ts'

/** An item with the texts and files of one of its versions; where it is filed and who sees it are as now. */
export function atVersion<Kind extends ItemKind>(
  item: ItemOf<Kind>,
  { title, description, type, content, files }: FullVersion,
): ItemOf<Kind> {
  const of: Item = item
  const texts = { title, description }
  const made: Item =
    of.kind === 'prompt'
      ? { ...of, ...texts, type: type ?? of.type, content: content ?? '', variables: parseVariables(content ?? '').variables }
      : { ...of, ...texts, files: (files ?? []).map(({ filename, bytes }) => ({ filename, size: bytes.length })) }
  // Of the same kind as the item that it was made from.
  return made as ItemOf<Kind>
}
