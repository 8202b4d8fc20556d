import { z } from 'zod'
import { findingOf } from '../../check/check-files.ts'
import { RULE_SET, WHOLE_RULES } from '../../check/rules/index.ts'
import { toSarif } from '../../check/sarif.ts'
import { compareNames } from '../../check/set/likeness.ts'
import { type MarkedFinding, SEVERITIES } from '../../domain/check/findings.ts'
import { versionNumber } from '../../domain/items/fields.ts'
import type { Item } from '../../domain/items/items.ts'
import { hasRight, type TeamRole } from '../../domain/people/teams.ts'
import { describeSkill } from '../../domain/skills/frontmatter.ts'
import { decodeText, fromFileContent, MAX_SKILL_BYTES, MAX_SKILL_FILES, SKILL_MD, type SkillFile } from '../../domain/skills/skill.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { defineOperation } from '../core/define-operation.ts'
import { refInput } from '../core/inputs.ts'
import type { Needs } from '../core/procedure.ts'
import { roleOver } from '../items/labels.ts'
import { fileInput } from '../items/save-items.ts'

/** Skills of nearly the same name that are named. */
const MAX_REPEATED = 5

const findingRecord = z.object({
  rule: z.string().describe('family/name; /rules says more'),
  severity: z.enum(SEVERITIES),
  file: z.string().describe('Path in the skill; prompt or description for the texts of a prompt'),
  line: z.number().int().describe('From 1'),
  column: z.number().int().describe('From 1, in UTF-16 units'),
  evidence: z.string().describe('The text meant; secrets masked, invisible characters spelled out'),
  why: z.string(),
  fix: z.string(),
  waived: z.literal(true).optional().describe('Somebody accepted it'),
})

/** A finding as surfaces show it. */
export function toFindingRecord({ mark: _, waived, ...finding }: MarkedFinding): z.infer<typeof findingRecord> {
  return { ...finding, ...(waived && { waived: true as const }) }
}

/** A prompt or skill that the caller sees, by id or slug. @throws AppError `not_found` */
async function requireEither({ actor, store }: Pick<Needs<'items'>, 'actor' | 'store'>, ref: string): Promise<Item> {
  const item = (await store.items.findItem(actor, 'skill', ref)) ?? (await store.items.findItem(actor, 'prompt', ref))
  if (!item) throw new AppError('not_found', 'No such prompt or skill, or not visible to you. Check the id or slug.')
  return item
}

/** The version whose findings a caller reads: the newest for those who see all versions, for others the one that is served. */
export function versionToCheck({ version, blockedVersion }: Item, role: TeamRole | null, asked: number | undefined): number {
  return asked ?? (hasRight(role, 'edit') ? (blockedVersion ?? version) : version)
}

function readGiven(files: readonly z.infer<typeof fileInput>[]): SkillFile[] {
  const read = files.map((file, index) => fromFileContent(file, `files[${index}].`))
  const bytes = read.reduce((sum, file) => sum + file.bytes.length, 0)
  if (bytes > MAX_SKILL_BYTES)
    throw new AppError('too_large', `The files have ${bytes} bytes in total; the limit is ${MAX_SKILL_BYTES} (8 MiB).`)
  return read
}

export const checkItem = defineOperation({
  name: 'check_item',
  title: 'Check an item',
  summary:
    'Check a prompt or skill of the library, or files before they are saved, for hidden text, leaks, downloads that run, secrets and the like. Each finding names its rule, line, evidence and remedy. Offline; nothing is stored.',
  scope: null,
  cost: 10,
  surfaces: { mcp: { readOnly: true }, rest: 'POST /api/check', cli: 'check-item id' },
  input: z.object({
    id: refInput.optional().describe('Id or slug of a prompt or skill'),
    version: versionNumber.optional().describe('Default: the newest that you see'),
    files: z.array(fileInput).min(1).max(MAX_SKILL_FILES).optional().describe('Instead of id: files as they would be saved'),
    sarif: z.boolean().optional().describe('true: also as SARIF 2.1.0'),
  }),
  output: z.object({
    ruleSet: z.number().int(),
    findings: z.array(findingRecord).describe('The worst first, at most 200'),
    blocked: z.literal(true).optional().describe('The policy keeps this version from others'),
    sarif: z.record(z.string(), z.unknown()).optional(),
  }),
  async run(context: Needs<'items' | 'checks'>, { id, version, files, sarif = false }) {
    if ((id === undefined) === (files === undefined)) throw invalidInput('id', 'Give either id or files.')
    const item = id === undefined ? null : await requireEither(context, id)
    const { findings, blocking } = item
      ? await readFindings(context, item, version)
      : { findings: await checkGiven(context, readGiven(files ?? [])), blocking: [] }
    return {
      ruleSet: RULE_SET,
      findings: findings.map(toFindingRecord),
      ...(blocking.length > 0 && item?.visibility !== 'private' && { blocked: true as const }),
      ...(sarif && { sarif: toSarif(findings) }),
    }
  },
})

/** The name in the SKILL.md among some files; null without one. */
function nameOf(files: readonly SkillFile[]): string | null {
  const skillMd = files.find(({ filename }) => filename === SKILL_MD)
  return skillMd ? describeSkill(decodeText(skillMd.bytes)).name : null
}

/** Skills that the caller finds whose names are nearly this one. @param id of the skill itself */
async function findRepeated({ actor, store }: Needs<'items' | 'checks'>, id: string | null, name: string | null): Promise<MarkedFinding[]> {
  if (name === null || (await store.checks.listLevels(null)).service.get(WHOLE_RULES.repeats.id) === 'off') return []
  const { repeats } = WHOLE_RULES
  return (await store.checks.listSkillNames(actor))
    .filter((other) => other.id !== id && compareNames(name, other.name) !== null)
    .slice(0, MAX_REPEATED)
    .map((other) =>
      findingOf(repeats, {
        mark: '',
        severity: compareNames(name, other.name) === 'same' ? repeats.severity : 'low',
        file: SKILL_MD,
        evidence: `${name}: ${other.name} of ${other.owner}`,
      }),
    )
}

/** Findings in files that are in no library, with the skills of it that their name repeats. */
async function checkGiven(context: Needs<'items' | 'checks'>, files: readonly SkillFile[]): Promise<MarkedFinding[]> {
  return [...(await context.store.checks.checkGiven(files)), ...(await findRepeated(context, null, nameOf(files)))]
}

/**
 * The findings of a version of an item that the caller sees, and which of them block it for those who see all versions.
 * @throws AppError `not_found` for a version that the caller does not see
 */
export async function readFindings(context: Needs<'items' | 'checks'>, item: Item, asked?: number) {
  const role = await roleOver(context, item)
  const version = versionToCheck(item, role, asked)
  if (version !== item.version && !(await context.store.items.findVersion(context.actor, item.id, version)))
    throw new AppError('not_found', `Version ${version} not found, or not visible to you.`)
  const { findings: found, blocking } = await context.store.checks.judgeItem(item.id, version)
  const name = item.kind === 'skill' ? nameOf(await context.store.items.readSkillFiles(context.actor, item.id, [SKILL_MD])) : null
  const findings = [...found, ...(await findRepeated(context, item.id, name))]
  if (hasRight(role, 'see')) return { role, version, findings, blocking }
  // Why somebody accepted a finding is for those who own the item.
  const shown = findings.map(({ waived, ...finding }) => ({ ...finding, ...(waived && { waived: { reason: '', by: '', until: null } }) }))
  return { role, version, findings: shown, blocking: [] }
}
