import { z } from 'zod'
import type { EvalRun, KeptRun } from '../../domain/evals/evals.ts'
import type { Item } from '../../domain/items/items.ts'
import {
  type LabelGate,
  type LabelMove,
  LOCAL_KEY,
  labelName,
  MAX_GATE_KEYS,
  sameTargets,
  type WantedMove,
} from '../../domain/items/labels.ts'
import { requireRight, type TeamRole } from '../../domain/people/teams.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { compareRuns, digestOf } from '../../evals/compare-runs.ts'
import { defineOperation, wholeKeyWrite } from '../core/define-operation.ts'
import { ownerInput, requireOwnerOrSelf } from '../core/inputs.ts'
import type { Needs } from '../core/procedure.ts'
import { readTested } from './cases.ts'
import { readRun } from './results.ts'

const DAY_MS = 86_400_000
/** Means of the same numbers may differ in their last digits. */
const TOLERANCE = 1e-7
/** Cases that a refusal names. */
const MAX_NAMED = 5

type Gated = Needs<'items' | 'labels' | 'evals' | 'checks', 'clock'>

/** The newest complete run of a version's text that was made here, or reported with a key that the gate names. */
async function findRun(context: Gated, item: Item, version: number, { keys }: LabelGate): Promise<{ kept: KeptRun; run: EvalRun } | null> {
  const { items, evals } = context.store
  if (!(await items.findVersion(context.actor, item.id, version))) return null
  const kept = await evals.findCountedRun(item.id, digestOf((await readTested(context, item, version)).files), keys)
  return kept && (await readRun(context, item, kept.seq))
}

/** The share of cases that pass, in percent, with the skill where the runner tells. A case that was not graded did not pass. */
function percentOf(run: EvalRun): number {
  const byCase = Map.groupBy(
    run.results.filter(({ arm }) => arm !== 'without'),
    (result) => result.case,
  )
  const passed = [...byCase.values()].reduce(
    (sum, results) => sum + results.filter((one) => one.passed === true).length / results.length,
    0,
  )
  return byCase.size === 0 ? 0 : (100 * passed) / byCase.size
}

/** Everything that a gate finds wrong with a version, as the ends of sentences. */
async function findFaults(context: Gated, item: Item, gate: LabelGate, version: number, now: number | undefined): Promise<string[]> {
  const faults: string[] = []
  const { minPercent, maxDays, maxDrop, needsCheck } = gate
  const found = minPercent === null && maxDays === null && maxDrop === null ? null : await findRun(context, item, version, gate)
  if (found === null && (minPercent !== null || maxDays !== null || maxDrop !== null))
    faults.push('no complete results of this text from here or a key that the gate names')
  if (found) {
    const { kept, run } = found
    const percent = percentOf(run)
    if (!run.results.some(({ passed }) => passed !== null)) faults.push('nothing was graded in its results')
    if (minPercent !== null && percent < minPercent - TOLERANCE)
      faults.push(`${(Math.floor(percent * 10) / 10).toFixed(1)} % of cases pass; ${minPercent} % must`)
    // A report sent again is no newer than its run.
    const ranAt = Math.min(Date.parse(kept.reportedAt), Date.parse(kept.startedAt ?? kept.reportedAt))
    const days = (context.clock() - ranAt) / DAY_MS
    if (maxDays !== null && days > maxDays) faults.push(`the results are ${Math.floor(days)} days old; ${maxDays} are the most`)
    const isCompared = maxDrop !== null && now !== undefined && now !== version
    const before = !isCompared ? null : await findRun(context, item, now, gate)
    if (isCompared && before === null) faults.push(`no such results of version ${now}, which it replaces`)
    if (before && maxDrop !== null) {
      const worse = compareRuns(before.run, run).cases.filter(({ arms }) =>
        arms.some(
          (one) =>
            one.before !== null &&
            100 * (one.before - (one.after ?? 0)) > maxDrop + TOLERANCE &&
            one.arm !== 'without' &&
            one.outcome !== 'only-after',
        ),
      )
      const named = worse.slice(0, MAX_NAMED).map((one) => one.case)
      if (worse.length > 0)
        faults.push(
          `worse than version ${now} in ${named.join(', ')}${worse.length > named.length ? ` and ${worse.length - named.length} more` : ''}`,
        )
    }
  }
  if (needsCheck) {
    const { findings } = await context.store.checks.judgeItem(item.id, version)
    const high = findings.find(({ severity, waived }) => severity === 'high' && !waived)
    if (high) faults.push(`the check finds ${high.rule} in ${high.file}, line ${high.line}`)
  }
  return faults
}

/**
 * A move of a label as its owner's gate lets it pass. A version that held the label before needs a reason alone. A maintainer may override a
 * refusal, with a reason that stands in the history.
 * @throws AppError `conflict` naming everything that the gate refuses
 */
