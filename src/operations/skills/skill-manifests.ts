import { z } from 'zod'
import type { SkillManifest } from '../../domain/items/items.ts'
import type { ItemFilter } from '../../domain/items/search.ts'
import { SKILL_MD, toFileContent } from '../../domain/skills/skill.ts'
import { AppError } from '../../errors.ts'
import { defineOperation } from '../core/define-operation.ts'
import { narrowing, notFound, openCursor, refInput, toNarrowing } from '../core/inputs.ts'
import type { Needs } from '../core/procedure.ts'
import { checkNote, fileRecord } from '../core/records.ts'

/** The purpose of sealed cursors. */
const CURSOR = 'list_skill_manifests'
/** Skills on one page: each may name 512 files. */
const PAGE_SIZE = 50

const manifestRecord = z.object({
  owner: z.string(),
  path: z.string().describe("Below the owner: the skill's name, or slug and name if the name is taken"),
  frontmatter: z.record(z.string(), z.unknown()).describe('The frontmatter of SKILL.md, field by field'),
  check: checkNote.optional(),
  files: z.array(z.object({ filename: z.string(), sha256: z.string(), size: z.number().int() })),
})
const address = { owner: refInput.describe('Username of the owner'), path: refInput.describe('Path of the skill below its owner') }
const positionJson = z.object({ c: z.string(), o: z.number().int() })

function toRecord({ owner, path, frontmatter, check, files }: SkillManifest): z.infer<typeof manifestRecord> {
  return { owner, path, frontmatter: { ...frontmatter }, ...(check && { check }), files: files.map((file) => ({ ...file })) }
}

async function findAt(context: Needs<'items'>, { owner, path }: { owner: string; path: string }, filter: ItemFilter | null = null) {
  const found = await context.store.items.findSkillAt(context.actor, owner, path, filter)
  if (!found) throw notFound('skill')
  return found
}

export const listSkillManifests = defineOperation({
  name: 'list_skill_manifests',
  title: 'List all skills with a cursor',
  summary: 'Every validly named skill you can see, newest first, with its frontmatter and file digests, by cursor.',
  scope: null,
  cost: 5,
  surfaces: { rest: 'GET /api/skill-manifests' },
  input: z.object({ cursor: z.string().optional().describe('nextCursor of the previous page'), ...narrowing }),
  output: z.object({ skills: z.array(manifestRecord), nextCursor: z.string().optional() }),
  async run({ actor, store, sealer }: Needs<'items', 'sealer'>, input) {
    const start = input.cursor === undefined ? null : openCursor(sealer, CURSOR, input.cursor, positionJson)
    const after = start && { createdAt: start.c, order: start.o }
    const manifests = await store.items.walkSkills(actor, toNarrowing(input), after, PAGE_SIZE + 1)
    const page = manifests.slice(0, PAGE_SIZE)
    const last = page.at(-1)
    const skills = page.map(toRecord)
    if (!last || manifests.length <= PAGE_SIZE) return { skills }
    return { skills, nextCursor: sealer.seal(CURSOR, JSON.stringify({ c: last.position.createdAt, o: last.position.order })) }
  },
})

export const getSkillManifest = defineOperation({
  name: 'get_skill_manifest',
  title: 'Get a skill by its name',
  summary: 'One skill by owner and name: its frontmatter and file digests.',
  scope: null,
  surfaces: { rest: 'POST /api/skill-manifests/find' },
  input: z.object({ ...address, ...narrowing }),
  output: manifestRecord,
  run: async (context, input) => toRecord(await findAt(context, input, toNarrowing(input))),
})

export const readManifestFile = defineOperation({
  name: 'read_manifest_file',
  title: 'Read a file of a skill by its name',
  summary: 'One file of a skill by owner, name and filename, as text or base64.',
  scope: null,
  surfaces: { rest: 'POST /api/skill-manifests/read' },
  input: z.object({ ...address, filename: z.string() }),
  output: fileRecord,
  async run(context: Needs<'items'>, input) {
    const skill = await findAt(context, input)
    const file = input.filename.isWellFormed() ? await context.store.items.readSkillFile(context.actor, skill.id, input.filename) : null
    if (!file) throw new AppError('not_found', 'File not found in this skill.')
    // Clients read the other files of a skill one by one after this one.
    if (file.filename === SKILL_MD) context.count('read', { id: skill.id })
    return toFileContent(file)
  },
})
