import { z } from 'zod'
import type { SkillManifest } from '../../domain/items/items.ts'
import type { ItemFilter } from '../../domain/items/search.ts'
import { normalizeFilename } from '../../domain/skills/filename.ts'
import { MAX_SKILL_FILES, SKILL_MD, toFileContent } from '../../domain/skills/skill.ts'
import { AppError } from '../../errors.ts'
import { defineOperation } from '../core/define-operation.ts'
import { maxCharactersInput, narrowing, notFound, openCursor, refInput, requireOfKind, toNarrowing } from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'
import { checkNote, cutJsonText, fileRecord, fitContents, ownerOutput, skillRecord, toSkillRecord, withOwner } from '../core/records.ts'
import { atInputs, atOutputs, bucketInput, readAt } from '../items/read-at.ts'

/** Line breaks and spaces in the JSON of one file. */
const FILE_MARGIN = 40

export const getSkill = defineOperation({
  name: 'get_skill',
  title: 'Get a skill',
  summary: 'Read one Agent Skill by id or slug: its metadata and the full content of every file, or less of it.',
  scope: null,
  cost: 2,
  surfaces: {
    mcp: {
      readOnly: true,
      textOnly: true,
      note: 'Start with SKILL.md and follow it. Where search_skills says more than 40,000 characters, ask with includeContents: false first, then for the files you need.',
    },
    rest: 'GET /api/skills/{id}',
    cli: 'get-skill id',
  },
  input: z.object({
    id: refInput.describe('Id or slug of the skill'),
    ...atInputs,
    bucket: bucketInput,
    files: z.array(z.string()).min(1).max(MAX_SKILL_FILES).optional().describe('Only these files, by name'),
    includeContents: z.boolean().default(true).describe('false: names and sizes alone'),
    maxCharacters: maxCharactersInput.describe('Longest answer as JSON: contents are cut to fit'),
  }),
  output: skillRecord.omit({ files: true, categorySlug: true }).extend({
    ...ownerOutput,
    ...atOutputs,
    files: z.array(
      fileRecord.extend({
        contentTruncated: z.literal(true).optional().describe('The content is not whole: cut to fit, or left out'),
        size: z.number().int().optional().describe('Bytes of the whole file, where its content is left out'),
      }),
    ),
  }),
  async run(context: Needs<'items', 'baseUrl' | 'sealer'>, input) {
    const { actor, store, baseUrl, count } = context
    const { item: skill, files: versionFiles, at } = await readAt(context, await requireOfKind(context, 'skill', input.id), input)
    count('read', { ...skill, version: at.version ?? skill.version })
    const { categorySlug: _, ...fields } = await withOwner(context, skill, toSkillRecord(skill, baseUrl))
    const record = { ...fields, ...at }
    const names = input.files && new Set(input.files.map((name) => (name.isWellFormed() ? normalizeFilename(name) : name)))
    const listed = names ? skill.files.filter(({ filename }) => names.has(filename)) : skill.files
    if (names && listed.length < names.size) {
      const missing = [...names].find((name) => !listed.some(({ filename }) => filename === name)) ?? ''
      throw new AppError(
        'not_found',
        `File not found in this skill: ${missing.slice(0, 80).toWellFormed()}. Ask with includeContents: false for the list.`,
      )
    }
    if (!input.includeContents)
      return { ...record, files: listed.map((file) => ({ ...file, content: '', contentTruncated: true as const })) }
    const wanted = versionFiles?.filter(({ filename }) => names?.has(filename) ?? true)
    const read = wanted ?? (await store.items.readSkillFiles(actor, skill.id, names && [...names]))
    const files = read.map(toFileContent)
    if (input.maxCharacters === undefined) return { ...record, files }
    // Models get line breaks in it.
    const around = JSON.stringify({ ...record, files: files.map(() => null) }, null, 1).length + files.length * FILE_MARGIN
    return { ...record, files: fitContents(files, around, input.maxCharacters, cutFile) }
  },
})

/** Base64 is of no use in part. */
function cutFile({ content, encoding }: z.infer<typeof fileRecord>, characters: number): string {
  return encoding === undefined ? cutJsonText(content, characters) : ''
}

/** Read one file of a skill as text, or base64 if it is not UTF-8. */
export const getSkillFile = defineProcedure({
  scope: null,
  input: z.object({
    skillId: refInput.describe('Id or slug of the skill'),
    filename: z.string().describe('Path inside the skill'),
    ...atInputs,
    bucket: bucketInput,
  }),
  async run(context: Needs<'items', 'sealer'>, input) {
    const { actor, store } = context
    const { item: skill, files } = await readAt(context, await requireOfKind(context, 'skill', input.skillId), input)
    const filename = input.filename.isWellFormed() ? normalizeFilename(input.filename) : ''
    const file = files ? files.find((one) => one.filename === filename) : await store.items.readSkillFile(actor, skill.id, filename)
    if (!file) throw new AppError('not_found', 'File not found in this skill; get_skill lists its files.')
    return toFileContent(file)
  },
})

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
