import { changePassword, deleteAccount, endSessions, exportOwnItems, showAccount, updateAccount } from './account/account.ts'
import { connectProgram, refuseProgram, showProgramRequest } from './account/connect-programs.ts'
import {
  addPasskey,
  confirmCodes,
  removeCodes,
  removePasskey,
  renewRecoveryCodes,
  resetFactors,
  showFactors,
  startCodes,
  startPasskey,
} from './account/factors.ts'
import { hideFirstSteps, showFirstSteps } from './account/first-steps.ts'
import { keepFormDraft, showFormDraft } from './account/form-drafts.ts'
import { disconnectProvider, listIdentities } from './account/identities.ts'
import { createKey, listKeys, revokeKey, whoAmI } from './account/keys.ts'
import { beginConnecting, beginProviderSignIn, finishProviderSignIn, showSignInWays } from './account/provider-sign-in.ts'
import {
  dismissNewSignIns,
  finishSignIn,
  listNewSignIns,
  showSecondStep,
  signInWithPasskey,
  startPasskeySignIn,
} from './account/second-step.ts'
import { showProfile } from './account/show-profile.ts'
import { requestPasswordReset, resetPassword, showPasswordHelp, showPasswordReset, signIn, signOut } from './account/sign-in.ts'
import { createSignInLink, showSignInLink, useSignInLink } from './account/sign-in-link.ts'
import { showSignUp, signUp } from './account/sign-up.ts'
import { countLibrary, createCategory, deleteCategory, mergeCategory, moveCategory, renameCategory } from './admin/administration.ts'
import { listAuditEvents, listOwnActivity, listTeamActivity } from './admin/audit.ts'
import {
  createInvite,
  createResetLink,
  deletePerson,
  handOverPerson,
  listInvites,
  listPeople,
  revokeInvite,
  setRole,
  setSuspended,
  showPerson,
  signOutPerson,
} from './admin/people.ts'
import { showServiceStatus } from './admin/service-status.ts'
import { openArchive, sealArchives } from './channels/archive-tokens.ts'
import { fetchItem, search } from './channels/chatgpt.ts'
import { findSkills } from './channels/find-skills.ts'
import { createInstallLink, listInstallLinks, revokeInstallLink } from './channels/install-links.ts'
import { listSharedChanges } from './channels/list-shared-changes.ts'
import { listSharedSkills } from './channels/list-shared-skills.ts'
import { listWholePrompts, walkWholePrompts } from './channels/list-whole-prompts.ts'
import { readSharedFiles } from './channels/read-shared-files.ts'
import { readSharedVersions } from './channels/read-shared-versions.ts'
import { createCollection, deleteCollection, updateCollection } from './collections/change-collections.ts'
import { chooseCollections, nameOwnCollections } from './collections/choose-collections.ts'
import { addToCollection, moveInCollection, removeFromCollection } from './collections/collected-items.ts'
import { listCollections } from './collections/list-collections.ts'
import { showCollection } from './collections/show-collection.ts'
import type { Operation } from './core/define-operation.ts'
import { deleteEmbed, listEmbeds, saveEmbed, showEmbed } from './embeds.ts'
import { browseItems } from './items/browse-items.ts'
import { changeItems, deleteItems, restoreItems, takeBackChanges } from './items/bulk.ts'
import { copyItem } from './items/copies.ts'
import { browseFavourites, favourite, findFavourites, listFavourites, removeFavourite } from './items/favourites.ts'
import { checkImport, loadStarterLibrary, runImport, showImport } from './items/import-items.ts'
import { listFeatured, listHeld, setFeatured, setHeld, showMarks } from './items/item-marks.ts'
import { showItemPage } from './items/item-page.ts'
import { listCategories, listTags } from './items/list-categories.ts'
import { nearAddresses } from './items/near-addresses.ts'
import { listNewestOfOthers } from './items/newest-of-others.ts'
import { listOwnItems, matchOwnItems } from './items/own-items.ts'
import { purgeFile, purgeItem, purgeVersions, showPurge } from './items/purge.ts'
import { relatedItems } from './items/related.ts'
import { savePrompts, saveSkills } from './items/save-many.ts'
import { showTransfer, transferItem } from './items/transfer-item.ts'
import { deleteItem, listTrash, restoreItem } from './items/trash.ts'
import { getVersion, listVersions, restoreVersion } from './items/versions.ts'
import { removeVote, vote } from './items/votes.ts'
import { listExposedPrompts, renderExposedPrompt } from './prompts/exposed-prompts.ts'
import { getPrompt } from './prompts/get-prompt.ts'
import { improvePrompt } from './prompts/improve-prompt.ts'
import { listPrompts, listSkills } from './prompts/list-prompts.ts'
import { savePrompt } from './prompts/save-prompt.ts'
import { searchPrompts } from './prompts/search-prompts.ts'
import { showPrompt } from './prompts/show-prompt.ts'
import { updatePrompt } from './prompts/update-prompt.ts'
import { arrangeSkillFiles, readArchive } from './skills/arrange-skill-files.ts'
import { addFileToSkill, removeFileFromSkill, updateSkillFile } from './skills/change-skill-files.ts'
import { getSkill, getSkillFile } from './skills/get-skill.ts'
import { saveSkill } from './skills/save-skill.ts'
import { searchSkills } from './skills/search-skills.ts'
import { getSkillManifest, listSkillManifests, readManifestFile } from './skills/skill-manifests.ts'
import { updateSkill } from './skills/update-skill.ts'
import { deleteTeam, updateTeam } from './teams/change-team.ts'
import { createTeam } from './teams/create-team.ts'
import { bindTeam, listAllTeams, listTeams } from './teams/list-teams.ts'
import { showTeam } from './teams/show-team.ts'
import { listTeamMembers, removeTeamMember, setTeamMember, suggestMembers } from './teams/team-members.ts'
import { countCopy, listKeyUsage, showLibraryUsage } from './usage.ts'

