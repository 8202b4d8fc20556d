import { ACCOUNT_WORDS } from './account.ts'
import { ADMIN_WORDS } from './admin.ts'
import { AUDIT_WORDS } from './audit.ts'
import { CHECK_WORDS } from './checks.ts'
import { DOCUMENT_WORDS } from './documents.ts'
import { DONE_MESSAGES, ERROR_WORDS } from './messages.ts'
import { READING_WORDS } from './reading.ts'
import { TEAM_WORDS } from './teams.ts'
import { WRITING_WORDS } from './writing.ts'

/** Every text of the pages. Another language is another object of this shape. */
export const ENGLISH = {
  language: 'en',
  ...ACCOUNT_WORDS,
  ...ADMIN_WORDS,
  ...CHECK_WORDS,
  ...DOCUMENT_WORDS,
  ...READING_WORDS,
  ...TEAM_WORDS,
  ...WRITING_WORDS,
  audit: AUDIT_WORDS,
  done: DONE_MESSAGES,
  errors: ERROR_WORDS,
}
