import { cutCharacters } from '../../library/characters.ts'
import type { SearchableText } from './indexed-text.ts'

/** How much of an item a provider is sent, in characters: about what its models read of one text. */
const MAX_EMBEDDED = 8_000

/** The text of an item whose meaning a provider is asked for: title, description, then as much of the text as fits. */
export function toEmbeddedText({ title, description, content }: Pick<SearchableText, 'title' | 'description' | 'content'>): string {
  const text = [title, description, content].filter((part) => part !== '').join('\n\n')
  return cutCharacters(text, MAX_EMBEDDED)
}
