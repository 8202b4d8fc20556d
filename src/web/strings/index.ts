import { ACCOUNT_WORDS, CONNECT_WORDS, FACTOR_WORDS, LANGUAGE_WORDS, PROGRAM_WORDS, SIGN_IN_WORDS } from './account.ts'
import { ADMIN_WORDS, STATUS_WORDS, USAGE_WORDS } from './admin.ts'
import { AUDIT_WORDS } from './audit.ts'
import { CHECKING_WORDS, FINDING_WORDS, LABEL_WORDS, TEST_WORDS } from './checks.ts'
import { API_WORDS, DOCUMENT_WORDS } from './documents.ts'
import { DONE_MESSAGES, ERROR_WORDS } from './messages.ts'
import { BROWSE_WORDS, FILLING_WORDS, FIND_WORDS, FIRST_PAGE_WORDS, MEMBERS_ONLY_WORDS, READING_WORDS } from './reading.ts'
import { COLLECTION_WORDS, TEAM_WORDS, TRANSFER_WORDS } from './teams.ts'
import { DESIGNER_WORDS, EDITOR_WORDS, EMBED_WORDS, IMPORT_WORDS, LIBRARY_WORDS, PURGE_WORDS } from './writing.ts'

/** Every text of the pages. Another language is another object of this shape. */
export const ENGLISH = {
  language: 'en',
  ...BROWSE_WORDS,
  ...DOCUMENT_WORDS,
  ...ACCOUNT_WORDS,
  ...EDITOR_WORDS,
  ...ADMIN_WORDS,
  languages: LANGUAGE_WORDS,
  done: DONE_MESSAGES,
  errors: ERROR_WORDS,
  membersOnly: MEMBERS_ONLY_WORDS,
  factors: FACTOR_WORDS,
  findings: FINDING_WORDS,
  find: FIND_WORDS,
  reading: READING_WORDS,
  filling: FILLING_WORDS,
  connecting: CONNECT_WORDS,
  firstPage: FIRST_PAGE_WORDS,
  labels: LABEL_WORDS,
  tests: TEST_WORDS,
  library: LIBRARY_WORDS,
  purge: PURGE_WORDS,
  programs: PROGRAM_WORDS,
  importing: IMPORT_WORDS,
  embed: EMBED_WORDS,
  designer: DESIGNER_WORDS,
  api: API_WORDS,
  signingIn: SIGN_IN_WORDS,
  status: STATUS_WORDS,
  audit: AUDIT_WORDS,
  usage: USAGE_WORDS,
  teams: TEAM_WORDS,
  transfers: TRANSFER_WORDS,
  collecting: COLLECTION_WORDS,
  checking: CHECKING_WORDS,
}
