import type { PromptFields } from '../../src/domain/items/items.ts'

/** A prompt with nothing special about it, for tests of the store. */
export const PLAIN_PROMPT: PromptFields = {
  title: 'A title',
  content: 'Some text',
  description: null,
  category: null,
  tags: [],
  type: 'TEXT',
  visibility: 'public',
}
