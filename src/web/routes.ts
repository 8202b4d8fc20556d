import { ALL_DOCUMENTS } from './documents.ts'
import type { FormLimit } from './forms.ts'
import { changeAccess, showAccess, showConsent, submitConsent } from './pages/account/access.tsx'
import { changeFactorsAlone, showFactorsPage } from './pages/account/factors.tsx'
import { askForPassword, setNewPassword, showForgotPassword, showResetPassword } from './pages/account/password.tsx'
import { changeSecurity, showSecurity } from './pages/account/security.tsx'
import { changeSettings, chooseLanguage, showData, showLanguage, showSettings, submitDeleteAccount } from './pages/account/settings.tsx'
import {
  comeBackFromProvider,
  leaveForProvider,
  showSecondStepPage,
  showSignIn,
  showSignInLinkPage,
  showSignOut,
  showSignUpPage,
  submitSecondStep,
  submitSignIn,
  submitSignInLink,
  submitSignOut,
  submitSignUp,
} from './pages/account/sign-in.tsx'
import { showActivity, showOwnActivity, showTeamActivity } from './pages/admin/activity.tsx'
import { showAdmin, showStatus } from './pages/admin/admin.tsx'
import { changeCategories, changeCategory, showCategories, showCategoryPage } from './pages/admin/categories.tsx'
import { changeInvites, changePerson, showInvites, showPeople, showPersonPage } from './pages/admin/people.tsx'
import { changeCollection, showCollectionPage } from './pages/collections/collection.tsx'
import { collectItem, createCollectionHere, showCollecting, showCollections } from './pages/collections/collections.tsx'
import { showApiGroup, showApiReference } from './pages/reading/api-reference.tsx'
import { browse, showFavourites } from './pages/reading/browse.tsx'
import { createKeyHere, showConnect } from './pages/reading/connect.tsx'
import { showDocument, showDocuments } from './pages/reading/documents.tsx'
import { changeFindings, showFindings, showSet } from './pages/reading/findings.tsx'
import { showHome } from './pages/reading/home.tsx'
import { fillPrompt, showPromptPage } from './pages/reading/prompt.tsx'
import { changeAdminCheck, showAdminCheck, showRules } from './pages/reading/rules.tsx'
import { leadToProfile, showCategory, showProfilePage, showTagPage } from './pages/reading/scope.tsx'
import { showSearch } from './pages/reading/search.tsx'
import { showSkillPage } from './pages/reading/skill.tsx'
import { changeTests, showRun, showTests } from './pages/reading/tests.tsx'
import { showPromptVersion, showSkillVersion, submitRestore } from './pages/reading/version.tsx'
import { showVersions } from './pages/reading/versions.tsx'
import { changeTeamPage, showTeamPage } from './pages/teams/team.tsx'
import { changeAllTeams, showAllTeams, showTeams, submitTeam } from './pages/teams/teams.tsx'
import { savePromptForm, showEditPrompt, showNewPrompt } from './pages/writing/edit-prompt.tsx'
import { saveSkillForm, showEditSkill } from './pages/writing/edit-skill.tsx'
import { changeEmbeds, showEmbeds } from './pages/writing/embeds.tsx'
import { showImportForm, showImportPage, submitImport, submitRun } from './pages/writing/import.tsx'
import { changeLabelRules, changeLabels, showLabelRules } from './pages/writing/labels.tsx'
import { changeLibrary, showLibrary } from './pages/writing/library.tsx'
import { saveNewSkill, showNewSkill } from './pages/writing/new-skill.tsx'
import { purge, restoreFromTrash, showPurgePage, showTransferPage, showTrash, submitTransfer } from './pages/writing/trash.tsx'
import { showTryPrompt, submitTryPrompt } from './pages/writing/try-prompt.tsx'
import { actOnItem } from './parts/item-actions.tsx'
import { type Action, type LeadsOn, leadTo, type PageRequest, type Refused } from './request.ts'

export type Html = { toString(): string | Promise<string> }
type Page = (request: PageRequest) => Promise<Html | LeadsOn | Refused>

