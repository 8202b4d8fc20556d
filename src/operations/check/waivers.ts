import { z } from 'zod'
import { RULES, ruleOf, WHOLE_RULES } from '../../check/rules/index.ts'
import { DEFAULT_LEVEL, LEVELS, type Level, levelOf, type MarkedFinding, type Severity } from '../../domain/check/findings.ts'
import { versionNumber, writtenRowNumber } from '../../domain/items/fields.ts'
import type { Item } from '../../domain/items/items.ts'
import { reasonField } from '../../domain/items/labels.ts'
import { hasRight, requireRight, type TeamRole } from '../../domain/people/teams.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { defineOperation, itemWrite } from '../core/define-operation.ts'
import { itemTarget, kindOf, requireEditable, requireItem, requireOwner, toLimits, toPage } from '../core/inputs.ts'
import { defineProcedure, type Needs, requireUser, type UserActor } from '../core/procedure.ts'
import { itemUrl } from '../core/records.ts'
import { readFindings, toFindingRecord, versionToCheck } from './check-item.ts'

/** Longest that a finding is accepted for, in days. */
const MAX_DAYS = 366
const DAY_MS = 86_400_000

/**
 * How grave a finding is for those who accept it: what blocks counts for what its rule says, because the words around it, which may make it
 * weigh less, are the owner's.
 */
function weightOf(finding: MarkedFinding, blocking: readonly MarkedFinding[]): Severity {
  return blocking.includes(finding) ? (ruleOf(finding.rule)?.severity ?? finding.severity) : finding.severity
}

/** Whether the caller may accept findings of a severity: owners low and medium ones, administrators all. */
function mayWaive(
  { actor, maintainersAccept }: Needs<never, 'maintainersAccept'>,
  { ownerId }: Item,
  role: TeamRole | null,
  severity: Severity,
): boolean {
  if (actor.kind !== 'user') return false
  if (actor.scopes.has('admin')) return true
  const isMaintainer = maintainersAccept && ownerId !== actor.userId && hasRight(role, 'manage')
  return hasRight(role, 'edit') && (severity !== 'high' || isMaintainer)
}

/** An item of whose findings the caller may accept some, and the caller's role. */
async function requireWaivable(
  context: Needs<'items'>,
  target: z.infer<z.ZodObject<typeof itemTarget>>,
): Promise<{ item: Item; role: TeamRole | null; user: UserActor }> {
  const user = requireUser(context.actor)
  const item = await requireItem(context, target)
  const role = await context.store.items.findRole(user.userId, item.ownerId)
  if (!user.scopes.has('admin')) requireEditable(user, item, role, target.id)
  return { item, role, user }
}

const waiverRecord = z.object({
  waiver: z.number().int(),
  rule: z.string(),
  file: z.string(),
  reason: z.string(),
  by: z.string().nullable().describe('null: the account is gone'),
  until: z.string().nullable().meta({ format: 'date-time' }),
  createdAt: z.string().meta({ format: 'date-time' }),
})

export const listWaivers = defineOperation({
  name: 'list_waivers',
  title: 'List accepted findings',
  summary:
    'Findings of the check that were accepted for a prompt or skill you own. An acceptance ends when the evidence, its line, the rule or the owner changes.',
  scope: 'read',
  surfaces: { rest: 'GET /api/{collection}/{id}/waivers', cli: 'list-waivers collection id' },
  input: z.object(itemTarget),
  output: z.object({ waivers: z.array(waiverRecord) }),
  async run(context: Needs<'items' | 'checks'>, target) {
    const { item } = await requireWaivable(context, target)
    return { waivers: await context.store.checks.listWaivers(item.id) }
  },
})

