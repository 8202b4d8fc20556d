import { expect, it } from 'vitest'
import { ACCOUNT_WORDS } from './account.ts'
import { ADMIN_WORDS } from './admin.ts'
import { DOCUMENT_WORDS } from './documents.ts'
import { ENGLISH } from './index.ts'
import { BROWSE_WORDS } from './reading.ts'
import { EDITOR_WORDS } from './writing.ts'

it('no words stand in for others of the same name', () => {
  const joined = [BROWSE_WORDS, DOCUMENT_WORDS, ACCOUNT_WORDS, EDITOR_WORDS, ADMIN_WORDS].flatMap((part) => Object.entries<unknown>(part))
  for (const [name, words] of joined) expect(Object(ENGLISH)[name], name).toBe(words)
  expect(new Set(joined.map(([name]) => name)).size).toBe(joined.length)
})
