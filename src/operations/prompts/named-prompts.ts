import { z } from 'zod'
import { apiNameField, contentField, MAX_TITLE, noteField, tagsField, versionNumber } from '../../domain/items/fields.ts'
import { atVersion } from '../../domain/items/item-access.ts'
import type { Prompt } from '../../domain/items/items.ts'
import { LATEST, type Label, MAX_LABELS, settableLabel } from '../../domain/items/labels.ts'
import { bodyOf, makeBody } from '../../domain/prompts/body.ts'
import { cutCharacters } from '../../domain/text/characters.ts'
import { AppError } from '../../errors.ts'
import { editItem, notFound, refInput, toLimits } from '../core/inputs.ts'
import { defineProcedure, defineWrite, type Needs, requireUser } from '../core/procedure.ts'
import { withOwner } from '../core/records.ts'
import { type MovingInTurn, pointLabels, roleOver, seenLabels } from '../items/labels.ts'
import { bodyInputs, newOwnership } from '../items/save-items.ts'
import { trashItem } from '../items/trash.ts'
import { checkConfig, checkParts, checkPartsAtLabel, composePrompt } from './compose.ts'

/** The label that is read where none is asked for. */
const DEFAULT_LABEL = 'production'

const nameInput = { name: refInput.describe('Name that programs know the prompt by; else its slug or id') }
const versionInput = versionNumber
const atInput = { version: versionInput.optional(), label: refInput.optional() }

type Asked = z.infer<z.ZodObject<typeof nameInput & typeof atInput>>

/** The same for a prompt that is not there, and for a version of it. */
function missing({ name, version, label }: Asked): AppError {
  const at = version !== undefined ? ` with version ${version}` : label === undefined ? '' : ` with label '${label}'`
  return new AppError('not_found', `Prompt not found: '${name}'${at}`)
}

/** The labels of which a version has the largest share. */
function labelsAt(labels: readonly Label[], version: number, newest: number): string[] {
  const own = labels.filter(({ targets }) => targets[0]?.version === version).map(({ name }) => name)
  return version === newest ? [...own, LATEST] : own
}

/** A version of a prompt with what it is called; null for one that the caller does not see. */
async function describeVersion(context: Needs<'items'>, prompt: Prompt, version: number) {
  const { actor, store } = context
  const seen = await store.items.findVersion(actor, prompt.id, version)
  if (!seen && version !== prompt.version) return null
  const { owner } = await withOwner(context, prompt, {})
  return {
    id: prompt.id,
    name: prompt.apiName ?? prompt.slug,
    version,
    owner: owner ?? prompt.author,
    author: seen?.author ?? prompt.author,
    note: seen?.note ?? null,
    createdAt: seen?.createdAt ?? prompt.updatedAt,
    tags: prompt.tags.map(({ name }) => name),
    labels: labelsAt(seenLabels(prompt, await roleOver(context, prompt)), version, prompt.version),
    body: bodyOf(seen && version !== prompt.version ? atVersion<'prompt'>(prompt, seen) : prompt),
  }
}

/** A version of a prompt as programs read it. */
export type NamedVersion = NonNullable<Awaited<ReturnType<typeof describeVersion>>>

async function readNamed(context: Needs<'items'>, { name, version, label }: Asked): Promise<{ prompt: Prompt; found: NamedVersion }> {
  if (version !== undefined && label !== undefined) throw new AppError('invalid_input', 'Give either version or label, not both.')
  const asked = version === undefined ? { name, label: label ?? DEFAULT_LABEL } : { name, version }
  const prompt = await context.store.items.findNamed(context.actor, name)
  if (!prompt) throw missing(asked)
  const [first] = prompt.labels.find((one) => one.name === asked.label)?.targets ?? []
  const number = version ?? (asked.label === LATEST ? prompt.version : first?.version)
  const found = number === undefined ? null : await describeVersion(context, prompt, number)
  if (!found) throw missing(asked)
  return { prompt, found }
}

/**
 * Read a version of a prompt by the name that programs know it by: the caller's own, else one of their teams', else any that they see. Of
 * versions that share a label, the one of the largest share. Its parts are put in unless `resolve` is "false".
 */
export const findNamedPrompt = defineProcedure({
  scope: null,
  input: z.object({ ...nameInput, ...atInput, resolve: z.enum(['true', 'false']).default('true') }),
  async run(context: Needs<'items', 'sealer'>, { resolve, ...input }) {
    const { prompt, found } = await readNamed(context, input)
    context.count('read', { ...prompt, version: found.version })
    if (resolve === 'false') return found
    return { ...found, body: bodyOf(await composePrompt(context, { ...prompt, ...found.body, version: found.version })) }
  },
})

const time = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).toISOString())
  .optional()

