import type { Words } from '../../site.ts'
import { ACCOUNT_WORDS_DE, CONNECT_WORDS_DE, FACTOR_WORDS_DE, LANGUAGE_WORDS_DE, PROGRAM_WORDS_DE, SIGN_IN_WORDS_DE } from './account.ts'
import { ADMIN_WORDS_DE, STATUS_WORDS_DE, USAGE_WORDS_DE } from './admin.ts'
import { AUDIT_WORDS_DE } from './audit.ts'
import { CHECKING_WORDS_DE, FINDING_WORDS_DE, LABEL_WORDS_DE, TEST_WORDS_DE } from './checks.ts'
import { API_WORDS_DE, DOCUMENT_WORDS_DE } from './documents.ts'
import { DONE_MESSAGES_DE, ERROR_WORDS_DE } from './messages.ts'
import {
  BROWSE_WORDS_DE,
  FILLING_WORDS_DE,
  FIND_WORDS_DE,
  FIRST_PAGE_WORDS_DE,
  MEMBERS_ONLY_WORDS_DE,
  READING_WORDS_DE,
} from './reading.ts'
import { COLLECTION_WORDS_DE, TEAM_WORDS_DE, TRANSFER_WORDS_DE } from './teams.ts'
import { DESIGNER_WORDS_DE, EDITOR_WORDS_DE, EMBED_WORDS_DE, IMPORT_WORDS_DE, LIBRARY_WORDS_DE, PURGE_WORDS_DE } from './writing.ts'

/** Every text of the pages, in German. */
export const GERMAN: Words = {
  language: 'de',
  ...BROWSE_WORDS_DE,
  ...DOCUMENT_WORDS_DE,
  ...ACCOUNT_WORDS_DE,
  ...EDITOR_WORDS_DE,
  ...ADMIN_WORDS_DE,
  languages: LANGUAGE_WORDS_DE,
  done: DONE_MESSAGES_DE,
  errors: ERROR_WORDS_DE,
  membersOnly: MEMBERS_ONLY_WORDS_DE,
  findings: FINDING_WORDS_DE,
  find: FIND_WORDS_DE,
  reading: READING_WORDS_DE,
  factors: FACTOR_WORDS_DE,
  filling: FILLING_WORDS_DE,
  connecting: CONNECT_WORDS_DE,
  firstPage: FIRST_PAGE_WORDS_DE,
  labels: LABEL_WORDS_DE,
  tests: TEST_WORDS_DE,
  library: LIBRARY_WORDS_DE,
  purge: PURGE_WORDS_DE,
  programs: PROGRAM_WORDS_DE,
  importing: IMPORT_WORDS_DE,
  embed: EMBED_WORDS_DE,
  designer: DESIGNER_WORDS_DE,
  api: API_WORDS_DE,
  signingIn: SIGN_IN_WORDS_DE,
  status: STATUS_WORDS_DE,
  audit: AUDIT_WORDS_DE,
  usage: USAGE_WORDS_DE,
  teams: TEAM_WORDS_DE,
  transfers: TRANSFER_WORDS_DE,
  collecting: COLLECTION_WORDS_DE,
  checking: CHECKING_WORDS_DE,
}
