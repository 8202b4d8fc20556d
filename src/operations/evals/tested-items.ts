import type { z } from 'zod'
import type { Item } from '../../domain/items/items.ts'
import { requireRight } from '../../domain/people/teams.ts'
import type { PromptBody } from '../../domain/prompts/body.ts'
import type { SkillFile } from '../../domain/skills/skill.ts'
import { AppError } from '../../errors.ts'
import { withoutCases } from '../../evals/holdouts.ts'
import { type itemTarget, requireItem } from '../core/inputs.ts'
import { type Needs, requireUser } from '../core/procedure.ts'

/** An item whose runs the caller may read or report: results may quote what only its owner reads. @throws AppError */
export async function requireTested(
  context: Needs<'items'>,
  target: z.infer<z.ZodObject<typeof itemTarget>>,
  right: 'see' | 'edit',
  does = 'read its results',
): Promise<Item> {
  const user = requireUser(context.actor)
  const item = await requireItem(context, target)
  requireRight(await context.store.items.findRole(user.userId, item.ownerId), right, does)
  return item
}

/** A version as tests see it: the files that its digest covers (a prompt counts as one file), and the body of a prompt. */
interface Tested {
  readonly files: readonly SkillFile[]
  readonly body: PromptBody | null
  readonly config: PromptBody['config']
}

/** A version of an item for its tests. @throws AppError `not_found` */
export async function readTested({ actor, store }: Needs<'items'>, item: Item, number: number): Promise<Tested> {
  const version = await store.items.findVersion(actor, item.id, number)
  if (!version) throw new AppError('not_found', `Version ${number} not found, or not visible to you.`)
  const { title, description, body, files } = version
  // Tests in a config are not part of the text, so that a new case voids no results.
  const text = body && { ...body, config: withoutCases(body.config) }
  const prompt = { filename: 'prompt', bytes: Buffer.from(JSON.stringify([title, description, text])) }
  return { files: files ?? [prompt], body, config: body?.config ?? null }
}