/** A page and the action of its form. */
export interface PageEntry {
  readonly path: string
  readonly page: Page
  readonly act?: Action
  /** Anonymous visitors may submit its forms. Its address may hold a secret, so it is sent with no-store. */
  readonly allowsAnonymous?: boolean
  /** Largest form, with the error for a larger one. Default: the limits of `readForm`. */
  readonly form?: FormLimit
  /** Its forms may carry files. */
  readonly hasFiles?: boolean
  /** Points of a form that is sent. Default: those of a form, or of one that takes a password. */
  readonly cost?: number
  /** Points of the page itself. Default: those of a page. */
  readonly pageCost?: number
  /** It frames embeds of this service. */
  readonly hasFrames?: boolean
  /** Its forms hash a password. */
  readonly takesPassword?: boolean
  /** Shown only while MCP is enabled. */
  readonly isOfMcp?: boolean
  /** Shown only while programs can sign in. */
  readonly isOfOAuth?: boolean
  /** See `Route.isEntry`. */
  readonly isEntry?: true
  /** Of the page itself; its forms are for members. See `Route.isOfPublicItem`. */
  readonly isOfPublicItem?: true
}

/** Points of reading files to import, which takes five seconds at most, and of importing them beside what each write adds. */
const CHECK_COST = 2_000
const IMPORT_COST = 500
/** Values of a prompt's blanks, as a form sends them: a filled-in text has at most a million characters. */
const MAX_VALUES_BYTES = 2 * 1024 * 1024
/** Points of changing many items at once: hundreds are written. */
const BULK_COST = 1_000

/** Points of asking models. */
const TRY_COST = 20
/** Points of comparing up to 1,000 skills, as of the operation. */
const SET_COST = 200

