import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { normalizeFilename } from '../../library/filename.ts'
import { toFileContent } from '../../library/skill.ts'
import { defineOperation, type Needs } from '../core/define-operation.ts'
import { notFound, refInput } from '../core/inputs.ts'
import { fileRecord, skillRecord, toSkillRecord } from '../core/records.ts'

export const getSkill = defineOperation({
  name: 'get_skill',
  title: 'Get a skill',
  summary: 'Read one Agent Skill by id or slug: its metadata and the full content of every file.',
  scope: null,
  cost: 2,
  surfaces: {
    mcp: { readOnly: true, textOnly: true, note: 'Start with SKILL.md and follow it.' },
    rest: { method: 'GET', path: '/api/skills/{id}' },
    cli: { command: 'get-skill', positional: ['id'] },
  },
  input: z.object({ id: refInput.describe('Id or slug of the skill') }),
  output: skillRecord.omit({ files: true, categorySlug: true }).extend({ files: z.array(fileRecord) }),
  async run({ actor, store, baseUrl, count }: Needs<'items', 'baseUrl'>, input) {
    const skill = await store.items.findSkill(actor, input.id)
    if (!skill) throw notFound('skill')
    count('read', skill)
    const { categorySlug: _, ...record } = toSkillRecord(skill, baseUrl)
    const files = await store.items.readSkillFiles(actor, skill.id)
    return { ...record, files: files.map(toFileContent) }
  },
})

export const getSkillFile = defineOperation({
  name: 'get_skill_file',
  title: 'Get a file of a skill',
  summary: 'Read one file of a skill as text, or base64 if it is not UTF-8.',
  scope: null,
  surfaces: {},
  input: z.object({ skillId: refInput.describe('Id or slug of the skill'), filename: z.string().describe('Path inside the skill') }),
  output: fileRecord,
  async run({ actor, store }: Needs<'items'>, input) {
    const skill = await store.items.findSkill(actor, input.skillId)
    if (!skill) throw notFound('skill')
    const file = input.filename.isWellFormed() ? await store.items.readSkillFile(actor, skill.id, normalizeFilename(input.filename)) : null
    if (!file) throw new AppError('not_found', 'File not found in this skill; get_skill lists its files.')
    return toFileContent(file)
  },
})
