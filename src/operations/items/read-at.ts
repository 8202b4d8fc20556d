import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { shareOnce } from '../../cache/answer-cache.ts'
import { versionNumber } from '../../domain/items/fields.ts'
import { atVersion } from '../../domain/items/item-access.ts'
import type { FullVersion, Item, ItemKind, ItemOf } from '../../domain/items/items.ts'
import { LATEST, type LabelTarget, labelRef, sortTargets } from '../../domain/items/labels.ts'
import { hasRight } from '../../domain/people/teams.ts'
import type { SkillFile } from '../../domain/skills/skill.ts'
import { AppError, invalidInput } from '../../errors.ts'
import type { Needs } from '../core/procedure.ts'

/** Longest bucket of a caller. */
const MAX_BUCKET = 200

/** The label or number that selects a version. */
export const atInputs = {
  label: labelRef.optional().describe('The version at this label, such as production; not found without it'),
  version: versionNumber.optional().describe('This version'),
}
/** The bucket of a caller, for programs that serve several. */
export const bucketInput = z
  .string()
  .min(1)
  .max(MAX_BUCKET)
  .optional()
  .describe('Where versions share a label: callers of one bucket get the same. Default: the person behind the key')

/** The version that was read, where one was asked for. */
export const atOutputs = {
  label: z.string().optional(),
  version: z.number().int().optional().describe('Number of the version that was asked for'),
  bucket: z.string().optional().describe('Only where versions share the label'),
}

/** The answer to {@link atInputs}. */
type At = { readonly label?: string; readonly version?: number; readonly bucket?: string }

/** The reader of a version, and the stores it is read from. */
export type Reading = Pick<Needs<'items', 'sealer'>, 'actor' | 'store' | 'sealer'>

/** A version that is asked for. */
export type AskedVersion = z.infer<z.ZodObject<typeof atInputs & { bucket: typeof bucketInput }>>

interface ItemAt<Kind extends ItemKind> {
  /** As the version has it; tags, category and visibility are those of now. */
  readonly item: ItemOf<Kind>
  /** A skill's files; null: those that it has now. */
  readonly files: readonly SkillFile[] | null
  readonly at: At
}

/**
 * An item as the version says that a label or number names.
 * @throws AppError `not_found` where the label is not there, or the version is not the caller's to see
 */
export async function readAt<Kind extends ItemKind>(
  { actor, store, sealer }: Reading,
  item: ItemOf<Kind>,
  { label, version, bucket }: AskedVersion,
): Promise<ItemAt<Kind>> {
  if (label === undefined && version === undefined) {
    const blocked = await findBlocked({ actor, store }, item)
    if (!blocked) return { item, files: null, at: {} }
    return { item: toItemAt(item, blocked) as ItemOf<Kind>, files: blocked.files, at: { version: blocked.version } }
  }
  if (label !== undefined && version !== undefined) throw invalidInput('version', 'Give either label or version.')
  const found = label === undefined || label === LATEST ? undefined : item.labels.find(({ name }) => name === label)
  if (label !== undefined && label !== LATEST && !found) throw noLabel(item, label)
  const isSplit = found !== undefined && found.targets.length > 1
  const drawn = isSplit ? (bucket ?? (actor.kind === 'user' ? actor.userId : null)) : null
  const number = isSplit
    ? chooseVersion(found.targets, sealer.keyFor('labels'), `${item.id} ${found.name}`, drawn)
    : (found?.targets[0]?.version ?? version ?? item.version)
  const at: At = { ...(label !== undefined && { label }), version: number, ...(drawn !== null && { bucket: drawn }) }
  if (number === item.version) return { item, files: null, at }
  const text = await store.items.findVersion(actor, item.id, number)
  if (!text)
    throw label === undefined ? new AppError('not_found', `Version ${number} not found, or not visible to you.`) : noLabel(item, label)
  return { item: toItemAt(item, text) as ItemOf<Kind>, files: text.files, at }
}

/** The newest version, where the check blocks it, for those who may edit the item: what they saved is what they read. */
async function findBlocked({ actor, store }: Pick<Needs<'items'>, 'actor' | 'store'>, item: Item): Promise<FullVersion | null> {
  if (item.blockedVersion === null || actor.kind !== 'user' || !actor.scopes.has('read')) return null
  const role = await store.items.findRole(actor.userId, item.ownerId)
  return hasRight(role, 'edit') ? await store.items.findVersion(actor, item.id, item.blockedVersion) : null
}

/** An item as a version has it, made once for each that caches keep. */
const toItemAt = shareOnce((item: Item, version: FullVersion): Item => atVersion(item, version))

/** The same for a label that is not there and one on a version that the caller may not see. */
function noLabel({ kind }: Item, label: string): AppError {
  return new AppError('not_found', `This ${kind} has no version with the label "${label}" that you can see.`)
}

/**
 * The version that a caller gets: weighted rendezvous hashing, so that a raised share only draws callers in. Without a bucket it is the
 * version of the largest share.
 * @param key of the HMAC, secret and kept, so that every process gives a caller the same version
 * @param label id of the item and name of the label
 * @see https://www.snia.org/sites/default/files/SDC15_presentations/dist_sys/Jason_Resch_New_Consistent_Hashings_Rev.pdf
 */
export function chooseVersion(targets: readonly LabelTarget[], key: string, label: string, bucket: string | null): number {
  const [first, ...others] = sortTargets(targets)
  if (!first) throw new Error('A label points at a version.')
  if (bucket === null || others.length === 0) return first.version
  const scoreOf = ({ version, weight }: LabelTarget) => {
    const digest = createHmac('sha256', key)
      .update(JSON.stringify([label, version, bucket]))
      .digest()
    // 48 bits, never 0 or 1.
    const drawn = (digest.readUIntBE(0, 6) + 0.5) / 2 ** 48
    return -weight / Math.log(drawn)
  }
  return [first, ...others].reduce((best, target) => (scoreOf(target) > scoreOf(best) ? target : best)).version
}
