import { expect, it } from 'vitest'
import { ACCOUNT_WORDS } from './account.ts'
import { ADMIN_WORDS } from './admin.ts'
import { CHECK_WORDS } from './checks.ts'
import { DOCUMENT_WORDS } from './documents.ts'
import { ENGLISH } from './index.ts'
import { READING_WORDS } from './reading.ts'
import { TEAM_WORDS } from './teams.ts'
import { WRITING_WORDS } from './writing.ts'

it('no words stand in for others of the same name', () => {
  const parts = [ACCOUNT_WORDS, ADMIN_WORDS, CHECK_WORDS, DOCUMENT_WORDS, READING_WORDS, TEAM_WORDS, WRITING_WORDS]
  const joined = parts.flatMap((part) => Object.entries<unknown>(part))
  for (const [name, words] of joined) expect(Object(ENGLISH)[name], name).toBe(words)
  expect(new Set(joined.map(([name]) => name)).size).toBe(joined.length)
})
