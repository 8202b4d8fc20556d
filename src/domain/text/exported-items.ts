import type { Item } from '../items/items.ts'
import { describeBody } from '../prompts/body.ts'
import type { ExportedPrompt, ExportedSkill, Hold } from '../service/transfer.ts'

/** Names inside an exported library, which an import reads back. */
export const EXPORT_NAMES = {
  prompts: 'prompts.jsonl',
  skillsIndex: 'skills.json',
  skillsFolder: 'skills',
  categories: 'categories.json',
  teams: 'teams.json',
} as const

function exportItem(item: Item, owner: string, held: Hold | null) {
  return {
    id: item.id,
    slug: item.slug,
    title: item.title,
    description: item.description,
    category: item.category?.slug ?? null,
    tags: item.tags.map((tag) => tag.name),
    owner,
    author: item.author,
    contributors: [...item.contributors],
    visibility: item.visibility,
    createdAt: item.createdAt,
    updatedAt: item.updatedAt,
    ...(held ? { heldAt: held.at, heldFrom: held.from } : {}),
  }
}

/** A prompt as a line of an export, without the line's end. */
export function toExportLine({ prompt, owner, held }: ExportedPrompt): string {
  const { id, slug, title, description, ...more } = exportItem(prompt, owner, held)
  return JSON.stringify({ id, slug, title, description, content: prompt.content, type: prompt.type, ...more, ...describeBody(prompt) })
}

/** A skill as the index of an export has it; `folder` is where its files lie. */
export function toExportEntry({ skill, owner, held }: Omit<ExportedSkill, 'files'>) {
  return { folder: skill.slug, ...exportItem(skill, owner, held) }
}