/** List the prompts of the caller and of their teams by name, with the versions and labels that pass the filters. */
export const listNamedPrompts = defineProcedure({
  scope: 'read',
  input: z.object({
    name: refInput.optional(),
    label: refInput.optional(),
    tag: refInput.optional(),
    from: time,
    to: time,
    page: z.number().int().min(1).max(1_000_000).default(1),
    limit: z.number().int().min(1).max(100).default(10),
  }),
  async run({ actor, store }: Needs<'items'>, { page, limit, ...filter }) {
    const { prompts, total } = await store.items.listNamed(actor, filter, toLimits({ page, perPage: limit }))
    return {
      prompts: prompts.map(({ newest, labels, tags, ...prompt }) => ({
        ...prompt,
        labels: [...new Set(prompt.versions.flatMap((version) => labelsAt(labels, version, newest)))],
        tags: tags.map((tag) => tag.name),
      })),
      page,
      limit,
      total,
      totalPages: Math.ceil(total / limit),
    }
  },
})

/** The caller's own prompt of a name, or one of their teams'. */
async function findOwn({ actor, store }: Needs<'items'>, name: string): Promise<Prompt | null> {
  const found = await store.items.findNamed(actor, name)
  return found && (await store.items.findRole(requireUser(actor).userId, found.ownerId)) !== null ? found : null
}

/**
 * Save a prompt under a name: its next version, even where it says the same, or a new prompt. Labels are taken from other versions; without
 * tags, those that are there stay. All of it or nothing is written.
 */
export const saveNamedPrompt = defineWrite({
  scope: 'write',
  input: z.object({
    name: apiNameField,
    content: contentField.optional(),
    ...bodyInputs,
    labels: z.array(settableLabel).max(MAX_LABELS).default([]),
    tags: tagsField.optional(),
    note: noteField.optional(),
  }),
  async run(context: MovingInTurn, { name, content, labels, tags, note = null, ...said }) {
    const user = requireUser(context.actor)
    const { messages = null, config = null } = said
    if (!user.scopes.has('read'))
      throw new AppError('forbidden', 'Saving by name looks for the versions before: it needs the "read" scope too.')
    const body = { content, messages, config, syntax: 2 } as const
    await checkConfig(config)
    const known = await findOwn(context, name)
    if (known && (known.messages === null) !== (messages === null)) {
      const type = known.messages ? 'a chat prompt' : 'a text'
      throw new AppError('invalid_input', `The versions before are of another type: "${name}" is ${type}. Save it under another name.`)
    }
    const { ownerId, visibility } = known ?? (await newOwnership(context, {}))
    const saved = await context.store.inTransaction(async (store) => {
      await checkParts({ ...context, store }, makeBody(body), { id: known?.id ?? '', ownerId, visibility })
      const written = known
        ? await editItem({ ...context, store }, 'prompt', known.id, { note, makesVersion: true, baseVersion: known.version }, () => ({
            ...body,
            tags,
          }))
        : await store.items.createItem(
            { userId: user.userId, ownerId, note },
            {
              kind: 'prompt',
              title: cutCharacters(name, MAX_TITLE),
              apiName: name,
              type: 'TEXT',
              description: null,
              category: null,
              tags: tags ?? [],
              visibility,
              ...body,
            },
          )
      return await pointLabels({ ...context, store }, written, labels, written.version)
    })
    const found = await describeVersion(context, saved, saved.version)
    if (!found) throw notFound('prompt')
    return found
  },
})

/** Give a version of a prompt more labels, which are taken from its other versions. All of them move or none. */
export const labelNamedPrompt = defineWrite({
  scope: 'write',
  input: z.object({ ...nameInput, version: versionInput, newLabels: z.array(settableLabel).max(MAX_LABELS) }),
  async run(context: MovingInTurn, { name, version, newLabels }) {
    const { prompt } = await readNamed(context, { name, version })
    const moved = await context.store.inTransaction(async (store) => {
      for (const label of newLabels) await checkPartsAtLabel({ ...context, store }, prompt, label, [version])
      const now = await store.items.findItem(context.actor, 'prompt', prompt.id)
      if (!now) throw missing({ name, version })
      return await pointLabels({ ...context, store }, now, newLabels, version)
    })
    const found = await describeVersion(context, moved, version)
    if (!found) throw missing({ name, version })
    return found
  },
})

/**
 * Move a prompt to the trash. A single version is not deleted so: that is for good, and no key may do it.
 * @throws AppError `forbidden` for a version or label that is there
 */
export const deleteNamedPrompt = defineWrite({
  scope: 'write',
  input: z.object({ ...nameInput, ...atInput }),
  async run(context: Needs<'items'>, { name, version, label }) {
    if (version !== undefined || label !== undefined) {
      await readNamed(context, { name, version, label })
      throw new AppError(
        'forbidden',
        'API keys cannot delete single versions, which is for good. Delete the version on the page of the prompt, or the whole prompt here.',
      )
    }
    const prompt = await context.store.items.findNamed(context.actor, name)
    if (!prompt) throw missing({ name })
    await trashItem(context, prompt, prompt.id)
  },
})
