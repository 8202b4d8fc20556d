import { z } from 'zod'
import { rowNumber, versionNumber } from '../../domain/items/fields.ts'
import type { Item, ItemKind, ItemOf, Prompt } from '../../domain/items/items.ts'
import {
  isSharedVersion,
  type Label,
  type LabelMove,
  type LabelTarget,
  labelName,
  reasonField,
  sameTargets,
  settableLabel,
  sortTargets,
  targetsField,
  type WantedMove,
} from '../../domain/items/labels.ts'
import { hasRight, requireRight, type TeamRole } from '../../domain/people/teams.ts'
import { AppError, invalidInput } from '../../errors.ts'
import type { LibraryStore } from '../../storage/store.ts'
import { defineOperation, itemWrite } from '../core/define-operation.ts'
import { editorOf, itemTarget, kindOf, notFound, requireEditable, requireItem, requireOfKind, requireOwnerOrSelf } from '../core/inputs.ts'
import { createParser, defineProcedure, defineWrite, type Needs, requireUser } from '../core/procedure.ts'
import { when } from '../core/records.ts'
import { passGate } from '../evals/gate.ts'
import { checkPartsAtLabel, inTurn } from '../prompts/compose.ts'

const targetRecord = z.object({ version: z.number().int(), weight: z.number().int().describe('Percent of callers') })
const targetsRecord = z.array(targetRecord).describe('The largest share first')

/** A label as lists show it. */
const labelRecord = z.object({ name: z.string(), targets: targetsRecord })

const moveRecord = z.object({
  move: z.number().int(),
  label: z.string(),
  from: targetsRecord.nullable().describe('null: the label was not there'),
  to: targetsRecord.nullable().describe('null: the label was removed'),
  reason: z.string().nullable(),
  author: z.string().nullable().describe('null: the account is gone, or the version was deleted for good'),
  isOverride: z.literal(true).optional().describe('The gate refused, and a maintainer moved it'),
  createdAt: when,
})

function toTargets(targets: readonly LabelTarget[]) {
  return targets.map(({ version, weight }) => ({ version, weight }))
}

/** The labels that a caller sees: all for whoever sees every version, for others those on versions that they see. */
export function seenLabels({ labels }: Item, role: TeamRole | null): Label[] {
  return labels.filter(({ isShared }) => isShared || hasRight(role, 'see'))
}

/** The caller's role over an item's owner, where their key may read; null for none. */
export async function roleOver({ actor, store }: Needs<'items'>, item: Item): Promise<TeamRole | null> {
  return actor.kind === 'user' && actor.scopes.has('read') ? await store.items.findRole(actor.userId, item.ownerId) : null
}

export const listLabels = defineOperation({
  name: 'list_labels',
  title: 'List labels',
  summary:
    'The labels of a prompt or skill: the versions they point at and, for those who see every version, the last moves with their reasons.',
  scope: null,
  surfaces: { rest: 'GET /api/{collection}/{id}/labels', cli: 'list-labels collection id' },
  input: z.object({
    ...itemTarget,
    before: rowNumber.optional().describe('Only moves before this one'),
    limit: z.number().int().min(1).max(100).default(50),
  }),
  output: z.object({ labels: z.array(labelRecord), moves: z.array(moveRecord), nextBefore: z.number().int().nullable() }),
  async run(context: Needs<'items' | 'labels'>, { before = null, limit, ...target }) {
    const item = await requireItem(context, target)
    const role = await roleOver(context, item)
    const moves = hasRight(role, 'see') ? await context.store.labels.listLabelMoves(item.id, { before, limit: limit + 1 }) : []
    const page = moves.slice(0, limit)
    return {
      labels: seenLabels(item, role).map(({ name, targets }) => ({ name, targets: toTargets(targets) })),
      moves: page.map(({ seq, label, from, to, reason, author, at, isOverride }) => ({
        move: seq,
        label,
        from: from && toTargets(from),
        to: to && toTargets(to),
        reason,
        author,
        createdAt: at,
        ...(isOverride && { isOverride: true as const }),
      })),
      nextBefore: moves.length > limit ? (page.at(-1)?.seq ?? null) : null,
    }
  },
})

const labelTarget = { ...itemTarget, label: labelName.describe('Name of the label: a-z, 0-9, dot, underscore and hyphen') }
const ifVersionInput = z
  .number()
  .int()
  .min(0)
  .optional()
  .describe('The version it points at now, 0 for none; fails with conflict if somebody moved it meanwhile')
const reasonInput = reasonField.optional().describe('Why it is moved, for the history')
const moveOutput = z.object({
  success: z.literal(true),
  id: z.string(),
  label: z.string(),
  targets: targetsRecord.nullable().describe('null: the label is not there any more'),
  unseenByOthers: z
    .array(z.number().int())
    .optional()
    .describe('Versions that were written while fewer people saw the item: others do not get them'),
})

