import { whoAmI } from './account/keys.ts'
import { listTeamActivity } from './admin/administration.ts'
import { createInstallLink, listInstallLinks, revokeInstallLink } from './channels/install-links.ts'
import { fetchItem, findSkills, search } from './channels/shared-items.ts'
import { checkItem } from './check/check-item.ts'
import { checkSet } from './check/check-set.ts'
import { endWaiver, listWaivers, waiveFinding } from './check/waivers.ts'
import {
  addToCollection,
  createCollection,
  deleteCollection,
  listCollections,
  moveInCollection,
  removeFromCollection,
  showCollection,
  updateCollection,
} from './collections/collections.ts'
import type { Operation } from './core/define-operation.ts'
import { convertTestCases, getCases, listCases, setCases } from './evals/cases.ts'
import { listGates, setGate } from './evals/gate.ts'
import { compareTestRuns, getRun, listRuns, removeRun, reportResults } from './evals/results.ts'
import { cancelRun, runTests, tryPrompt } from './evals/run-tests.ts'
import { getVersion, listVersions, relatedItems, restoreVersion } from './items/item-page.ts'
import { listLabels, removeLabel, setLabel, undoLabel } from './items/labels.ts'
import { listCategories, listTags } from './items/list-categories.ts'
import { favourite, listFavourites, removeFavourite, removeVote, vote } from './items/marks.ts'
import { savePrompt, savePrompts, saveSkill, saveSkills } from './items/save-items.ts'
import { listPrompts, listSkills, searchPrompts, searchSkills } from './items/search-items.ts'
import { deleteItem, listTrash, restoreItem } from './items/trash.ts'
import { showTransfer, transferItem, updatePrompt, updateSkill } from './items/update-items.ts'
import { getPrompt, listExposedPrompts, renderExposedPrompt, showPrompt } from './prompts/get-prompt.ts'
import { improvePrompt } from './prompts/improve-prompt.ts'
import { getSkill, getSkillManifest, listSkillManifests, readManifestFile } from './skills/get-skill.ts'
import { addFileToSkill, removeFileFromSkill, updateSkillFile } from './skills/skill-files.ts'
import { createTeam, deleteTeam, listTeamMembers, listTeams, removeTeamMember, setTeamMember, showTeam, updateTeam } from './teams/teams.ts'

/** The operations by what they are about. */
const BY_TOPIC: readonly (readonly Operation[])[] = [
  [searchPrompts, getPrompt, savePrompt, savePrompts, improvePrompt],
  [searchSkills, getSkill, saveSkill, saveSkills, addFileToSkill, updateSkillFile, removeFileFromSkill],
  [listPrompts, showPrompt, updatePrompt, listSkills, updateSkill],
  [deleteItem, restoreItem, listTrash, relatedItems],
  [listVersions, getVersion, restoreVersion],
  [listLabels, setLabel, removeLabel, undoLabel],
  [checkItem, listWaivers, waiveFinding, endWaiver],
  [listCases, getCases, setCases, convertTestCases],
  [reportResults, listRuns, getRun, compareTestRuns, removeRun],
  [runTests, cancelRun, tryPrompt],
  [listGates, setGate],
  [vote, removeVote, favourite, removeFavourite, listFavourites],
  [listCollections, showCollection, createCollection, updateCollection, deleteCollection],
  [addToCollection, removeFromCollection, moveInCollection],
  [listCategories, listTags],
  [listExposedPrompts, renderExposedPrompt],
  [listSkillManifests, getSkillManifest, readManifestFile, findSkills, checkSet],
  [search, fetchItem],
  [createInstallLink, listInstallLinks, revokeInstallLink],
  [createTeam, listTeams, showTeam, updateTeam, deleteTeam, listTeamMembers, setTeamMember, removeTeamMember, listTeamActivity],
  [showTransfer, transferItem],
  [whoAmI],
]

/** THE list. Tools, routes, OpenAPI, commands and reference pages are made from it, in this order. */
export const OPERATIONS: readonly Operation[] = BY_TOPIC.flat()
