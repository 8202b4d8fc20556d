import { z } from 'zod'
import { checkedText, versionNumber } from './fields.ts'
import { othersMaySee, type Visibility } from './visibility.ts'

/** The label of the newest version. It moves by itself, and nobody sets it. */
export const LATEST = 'latest'
/** Labels of one item, and rules of one owner. */
export const MAX_LABELS = 20
/** Versions that share a label. */
const MAX_TARGETS = 3
const MAX_REASON = 500

/** Names that Git could take for something else, or that say nothing. */
const RESERVED = new Set(['main', 'master', 'head'])

function labelFault(name: string): string | null {
  if (!/^[a-z0-9_.-]{1,36}$/.test(name)) return 'must be 1 to 36 characters of a-z, 0-9, dot, underscore and hyphen'
  if (/^[.-]|\.$|\.lock$|\.\./.test(name)) return 'must not begin with a dot or hyphen, end with a dot or .lock, or have two dots in a row'
  return RESERVED.has(name) ? 'is reserved' : null
}

/** The name of a label that is read, {@link LATEST} among them. */
export const labelRef = checkedText(labelFault)

/** The name of a label that an item can have. */
export const labelName = labelRef.refine((name) => name !== LATEST, 'is the newest version: it moves by itself')

/** The name of a label that is set: labels that were called by digits before are still read. */
export const settableLabel = labelName.refine((name) => !/^\d+$/.test(name), 'has digits alone, which read as a version: add a letter')

export const reasonField = z.string().max(MAX_REASON)

/** A version that a label points at, and its share in percent. */
export interface LabelTarget {
  readonly version: number
  readonly weight: number
}

/** Up to three versions whose shares sum to 100. */
export const targetsField = z
  .array(z.object({ version: versionNumber, weight: z.number().int().min(1).max(100) }))
  .min(1)
  .max(MAX_TARGETS)
  .superRefine((targets, issues) => {
    const sum = targets.reduce((total, { weight }) => total + weight, 0)
    if (sum !== 100) issues.addIssue({ code: 'custom', message: `has weights that sum to ${sum}; they must sum to 100` })
    if (new Set(targets.map(({ version }) => version)).size < targets.length) {
      issues.addIssue({ code: 'custom', message: 'names a version twice' })
    }
  })

/** A label of an item. */
export interface Label {
  readonly name: string
  /** The largest share first. */
  readonly targets: readonly LabelTarget[]
  /** Whether everybody who sees the item sees the versions. */
  readonly isShared: boolean
}

/** A label's move; null stands for no label. Times are ISO 8601. */
export interface LabelMove {
  readonly seq: number
  readonly label: string
  readonly from: readonly LabelTarget[] | null
  readonly to: readonly LabelTarget[] | null
  readonly reason: string | null
  /** null: the account is gone. */
  readonly author: string | null
  readonly at: string
  /** Whether a maintainer moved it although the gate refused. */
  readonly isOverride: boolean
}

/** A wanted move of a label. */
export interface WantedMove {
  /** null removes the label. */
  readonly to: readonly LabelTarget[] | null
  readonly reason: string | null
  readonly isOverride?: boolean
}

/** The conditions of an owner for a version before a label moves to it. Shares are percent of cases; null asks for none of it. */
export interface LabelGate {
  /** Least share of cases that pass. */
  readonly minPercent: number | null
  /** Most days since the results were reported. */
  readonly maxDays: number | null
  /** Most that a single case may lose, in percent of its score, against the version that the label leaves. */
  readonly maxDrop: number | null
  /** Whether the check must have no finding of high severity. */
  readonly needsCheck: boolean
  /** Ids of the keys whose reports count beside runs that are made here. */
  readonly keys: readonly string[]
}

/** Stands for a key in what the operator reports from the command line of the service. */
export const LOCAL_KEY = 'local'
/** Most keys that one gate names. */
export const MAX_GATE_KEYS = 20

/** An owner's rule for a label: only maintainers move it, or new versions get it by themselves. */
export interface LabelRule {
  readonly name: string
  readonly isProtected: boolean
  readonly isAutomatic: boolean
}

/** Targets by share, the largest first, and by version where shares are equal. */
export function sortTargets(targets: readonly LabelTarget[]): LabelTarget[] {
  return targets.toSorted((one, other) => other.weight - one.weight || other.version - one.version)
}

/** Targets as texts compare them. */
export function sameTargets(one: readonly LabelTarget[] | null, other: readonly LabelTarget[] | null): boolean {
  return JSON.stringify(one && sortTargets(one)) === JSON.stringify(other && sortTargets(other))
}

/** Whether a version is seen by everybody who sees its item. @param newest number of the newest version, which is the item */
export function isSharedVersion(
  version: { readonly number: number; readonly visibility: Visibility },
  item: { readonly newest: number; readonly visibility: Visibility },
): boolean {
  if (version.number === item.newest || item.visibility === 'private') return true
  return othersMaySee(item.visibility === 'members' ? 'member' : 'stranger', 'list').includes(version.visibility)
}