export const waiveFinding = defineOperation({
  name: 'waive_finding',
  title: 'Accept a finding',
  summary:
    'Accept findings of a rule at a place of a prompt or skill, with a reason. Owners accept low and medium findings, administrators all. It ends when the evidence, its line, the rule or the owner changes.',
  ...itemWrite,
  surfaces: { rest: 'POST /api/{collection}/{id}/waivers 201', cli: 'waive-finding collection id rule' },
  input: z.object({
    ...itemTarget,
    rule: z.string().max(100).describe('Id of the rule'),
    file: z.string().max(1000).optional().describe('Only in this file'),
    line: z.number().int().min(1).optional().describe('Only in this line'),
    reason: reasonField.min(3).describe('Why it is acceptable here'),
    days: z.number().int().min(1).max(MAX_DAYS).optional().describe('Days until it expires. Default: never'),
  }),
  output: z.object({ success: z.literal(true), waived: z.number().int() }),
  async run(context: Needs<'items' | 'checks', 'clock' | 'maintainersAccept'>, { rule, file, line, reason, days, ...target }) {
    const { item, role, user } = await requireWaivable(context, target)
    const { findings, blocking } = await context.store.checks.judgeItem(item.id, versionToCheck(item, 'maintainer', undefined))
    const meant = findings.filter(
      (one) => one.rule === rule && (file === undefined || one.file === file) && (line === undefined || one.line === line) && !one.waived,
    )
    if (meant.length === 0)
      throw new AppError('not_found', `There is no open finding of "${rule.slice(0, 60)}" there. Check the item again.`)
    for (const finding of meant) {
      if (mayWaive(context, item, role, weightOf(finding, blocking))) continue
      requireRight(role, 'edit', 'accept findings')
      throw new AppError('forbidden', `${rule} is of high severity here: an administrator accepts it.`)
    }
    const until = days === undefined ? null : new Date(context.clock() + days * DAY_MS).toISOString()
    for (const finding of meant) await context.store.checks.waive(item.id, finding, { userId: user.userId, reason, until })
    return { success: true as const, waived: meant.length }
  },
})

export const endWaiver = defineOperation({
  name: 'end_waiver',
  title: 'End an accepted finding',
  summary: 'Withdraw the acceptance of a finding. The current version stays available until an administrator confirms the block.',
  scope: 'write',
  writes: true,
  surfaces: { rest: 'DELETE /api/{collection}/{id}/waivers/{waiver}', cli: 'end-waiver collection id waiver' },
  input: z.object({ ...itemTarget, waiver: writtenRowNumber }),
  output: z.object({ success: z.literal(true) }),
  async run(context: Needs<'items' | 'checks'>, { waiver, ...target }) {
    const { item } = await requireWaivable(context, target)
    if (!(await context.store.checks.endWaiver(item.id, waiver))) throw new AppError('not_found', 'Accepted finding not found.')
    return { success: true as const }
  },
})

/** The owner whose levels are meant: the service without one. */
async function requireLevels({ actor, store }: Needs<'items'>, owner: string | undefined): Promise<string | null> {
  const user = requireUser(actor)
  if (owner === undefined) {
    if (!user.scopes.has('admin')) throw new AppError('forbidden', 'Only administrators set the levels of the service.')
    return null
  }
  const { id, role } = await requireOwner(store, user.userId, owner)
  if (!hasRight(role, 'manage')) throw new AppError('forbidden', 'Only maintainers set the levels of a team.')
  return id
}

/** Whether a rule can block. Each reader finds other names that repeat one. */
const mayBlock = (rule: string) => rule !== WHOLE_RULES.repeats.id

/** Lists all rules with their levels: of the service, or as a team has them, which may be stricter. */
export const listLevels = defineProcedure({
  scope: 'account',
  input: z.object({ owner: z.string().optional() }),
  async run(context: Needs<'items' | 'checks'>, { owner }) {
    const id = await requireLevels(context, owner)
    const { service, own } = await context.store.checks.listLevels(id)
    return RULES.map(({ id: rule, title, severity }) => {
      const ofService = service.get(rule) ?? DEFAULT_LEVEL
      return {
        rule,
        title,
        severity,
        levels: LEVELS.filter(
          (one) => (id === null || LEVELS.indexOf(one) >= LEVELS.indexOf(ofService)) && (one !== 'block' || mayBlock(rule)),
        ),
        level: id === null ? ofService : levelOf(rule, service, own),
        isSet: (id === null ? service : own).has(rule),
      }
    })
  },
})

