import { parseDocument } from 'yaml'
import { z } from 'zod'

/** What a SKILL.md says of itself (agentskills.io), as far as it could be read, and what is odd about it. */
export interface Frontmatter {
  readonly name: string | null
  readonly description: string | null
  readonly warnings: readonly string[]
}

/** Longest frontmatter read, in UTF-16 units. */
const MAX_FRONTMATTER = 65_536

const fields = z.object({ name: z.string().nullish().catch(null), description: z.string().nullish().catch(null) })

/**
 * Reads the YAML between the two `---` lines at the head of a SKILL.md, folded and quoted texts included.
 * Real files break the rules: what cannot be read is reported, never refused.
 */
export function readFrontmatter(text: string, folder: string): Frontmatter {
  const warnings: string[] = []
  const block = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text.slice(0, MAX_FRONTMATTER))?.[1]
  if (block === undefined) return { name: null, description: null, warnings: ['SKILL.md has no frontmatter'] }
  const document = parseDocument(block)
  const read = fields.safeParse(document.errors.length > 0 ? null : toPlain(document))
  if (!read.success) return { name: null, description: null, warnings: ['the frontmatter of SKILL.md is not valid YAML'] }
  const name = read.data.name ?? null
  const description = read.data.description ?? null
  if (name === null) warnings.push('the frontmatter has no name')
  else if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || name.length > 64)
    warnings.push(`the name "${name.slice(0, 80)}" is not 1 to 64 of a-z, 0-9 and single hyphens`)
  else if (name !== folder) warnings.push(`the name "${name}" is not that of its folder`)
  if (description === null) warnings.push('the frontmatter has no description')
  return { name, description, warnings }
}

function toPlain(document: ReturnType<typeof parseDocument>): unknown {
  try {
    const plain: unknown = document.toJS({ maxAliasCount: 10 })
    return plain
  } catch {
    return null
  }
}