/** Every page there is. */
export const PAGES: readonly PageEntry[] = [
  { path: '/', page: showHome },
  { path: '/search', page: showSearch },
  ...(['prompts', 'skills'] as const).flatMap((kind) => [
    { path: `/${kind}`, page: browse(kind) },
    { path: `/${kind}/:ref/versions`, page: showVersions(kind), act: changeLabels(kind) },
    { path: `/${kind}/:ref/check`, page: showFindings(kind), act: changeFindings(kind) },
    { path: `/${kind}/:ref/tests`, page: showTests(kind), act: changeTests(kind) },
    { path: `/${kind}/:ref/tests/:run`, page: showRun(kind) },
    { path: `/${kind}/:ref/collections`, page: showCollecting(kind), act: collectItem(kind) },
    { path: `/${kind}/:ref/purge`, page: showPurgePage(kind), act: purge(kind) },
    { path: `/${kind}/:ref/transfer`, page: showTransferPage(kind), act: submitTransfer(kind) },
  ]),
  { path: '/prompts/:ref', page: showPromptPage, act: actOnItem('prompts'), isOfPublicItem: true },
  {
    path: '/prompts/:ref/fill',
    page: showPromptPage,
    act: fillPrompt,
    allowsAnonymous: true,
    form: { maxBytes: MAX_VALUES_BYTES, tooLarge: (words) => words.valuesTooLarge },
  },
  { path: '/prompts/:ref/try', page: showTryPrompt, act: submitTryPrompt, cost: TRY_COST },
  { path: '/prompts/:ref/versions/:version', page: showPromptVersion, act: submitRestore('prompts') },
  { path: '/skills/:ref', page: showSkillPage, act: actOnItem('skills'), isOfPublicItem: true },
  { path: '/skills/:ref/versions/:version', page: showSkillVersion, act: submitRestore('skills') },
  { path: '/check', page: showSet, pageCost: SET_COST },
  { path: '/rules', page: showRules },
  { path: '/collections', page: showCollections, act: createCollectionHere },
  { path: '/collections/:ref', page: showCollectionPage, act: changeCollection },
  { path: '/@:name', page: showProfilePage },
  { path: '/users/:name', page: leadToProfile },
  { path: '/tags/:tag', page: showTagPage },
  { path: '/categories/:category', page: showCategory },
  { path: '/sign-in', page: showSignIn, act: submitSignIn, allowsAnonymous: true, takesPassword: true, isEntry: true },
  { path: '/sign-in/with/:provider', page: comeBackFromProvider, act: leaveForProvider, allowsAnonymous: true, isEntry: true },
  { path: '/sign-in/link', page: showSignInLinkPage, act: submitSignInLink, allowsAnonymous: true, isEntry: true },
  { path: '/sign-in/code', page: showSecondStepPage, act: submitSecondStep, allowsAnonymous: true, isEntry: true },
  { path: '/sign-up', page: showSignUpPage, act: submitSignUp, allowsAnonymous: true, takesPassword: true, isEntry: true },
  { path: '/sign-out', page: showSignOut, act: submitSignOut, allowsAnonymous: true, isEntry: true },
  { path: '/forgot-password', page: showForgotPassword, act: askForPassword, allowsAnonymous: true, isEntry: true },
  { path: '/reset-password', page: showResetPassword, act: setNewPassword, allowsAnonymous: true, takesPassword: true, isEntry: true },
  { path: '/language', page: showLanguage, act: chooseLanguage, allowsAnonymous: true, isEntry: true },
  { path: '/settings', page: showSettings, act: changeSettings, takesPassword: true },
  { path: '/settings/access', page: showAccess, act: changeAccess },
  { path: '/settings/security', page: showSecurity, act: changeSecurity, takesPassword: true },
  { path: '/settings/passkeys', page: showFactorsPage, act: changeFactorsAlone, takesPassword: true },
  ...['keys', 'programs', 'install-links'].map((name) => ({ path: `/settings/${name}`, page: leadTo('/settings/access') })),
  ...['sign-in', 'sessions'].map((name) => ({ path: `/settings/${name}`, page: leadTo('/settings/security') })),
  { path: '/oauth2/consent', page: showConsent, act: submitConsent, isOfOAuth: true },
  { path: '/settings/activity', page: showOwnActivity },
  { path: '/settings/data', page: showData, act: submitDeleteAccount, takesPassword: true },
  { path: '/library', page: showLibrary, act: changeLibrary, cost: BULK_COST },
  { path: '/favourites', page: showFavourites },
  { path: '/teams', page: showTeams, act: submitTeam },
  { path: '/teams/:team', page: showTeamPage, act: changeTeamPage },
  { path: '/teams/:team/activity', page: showTeamActivity },
  { path: '/labels', page: showLabelRules, act: changeLabelRules },
  { path: '/trash', page: showTrash, act: restoreFromTrash },
  { path: '/import', page: showImportForm, act: submitImport, hasFiles: true, cost: CHECK_COST },
  { path: '/import/:ref', page: showImportPage, act: submitRun, cost: IMPORT_COST },
  { path: '/new', page: showNewPrompt, act: savePromptForm },
  { path: '/new/skill', page: showNewSkill, act: saveNewSkill, hasFiles: true },
  { path: '/prompts/:ref/edit', page: showEditPrompt, act: savePromptForm },
  { path: '/skills/:ref/edit', page: showEditSkill, act: saveSkillForm, hasFiles: true },
  { path: '/embeds', page: showEmbeds, act: changeEmbeds, allowsAnonymous: true, hasFrames: true },
  { path: '/admin', page: showAdmin },
  { path: '/admin/people', page: showPeople },
  { path: '/admin/people/:name', page: showPersonPage, act: changePerson },
  { path: '/admin/teams', page: showAllTeams, act: changeAllTeams },
  { path: '/admin/invites', page: showInvites, act: changeInvites },
  { path: '/admin/categories', page: showCategories, act: changeCategories },
  { path: '/admin/categories/:slug', page: showCategoryPage, act: changeCategory },
  { path: '/admin/check', page: showAdminCheck, act: changeAdminCheck, cost: BULK_COST },
  { path: '/admin/activity', page: showActivity },
  { path: '/admin/status', page: showStatus },
  { path: '/connect', page: showConnect, act: createKeyHere, isOfMcp: true },
  { path: '/docs', page: showDocuments },
  { path: '/docs/api/:group', page: showApiGroup },
  ...ALL_DOCUMENTS.map(({ name, isOfMcp }) => ({
    isOfMcp,
    path: `/docs/${name}`,
    page: name === 'api' ? showApiReference : showDocument(name),
  })),
]
