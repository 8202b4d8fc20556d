import { changePassword, deleteAccount, endSessions, exportOwnItems, showAccount, updateAccount } from './account.ts'
import { countLibrary, createCategory, deleteCategory, renameCategory } from './administration.ts'
import { arrangeSkillFiles, readArchive } from './arrange-skill-files.ts'
import { listAuditEvents, listOwnActivity } from './audit.ts'
import { addFileToSkill, removeFileFromSkill, updateSkillFile } from './change-skill-files.ts'
import type { Operation } from './define-operation.ts'
import { deleteEmbed, listEmbeds, saveEmbed, showEmbed } from './embeds.ts'
import { listExposedPrompts, renderExposedPrompt } from './exposed-prompts.ts'
import { keepFormDraft, showFormDraft } from './form-drafts.ts'
import { getPrompt } from './get-prompt.ts'
import { getSkill, getSkillFile } from './get-skill.ts'
import { improvePrompt } from './improve-prompt.ts'
import { listFeatured, listHeld, listOwnItems, setFeatured, setHeld, showMarks } from './item-marks.ts'
import { createKey, listKeys, revokeKey } from './keys.ts'
import { listCategories, listTags } from './list-categories.ts'
import { listPrompts, listSkills } from './list-prompts.ts'
import { createInvite, createResetLink, deletePerson, listInvites, listPeople, revokeInvite, setRole, showPerson } from './people.ts'
import { purgeFile, purgeItem, purgeVersions, showPurge } from './purge.ts'
import { savePrompt } from './save-prompt.ts'
import { saveSkill } from './save-skill.ts'
import { searchPrompts } from './search-prompts.ts'
import { searchSkills } from './search-skills.ts'
import { showServiceStatus } from './service-status.ts'
import { showProfile } from './show-profile.ts'
import { showPrompt } from './show-prompt.ts'
import { requestPasswordReset, resetPassword, showPasswordReset, signIn, signOut } from './sign-in.ts'
import { showSignUp, signUp } from './sign-up.ts'
import { getSkillManifest, listSkillManifests, readManifestFile } from './skill-manifests.ts'
import { deleteItem, listTrash, restoreItem } from './trash.ts'
import { updatePrompt } from './update-prompt.ts'
import { updateSkill } from './update-skill.ts'
import { getVersion, listVersions, restoreVersion } from './versions.ts'
import { removeVote, vote } from './votes.ts'

/** THE list. Tools, routes, OpenAPI, commands and reference pages are made from it, in this order. */
export const OPERATIONS: readonly Operation[] = [
  searchPrompts,
  getPrompt,
  savePrompt,
  improvePrompt,
  searchSkills,
  getSkill,
  saveSkill,
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
  listVersions,
  getVersion,
  restoreVersion,
  showPurge,
  purgeItem,
  purgeVersions,
  purgeFile,
  vote,
  removeVote,
  listCategories,
  listTags,
  listExposedPrompts,
  renderExposedPrompt,
  listSkillManifests,
  getSkillManifest,
  readManifestFile,
  arrangeSkillFiles,
  readArchive,
  showSignUp,
  signUp,
  signIn,
  signOut,
  requestPasswordReset,
  showPasswordReset,
  resetPassword,
  showAccount,
  updateAccount,
  changePassword,
  endSessions,
  exportOwnItems,
  deleteAccount,
  listKeys,
  createKey,
  revokeKey,
  saveEmbed,
  showEmbed,
  listEmbeds,
  deleteEmbed,
  keepFormDraft,
  showFormDraft,
  showProfile,
  listOwnItems,
  showMarks,
  listFeatured,
  setFeatured,
  setHeld,
  listHeld,
  listPeople,
  showPerson,
  setRole,
  deletePerson,
  createInvite,
  listInvites,
  revokeInvite,
  createResetLink,
  countLibrary,
  createCategory,
  renameCategory,
  deleteCategory,
  listOwnActivity,
  listAuditEvents,
  showServiceStatus,
]
