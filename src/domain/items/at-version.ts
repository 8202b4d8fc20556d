import { makeBody, variablesOf } from '../prompts/body.ts'
import type { FullVersion, Item, ItemKind, ItemOf, Prompt } from './items.ts'

/** An item with the texts and files of one of its versions; where it is filed and who sees it are as now. */
export function atVersion<Kind extends ItemKind>(
  item: ItemOf<Kind>,
  { title, description, type, body, files }: Pick<FullVersion, 'title' | 'description' | 'type' | 'body' | 'files'>,
): ItemOf<Kind> {
  const of: Item = item
  const texts = { title, description }
  const toPrompt = (of: Prompt): Prompt => {
    const said = body ?? makeBody({ content: '' })
    return { ...of, ...texts, ...said, type: type ?? of.type, variables: variablesOf(said) }
  }
  const made: Item =
    of.kind === 'prompt'
      ? toPrompt(of)
      : { ...of, ...texts, files: (files ?? []).map(({ filename, bytes }) => ({ filename, size: bytes.length })) }
  // Of the same kind as the item that it was made from.
  return made as ItemOf<Kind>
}