/** Refuses a move by somebody without the right to it, or one that overtakes another. @throws AppError */
function checkMove(
  context: Needs<'labels'>,
  { item, role, isProtected }: { readonly item: Item; readonly role: TeamRole | null; readonly isProtected: boolean },
  { id, label, ifVersion }: { readonly id: string; readonly label: string; readonly ifVersion?: number | undefined },
): readonly LabelTarget[] | null {
  requireEditable(requireUser(context.actor), item, role, id)
  if (isProtected) requireRight(role, 'publish', `move the protected label "${label}"`)
  const from = item.labels.find(({ name }) => name === label)?.targets ?? null
  const now = from?.[0]?.version ?? 0
  if (ifVersion !== undefined && ifVersion !== now) {
    const state = now === 0 ? 'is not set' : `points at version ${now}`
    throw new AppError(
      'conflict',
      `The label "${label}" ${state} now, not ${ifVersion === 0 ? 'nowhere' : `at version ${ifVersion}`}. Read it again.`,
    )
  }
  return from
}

type Decided = (current: {
  readonly from: readonly LabelTarget[] | null
  readonly item: Item
  readonly last: LabelMove | null
}) => WantedMove

/** The context of a move: the gate of a label reads results and findings. */
type Moving = Needs<'items' | 'labels' | 'evals' | 'checks', 'clock'>
/** The same where parts are checked. */
export type MovingInTurn = Moving & Needs<'inTransaction', 'sealer'>

/** Moves a label as `decide` says. @returns the item after it */
async function moveLabel<Kind extends ItemKind>(
  context: Moving,
  kind: Kind,
  input: { readonly id: string; readonly label: string; readonly ifVersion?: number | undefined; readonly overrides?: boolean | undefined },
  decide: Decided,
): Promise<ItemOf<Kind>> {
  const editor = { ...editorOf(requireUser(context.actor)), note: null }
  const { moveLabel: write } = context.store.labels
  const item = await write(kind, input.id, editor, input.label, async ({ item: current, isProtected, last }, role) => {
    const from = checkMove(context, { item: current, role, isProtected }, input)
    return await passGate(context, current, role, input, decide({ from, item: current, last }), last)
  })
  if (!item) throw notFound(kind)
  return item
}

/** Points labels at a version, and at no other. Those that point there alone stay. @returns the item after it */
export async function pointLabels<Kind extends ItemKind>(
  context: Moving,
  item: ItemOf<Kind>,
  labels: Iterable<string>,
  version: number,
): Promise<ItemOf<Kind>> {
  const to = [{ version, weight: 100 }]
  let moved = item
  for (const label of new Set(labels)) {
    const now = moved.labels.find(({ name }) => name === label)?.targets ?? null
    if (sameTargets(now, to)) continue
    moved = await moveLabel<Kind>(context, item.kind as Kind, { id: item.id, label }, () => ({ to, reason: null }))
  }
  return moved
}

/** Moves a label as `decide` says, and answers. */
async function move(
  context: Moving,
  input: { readonly collection: 'prompts' | 'skills' } & Parameters<typeof moveLabel>[2],
  decide: Decided,
) {
  const item = await moveLabel(context, kindOf(input.collection), input, decide)
  const targets = item.labels.find(({ name }) => name === input.label)?.targets ?? null
  const unseen = await findUnseen(context, item, targets ?? [])
  return {
    success: true as const,
    id: item.id,
    label: input.label,
    targets: targets && toTargets(targets),
    ...(unseen.length > 0 && { unseenByOthers: unseen }),
  }
}

/** Versions of a label that not everybody sees who sees the item. */
async function findUnseen({ actor, store }: Needs<'items'>, item: Item, targets: readonly LabelTarget[]): Promise<number[]> {
  const unseen: number[] = []
  for (const { version } of targets) {
    const found = version === item.version ? null : await store.items.findVersion(actor, item.id, version)
    if (found && !isSharedVersion({ number: version, visibility: found.visibility }, { newest: item.version, visibility: item.visibility }))
      unseen.push(version)
  }
  return unseen
}

/** Moves a label once the parts of the versions that it moves to are checked. @throws AppError */
async function moveInTurn(
  context: MovingInTurn,
  input: Parameters<typeof move>[1],
  versionsOf: (prompt: Prompt, store: Pick<LibraryStore, 'labels'>) => readonly number[] | Promise<readonly number[]>,
  decide: Parameters<typeof move>[2],
) {
  const check = async (store: Pick<LibraryStore, 'items' | 'labels'>): Promise<boolean> => {
    if (input.collection !== 'prompts') return false
    const prompt = await requireOfKind({ ...context, store }, 'prompt', input.id)
    return await checkPartsAtLabel({ ...context, store }, prompt, input.label, await versionsOf(prompt, store))
  }
  const isComposed = await check(context.store)
  return await inTurn(context, isComposed, async (store) => {
    if (isComposed) await check(store)
    return await move({ ...context, store }, input, decide)
  })
}