/** THE list. Tools, routes, OpenAPI, commands and reference pages are made from it, in this order. */
export const OPERATIONS: readonly Operation[] = [
  searchPrompts,
  getPrompt,
  savePrompt,
  savePrompts,
  improvePrompt,
  searchSkills,
  getSkill,
  saveSkill,
  saveSkills,
  addFileToSkill,
  updateSkillFile,
  removeFileFromSkill,
  listPrompts,
  showPrompt,
  updatePrompt,
  listSkills,
  updateSkill,
  getSkillFile,
  deleteItem,
  restoreItem,
  listTrash,
  relatedItems,
  listVersions,
  getVersion,
  restoreVersion,
  showPurge,
  purgeItem,
  purgeVersions,
  purgeFile,
  vote,
  removeVote,
  favourite,
  removeFavourite,
  listFavourites,
  browseFavourites,
  findFavourites,
  listCollections,
  chooseCollections,
  nameOwnCollections,
  showCollection,
  createCollection,
  updateCollection,
  deleteCollection,
  addToCollection,
  removeFromCollection,
  moveInCollection,
  listCategories,
  listTags,
  listExposedPrompts,
  renderExposedPrompt,
  listSkillManifests,
  getSkillManifest,
  readManifestFile,
  listSharedSkills,
  readSharedFiles,
  listSharedChanges,
  readSharedVersions,
  findSkills,
  listWholePrompts,
  walkWholePrompts,
  search,
  fetchItem,
  sealArchives,
  openArchive,
  createInstallLink,
  listInstallLinks,
  revokeInstallLink,
  createTeam,
  listTeams,
  showTeam,
  updateTeam,
  deleteTeam,
  listTeamMembers,
  suggestMembers,
  setTeamMember,
  removeTeamMember,
  listTeamActivity,
  listAllTeams,
  bindTeam,
  showTransfer,
  transferItem,
  arrangeSkillFiles,
  readArchive,
  showSignUp,
  signUp,
  signIn,
  signOut,
  showSignInWays,
  beginProviderSignIn,
  finishProviderSignIn,
  beginConnecting,
  listIdentities,
  disconnectProvider,
  createSignInLink,
  showSignInLink,
  useSignInLink,
  showPasswordHelp,
  requestPasswordReset,
  showPasswordReset,
  resetPassword,
  showAccount,
  updateAccount,
  changePassword,
  showSecondStep,
  finishSignIn,
  startPasskeySignIn,
  signInWithPasskey,
  listNewSignIns,
  dismissNewSignIns,
  showFactors,
  startCodes,
  confirmCodes,
  renewRecoveryCodes,
  removeCodes,
  startPasskey,
  addPasskey,
  removePasskey,
  endSessions,
  exportOwnItems,
  deleteAccount,
  whoAmI,
  listKeys,
  createKey,
  revokeKey,
  showProgramRequest,
  connectProgram,
  refuseProgram,
  saveEmbed,
  showEmbed,
  listEmbeds,
  deleteEmbed,
  keepFormDraft,
  showFormDraft,
  showProfile,
  showFirstSteps,
  hideFirstSteps,
  listNewestOfOthers,
  listOwnItems,
  matchOwnItems,
  copyItem,
  showItemPage,
  changeItems,
  takeBackChanges,
  deleteItems,
  restoreItems,
  browseItems,
  nearAddresses,
  showMarks,
  checkImport,
  showImport,
  runImport,
  loadStarterLibrary,
  listFeatured,
  setFeatured,
  setHeld,
  listHeld,
  listPeople,
  showPerson,
  setRole,
  setSuspended,
  resetFactors,
  signOutPerson,
  deletePerson,
  handOverPerson,
  createInvite,
  listInvites,
  revokeInvite,
  createResetLink,
  countLibrary,
  createCategory,
  renameCategory,
  moveCategory,
  mergeCategory,
  deleteCategory,
  listOwnActivity,
  listAuditEvents,
  showServiceStatus,
  countCopy,
  listKeyUsage,
  showLibraryUsage,
]
