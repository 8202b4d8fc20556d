import { whoAmI } from './account/keys.ts'
import { listTeamActivity } from './admin/audit.ts'
import { fetchItem, search } from './channels/chatgpt.ts'
import { findSkills } from './channels/find-skills.ts'
import { createInstallLink, listInstallLinks, revokeInstallLink } from './channels/install-links.ts'
import { createCollection, deleteCollection, updateCollection } from './collections/change-collections.ts'
import { addToCollection, moveInCollection, removeFromCollection } from './collections/collected-items.ts'
import { listCollections } from './collections/list-collections.ts'
import { showCollection } from './collections/show-collection.ts'
import type { Operation } from './core/define-operation.ts'
import { favourite, listFavourites, removeFavourite } from './items/favourites.ts'
import { listCategories, listTags } from './items/list-categories.ts'
import { relatedItems } from './items/related.ts'
import { savePrompts, saveSkills } from './items/save-many.ts'
import { listPrompts, listSkills, searchPrompts, searchSkills } from './items/search-items.ts'
import { showTransfer, transferItem } from './items/transfer-item.ts'
import { deleteItem, listTrash, restoreItem } from './items/trash.ts'
import { getVersion, listVersions, restoreVersion } from './items/versions.ts'
import { removeVote, vote } from './items/votes.ts'
import { listExposedPrompts, renderExposedPrompt } from './prompts/exposed-prompts.ts'
import { getPrompt } from './prompts/get-prompt.ts'
import { improvePrompt } from './prompts/improve-prompt.ts'
import { savePrompt } from './prompts/save-prompt.ts'
import { showPrompt } from './prompts/show-prompt.ts'
import { updatePrompt } from './prompts/update-prompt.ts'
import { addFileToSkill, removeFileFromSkill, updateSkillFile } from './skills/change-skill-files.ts'
import { getSkill } from './skills/get-skill.ts'
import { saveSkill } from './skills/save-skill.ts'
import { getSkillManifest, listSkillManifests, readManifestFile } from './skills/skill-manifests.ts'
import { updateSkill } from './skills/update-skill.ts'
import { deleteTeam, updateTeam } from './teams/change-team.ts'
import { createTeam } from './teams/create-team.ts'
import { listTeams } from './teams/list-teams.ts'
import { showTeam } from './teams/show-team.ts'
import { listTeamMembers, removeTeamMember, setTeamMember } from './teams/team-members.ts'

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
  deleteItem,
  restoreItem,
  listTrash,
  relatedItems,
  listVersions,
  getVersion,
  restoreVersion,
  vote,
  removeVote,
  favourite,
  removeFavourite,
  listFavourites,
  listCollections,
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
  findSkills,
  search,
  fetchItem,
  createInstallLink,
  listInstallLinks,
  revokeInstallLink,
  createTeam,
  listTeams,
  showTeam,
  updateTeam,
  deleteTeam,
  listTeamMembers,
  setTeamMember,
  removeTeamMember,
  listTeamActivity,
  showTransfer,
  transferItem,
  whoAmI,
]
