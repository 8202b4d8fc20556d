import { addFileToSkill, removeFileFromSkill, updateSkillFile } from './change-skill-files.ts'
import type { Operation } from './define-operation.ts'
import { listExposedPrompts, renderExposedPrompt } from './exposed-prompts.ts'
import { getPrompt } from './get-prompt.ts'
import { getSkill, getSkillFile } from './get-skill.ts'
import { improvePrompt } from './improve-prompt.ts'
import { listCategories, listTags } from './list-categories.ts'
import { listPrompts, listSkills } from './list-prompts.ts'
import { savePrompt } from './save-prompt.ts'
import { saveSkill } from './save-skill.ts'
import { searchPrompts } from './search-prompts.ts'
import { searchSkills } from './search-skills.ts'
import { showPrompt } from './show-prompt.ts'
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
  vote,
  removeVote,
  listCategories,
  listTags,
  listExposedPrompts,
  renderExposedPrompt,
  listSkillManifests,
  getSkillManifest,
  readManifestFile,
]