export const setLabel = defineOperation({
  name: 'set_label',
  title: 'Set a label',
  summary:
    'Point a label of a prompt or skill at a version, or let up to three versions share it by weights that sum to 100. Anyone reading by that label gets it at once. The move is kept with its reason.',
  ...itemWrite,
  surfaces: { rest: 'PUT /api/{collection}/{id}/labels/{label}', cli: 'set-label collection id label version' },
  input: z.object({
    ...labelTarget,
    label: settableLabel.describe('Name of the label: a-z, 0-9, dot, underscore and hyphen, not digits alone'),
    version: versionNumber.optional().describe('Default: the newest version'),
    targets: targetsField.optional().describe('Instead of version: versions with their weights'),
    reason: reasonInput,
    ifVersion: ifVersionInput,
    overrides: z.boolean().optional().describe('true: move it even if its gate refuses; for maintainers, with a reason'),
  }),
  output: moveOutput,
  async run(context: MovingInTurn, { version, targets, reason, ...input }) {
    if (version !== undefined && targets !== undefined) throw invalidInput('targets', 'Give either version or targets.')
    const versionsOf = (prompt: Prompt) => targets?.map((one) => one.version) ?? [version ?? prompt.version]
    return await moveInTurn(context, input, versionsOf, ({ item }) => ({
      to: targets ? sortTargets(targets) : [{ version: version ?? item.version, weight: 100 }],
      reason: reason ?? null,
    }))
  },
})

export const removeLabel = defineOperation({
  name: 'remove_label',
  title: 'Remove a label',
  summary: 'Remove a label from a prompt or skill: readers by that label find nothing from then on. The move is kept with its reason.',
  ...itemWrite,
  surfaces: { rest: 'DELETE /api/{collection}/{id}/labels/{label}', cli: 'remove-label collection id label' },
  input: z.object({ ...labelTarget, reason: reasonInput, ifVersion: ifVersionInput }),
  output: moveOutput,
  async run(context: Moving, { reason, ...input }) {
    return await move(context, input, ({ from }) => {
      if (from === null) throw new AppError('not_found', `There is no label "${input.label}" here.`)
      return { to: null, reason: reason ?? null }
    })
  },
})

export const undoLabel = defineOperation({
  name: 'undo_label',
  title: 'Undo the last move of a label',
  summary: 'Undo the last move of a label. The undo is recorded as a move.',
  ...itemWrite,
  surfaces: { rest: 'POST /api/{collection}/{id}/labels/{label}/undo', cli: 'undo-label collection id label' },
  input: z.object({ ...labelTarget, reason: reasonInput, ifVersion: ifVersionInput }),
  output: moveOutput,
  async run(context: MovingInTurn, { reason, ...input }) {
    const versionsOf = async ({ id }: Prompt, store: Pick<LibraryStore, 'labels'>) =>
      (await store.labels.findLastMove(id, input.label))?.from?.map(({ version }) => version) ?? []
    return await moveInTurn(context, input, versionsOf, ({ last }) => {
      if (last === null) throw new AppError('not_found', `The label "${input.label}" was never moved here.`)
      return { to: last.from, reason: reason ?? null }
    })
  },
})

/** The owner of rules: the caller, or a team. */
const rulesOf = { owner: z.string().optional() }

/** The rules of an owner's labels. @throws AppError `not_found` for a team that the caller is not in */
export const listLabelRules = defineProcedure({
  scope: 'account',
  input: z.object(rulesOf),
  async run(context: Needs<'items' | 'labels'>, { owner }) {
    const { id, role } = await requireOwnerOrSelf(context, owner)
    return { rules: await context.store.labels.listLabelRules(id), canChange: hasRight(role, 'manage') }
  },
})

const parseSettable = createParser(z.object({ name: settableLabel }))

/** Says of a label that only maintainers move it, or that new versions get it by themselves. */
export const setLabelRule = defineWrite({
  scope: 'account',
  input: z.object({ ...rulesOf, name: labelName, isProtected: z.boolean().default(false), isAutomatic: z.boolean().default(false) }),
  async run(context: Needs<'items' | 'labels'>, { owner, ...rule }) {
    const { id, role } = await requireOwnerOrSelf(context, owner)
    requireRight(role, 'manage', 'set the rules of labels')
    if (rule.isAutomatic && (await context.store.labels.listLabelGates(id)).some(({ name }) => name === rule.name)) {
      throw invalidInput('isAutomatic', 'This label has a gate: new versions cannot get it by themselves.')
    }
    if (rule.isProtected && rule.isAutomatic) {
      throw invalidInput('isAutomatic', 'A protected label is moved by a decision: new versions cannot get it by themselves.')
    }
    if (rule.isAutomatic) parseSettable({ name: rule.name })
    await context.store.labels.setLabelRule(id, rule)
  },
})