export async function passGate(
  context: Gated,
  item: Item,
  role: TeamRole | null,
  { label, overrides = false }: { readonly label: string; readonly overrides?: boolean | undefined },
  wanted: WantedMove,
  last: LabelMove | null,
): Promise<WantedMove> {
  const gate = (await context.store.labels.listLabelGates(item.ownerId)).find(({ name }) => name === label)
  const current = item.labels.find(({ name }) => name === label)?.targets ?? null
  if (!gate || wanted.to === null || sameTargets(current, wanted.to)) return wanted
  // A label that was removed meanwhile is compared with what it left.
  const now = (current ?? last?.from)?.[0]?.version
  const faults: string[] = []
  for (const { version } of wanted.to) {
    if (await context.store.labels.hasHeld(item.id, label, version)) {
      if (!wanted.reason) faults.push(`version ${version} held this label before, and needs a reason`)
      continue
    }
    for (const fault of await findFaults(context, item, gate, version, now)) faults.push(`version ${version}: ${fault}`)
  }
  if (faults.length === 0) return wanted
  if (overrides && wanted.reason) {
    requireRight(role, 'manage', `override the gate of "${label}"`)
    return { ...wanted, isOverride: true }
  }
  throw new AppError('conflict', `The gate of "${label}" refuses this move: ${faults.join('; ')}.`, {
    details: faults.map((message) => ({ path: 'label', message })),
  })
}

const share = (least: number) => z.number().int().min(least).max(100).optional()
const gateFields = {
  minPercent: share(1).describe('Least share of cases that pass, in percent'),
  maxDays: z.number().int().min(1).max(3650).optional().describe('Most days since the results were reported'),
  maxDrop: share(0).describe('Most that one case may lose, in percent of its score, against the version that the label leaves'),
  needsCheck: z.boolean().optional().describe('true: no finding of high severity'),
  keys: z
    .array(z.string())
    .max(MAX_GATE_KEYS)
    .optional()
    .describe(
      'Ids of API keys with the scope results whose reports count, beside runs made here; local: reports from the command line of the service',
    ),
}

export const listGates = defineOperation({
  name: 'list_gates',
  title: 'List gates of labels',
  summary: 'What you or your team require of a version before a label moves to it.',
  scope: 'read',
  needsWholeKey: true,
  surfaces: { rest: 'GET /api/label-gates', cli: 'list-gates' },
  input: z.object({ owner: ownerInput }),
  output: z.object({
    gates: z.array(
      z.object({
        label: z.string(),
        minPercent: z.number().nullable(),
        maxDays: z.number().nullable(),
        maxDrop: z.number().nullable(),
        needsCheck: z.boolean(),
        keys: z.array(z.string()),
      }),
    ),
  }),
  async run(context: Needs<'items' | 'labels'>, { owner }) {
    const gates = await context.store.labels.listLabelGates((await requireOwnerOrSelf(context, owner)).id)
    return { gates: gates.map(({ name, keys, ...gate }) => ({ label: name, ...gate, keys: [...keys] })) }
  },
})

export const setGate = defineOperation({
  name: 'set_gate',
  title: 'Set the gate of a label',
  summary:
    'Ask for test results, or a check without high findings, before a label moves to a version. Without fields, the gate is removed.',
  ...wholeKeyWrite,
  surfaces: { rest: 'PUT /api/label-gates/{label}', cli: 'set-gate label' },
  input: z.object({ label: labelName, owner: ownerInput, ...gateFields }),
  output: z.object({ success: z.literal(true), label: z.string(), isSet: z.boolean() }),
  async run(context: Needs<'items' | 'labels' | 'keys'>, { label, owner, keys = [], ...asked }) {
    const { minPercent = null, maxDays = null, maxDrop = null, needsCheck = false } = asked
    const { id: ownerId, role } = await requireOwnerOrSelf(context, owner)
    requireRight(role, 'manage', 'set the gates of labels')
    const isSet = minPercent !== null || maxDays !== null || maxDrop !== null || needsCheck
    const isAutomatic = (await context.store.labels.listLabelRules(ownerId)).some((rule) => rule.name === label && rule.isAutomatic)
    if (isSet && isAutomatic) throw invalidInput('label', `New versions get the label "${label}" by themselves: take that rule away first.`)
    const known = keys.length === 0 ? [] : await context.store.keys.listKeys(null)
    for (const key of keys) {
      if (key !== LOCAL_KEY && !known.some(({ id, scopes, revokedAt }) => id === key && revokedAt === null && scopes.includes('results')))
        throw invalidInput('keys', `${key.slice(0, 50)} is not the id of an API key with the scope results.`)
    }
    await context.store.labels.setLabelGate(
      ownerId,
      label,
      isSet ? { minPercent, maxDays, maxDrop, needsCheck, keys: [...new Set(keys)] } : null,
    )
    return { success: true as const, label, isSet }
  },
})