/** Sets the level of one rule. */
export const setLevel = defineProcedure({
  scope: 'account',
  writes: true,
  input: z.object({ owner: z.string().optional(), rule: z.string().max(100), level: z.enum(LEVELS) }),
  async run(context: Needs<'items' | 'checks'>, { owner, rule, level }) {
    const id = await requireLevels(context, owner)
    if (!RULES.some((one) => one.id === rule)) throw invalidInput('rule', `There is no rule "${rule.slice(0, 60)}".`)
    if (level === 'block' && !mayBlock(rule)) throw invalidInput('level', `${rule} depends on the reader, and cannot block.`)
    const { service } = await context.store.checks.listLevels(id)
    // A team without a level of its own has that of the service.
    const inherited = id === null ? DEFAULT_LEVEL : (service.get(rule) ?? DEFAULT_LEVEL)
    const kept: Level | null = level === inherited ? null : level
    await context.store.checks.setLevel(id, rule, kept)
  },
})

const page = z.object({ page: z.coerce.number().int().min(1).default(1), perPage: z.number().int().min(1).max(100).default(50) })

/** Lists items whose verdict changed with the rules or their levels. */
export const listCheckChanges = defineProcedure({
  scope: 'admin',
  input: page,
  async run({ store }: Needs<'checks'>, input) {
    const { items, total } = await store.checks.listChanged(toLimits(input))
    return { changes: items, ...toPage(input, total) }
  },
})

/** Blocks what is served of items, as the list said. */
export const confirmBlocks = defineProcedure({
  scope: 'admin',
  writes: true,
  input: z.object({ items: z.array(z.object(itemTarget)).min(1).max(100) }),
  async run({ actor, store }: Needs<'checks'>, { items }) {
    const { userId } = requireUser(actor)
    let blocked = 0
    for (const { collection, id } of items) if (await store.checks.confirmBlock(kindOf(collection), id, userId)) blocked++
    return { blocked }
  },
})

/** Clears the list of what changed; what is to be blocked stays in it. */
export const dismissCheckChanges = defineProcedure({
  scope: 'admin',
  writes: true,
  run: async ({ store }: Needs<'checks'>) => await store.checks.dismissChanges(),
})

const isOfItem = ({ rule }: MarkedFinding) => rule !== WHOLE_RULES.repeats.id

/** The findings of an item as its page shows them: of the newest version that the reader sees, or of another. */
export const showCheckPage = defineProcedure({
  scope: null,
  input: z.object({ ...itemTarget, version: versionNumber.optional() }),
  async run(context: Needs<'items' | 'checks', 'baseUrl' | 'maintainersAccept'>, { version: asked, ...target }) {
    const { store, baseUrl } = context
    const item = await requireItem(context, target)
    const { role, version, findings, blocking } = await readFindings(context, item, asked)
    const isOwn = hasRight(role, 'see')
    const mayEdit = mayWaive(context, item, role, 'low')
    const isNewest = version === (item.blockedVersion ?? item.version)
    const waivers = mayEdit ? await store.checks.listWaivers(item.id) : []
    // Administrators decide about what is blocked without reading it.
    const hidden =
      !isOwn && mayEdit && item.blockedVersion !== null ? (await store.checks.judgeItem(item.id, item.blockedVersion)).blocking : []
    return {
      title: item.title,
      url: itemUrl(baseUrl, item.kind, item),
      visibility: item.visibility,
      version,
      servedVersion: item.version,
      findings: findings.filter(isOfItem).map((finding) => ({
        ...toFindingRecord(finding),
        mayAccept: isNewest && !finding.waived && mayWaive(context, item, role, weightOf(finding, blocking)),
      })),
      /** Skills of nearly the same name, which depend on the reader: the counts leave them out. */
      repeated: findings.filter((finding) => !isOfItem(finding)).map(toFindingRecord),
      blockedBy: [...new Set(blocking.map(({ rule }) => rule))],
      hidden: hidden.map(({ rule, severity, file, line }) => ({ rule, severity, file, line })),
      waivers,
    }
  },
})
