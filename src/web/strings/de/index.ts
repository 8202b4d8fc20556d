import type { Words } from '../../site.ts'
import { ACCOUNT_WORDS_DE } from './account.ts'
import { ADMIN_WORDS_DE } from './admin.ts'
import { AUDIT_WORDS_DE } from './audit.ts'
import { CHECK_WORDS_DE } from './checks.ts'
import { DOCUMENT_WORDS_DE } from './documents.ts'
import { DONE_MESSAGES_DE, ERROR_WORDS_DE } from './messages.ts'
import { READING_WORDS_DE } from './reading.ts'
import { TEAM_WORDS_DE } from './teams.ts'
import { WRITING_WORDS_DE } from './writing.ts'

/** Every text of the pages, in German. */
export const GERMAN: Words = {
  language: 'de',
  ...ACCOUNT_WORDS_DE,
  ...ADMIN_WORDS_DE,
  ...CHECK_WORDS_DE,
  ...DOCUMENT_WORDS_DE,
  ...READING_WORDS_DE,
  ...TEAM_WORDS_DE,
  ...WRITING_WORDS_DE,
  audit: AUDIT_WORDS_DE,
  done: DONE_MESSAGES_DE,
  errors: ERROR_WORDS_DE,
}
