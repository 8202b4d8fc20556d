import { ACCOUNT_WORDS } from './account.ts'
import { ADMIN_WORDS } from './admin.ts'
import { API_WORDS } from './api.ts'
import { AUDIT_WORDS } from './audit.ts'
import { BROWSE_WORDS } from './browse.ts'
import { CHECKING_WORDS } from './checking.ts'
import { COLLECTION_WORDS } from './collections.ts'
import { CONNECT_WORDS } from './connect.ts'
import { DOCUMENT_WORDS } from './documents.ts'
import { EDITOR_WORDS } from './editor.ts'
import { DESIGNER_WORDS, EMBED_WORDS } from './embeds.ts'
import { ERROR_WORDS } from './errors.ts'
import { FACTOR_WORDS } from './factors.ts'
import { FILLING_WORDS } from './filling.ts'
import { FIND_WORDS } from './find.ts'
import { FINDING_WORDS } from './findings.ts'
import { FIRST_PAGE_WORDS } from './first-page.ts'
import { IMPORT_WORDS } from './import.ts'
import { LABEL_WORDS } from './labels.ts'
import { LANGUAGE_WORDS } from './language.ts'
import { LIBRARY_WORDS } from './library.ts'
import { MEMBERS_ONLY_WORDS } from './members-only.ts'
import { DONE_MESSAGES } from './messages.ts'
import { PROGRAM_WORDS } from './programs.ts'
import { PURGE_WORDS } from './purge.ts'
import { READING_WORDS } from './reading.ts'
import { SIGN_IN_WORDS } from './sign-in.ts'
import { STATUS_WORDS } from './status.ts'
import { TEAM_WORDS } from './teams.ts'
import { TEST_WORDS } from './tests.ts'
import { TRANSFER_WORDS } from './transfers.ts'
import { USAGE_WORDS } from './usage.ts'

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
