import type { Prompt } from '../../domain/items/items.ts'
import { LATEST } from '../../domain/items/labels.ts'
import { isWiderThan } from '../../domain/items/visibility.ts'
import { actorOf } from '../../domain/people/actor.ts'
import { bodyOf, type PromptBody, variablesOf } from '../../domain/prompts/body.ts'
import { type PromptConfig, schemasIn } from '../../domain/prompts/config.ts'
import { composeBody, partsOf } from '../../domain/prompts/parts.ts'
import { type PartRef, toPresentSyntax } from '../../domain/variables/variables.ts'
import { AppError, invalidInput } from '../../errors.ts'
import type { LibraryStore } from '../../storage/store.ts'
import type { PromptChecks } from '../../transfer/prepare-prompt.ts'
import { type Reading, readAt } from '../items/read-at.ts'

/** Most schemas of one config. */
const MAX_SCHEMAS = 128

interface Checker {
  validateSchema(schema: object): unknown
  readonly errors?: readonly { readonly instancePath: string; readonly message?: string }[] | null | undefined
}

const OPTIONS = { strict: false, logger: false } as const
/** The checkers of drafts 4 to 7 and of 2020-12: each compiles its meta-schema once. */
const checkers: { earlier?: Promise<Checker>; present?: Promise<Checker> } = {}

function checkerFor(dialect: unknown): Promise<Checker> {
  if (typeof dialect === 'string' && /draft-0[4-7]/.test(dialect)) {
    checkers.earlier ??= import('ajv').then(({ Ajv }) => new Ajv(OPTIONS))
    return checkers.earlier
  }
  checkers.present ??= import('ajv/dist/2020.js').then(({ Ajv2020 }) => new Ajv2020(OPTIONS))
  return checkers.present
}

/** Checks that schemas of answers and tools in a config are JSON Schemas. @throws AppError `invalid_input` that names the first which is none */
export async function checkConfig(config: PromptConfig | null | undefined): Promise<void> {
  const schemas = config ? schemasIn(config) : new Map<string, unknown>()
  if (schemas.size > MAX_SCHEMAS) throw invalidInput('config', `config has ${schemas.size} schemas; the limit is ${MAX_SCHEMAS}.`)
  for (const [path, schema] of schemas) {
    const fault = await schemaFault(schema)
    if (fault !== null) throw invalidInput(`config.${path}`, `config.${path} is no JSON Schema: ${fault}.`)
  }
}

async function schemaFault(schema: unknown): Promise<string | null> {
  if (typeof schema === 'boolean') return null
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 'it must be an object'
  const { $schema: dialect, ...rest } = schema as Record<string, unknown>
  const checker = await checkerFor(dialect)
  if (checker.validateSchema(rest) === true) return null
  const [error] = checker.errors ?? []
  return error ? `${error.instancePath || 'it'} ${error.message ?? 'is not valid'}` : 'it is not valid'
}

/** A prompt that is about to be saved, or whose label is about to move, as the parts of others find it. */
interface Pending {
  readonly id: string
  /** Of a new one: what it will be called. */
  readonly slug?: string | undefined
  /** The label that moves, and where to; undefined: the newest version changes. */
  readonly label?: { readonly name: string; readonly version: number } | undefined
}

/** The checks of a text that is about to be saved. */
interface Checks {
  readonly pending?: Pending | undefined
  check?(part: Prompt, version: number): Promise<void>
  /** Passes over parts that are not there. Default: false */
  readonly skipsMissing?: boolean
}

/** The prompt that an owner calls so, for programs; else the one of this id or slug, whoever may take a slug later. */
async function findPart({ actor, store }: Omit<Reading, 'sealer'>, ref: string, ownerId: string): Promise<Prompt | null> {
  const named = await store.items.findNamedOf(ownerId, actor, ref)
  return named === 'hidden' ? null : (named ?? (await store.items.findItem(actor, 'prompt', ref)))
}

/** A part, by whoever reads. The same error for one that is not there and one that may not be seen. */
async function readPart(context: Reading, { ref, at }: PartRef, ownerId: string): Promise<{ prompt: Prompt; version: number }> {
  const newest = await findPart(context, ref, ownerId)
  if (!newest || (at === null && newest.ownerId !== ownerId)) throw missing()
  if (at === null || at === LATEST) return { prompt: newest, version: newest.version }
  const label = newest.labels.find(({ name }) => name === at)
  const version = /^\d{1,9}$/.test(at) ? Number(at) : label?.targets[0]?.version
  if (version === undefined || version < 1) throw missing()
  const { item } = await readAt(context, newest, { version }).catch((error: unknown) => {
    throw isMissing(error) ? missing() : error
  })
  return { prompt: item, version }
}

function isMissing(error: unknown): boolean {
  return error instanceof AppError && error.code === 'not_found'
}

function missing(): AppError {
  return new AppError(
    'not_found',
    'A part of this prompt is not there, or not visible to you. Parts of other owners need a label or version, as in ${> slug@production}.',
  )
}

const keyOf = (id: string, version: number | 'next') => `${id}@${version}`

/** A body with its parts as the reader sees them. @throws AppError as `composeBody` does, and `not_found` for a part that is not there for them */
async function compose(
  context: Reading,
  body: PromptBody,
  { id, ownerId, version }: { readonly id: string; readonly ownerId: string; readonly version: number | 'next' },
  { pending, check, skipsMissing = false }: Checks = {},
): Promise<PromptBody> {
  return await composeBody(body, { key: keyOf(id, version), ownerId }, async (ref, by) => {
    const named = pending && (await findPart(context, ref.ref, by))
    const isPending = pending !== undefined && (named ? named.id === pending.id : ref.ref === pending.slug)
    // It would take in what it is going to be.
    if (isPending && (ref.at === null || ref.at === LATEST) && pending.label === undefined)
      return { key: keyOf(pending.id, 'next'), content: '', ownerId: by }
    const moved = isPending && pending.label !== undefined && ref.at === pending.label.name ? pending.label : undefined
    const found = await readPart(context, moved ? { ref: ref.ref, at: String(moved.version) } : ref, by).catch((error: unknown) => {
      if (!skipsMissing || !isMissing(error)) throw error
    })
    if (!found) return { key: `missing ${ref.ref}`, content: '', ownerId: by }
    const { prompt, version: at } = found
    if (prompt.messages) throw new AppError('invalid_input', `"${ref.ref}" is a chat prompt, which cannot be a part.`)
    await check?.(prompt, at)
    return {
      key: keyOf(prompt.id, at),
      content: prompt.syntax === 1 ? toPresentSyntax(prompt.content) : prompt.content,
      ownerId: prompt.ownerId,
    }
  })
}

/**
 * Runs a write in one transaction with its checks of parts, where there are any: of two at once that close a circle, the second finds the first.
 * @param work awaits nothing but the store
 */
export async function inTurn<Stores extends keyof LibraryStore, T>(
  { store }: { readonly store: Pick<LibraryStore, Stores | 'inTransaction'> },
  isComposed: boolean,
  work: (store: Pick<LibraryStore, Stores | 'inTransaction'>) => Promise<T>,
): Promise<T> {
  return isComposed ? await store.inTransaction(work) : await work(store)
}

/** Whether a prompt takes in others. */
export function hasParts(body: PromptBody): boolean {
  return body.content.includes('${>') && partsOf(body).length > 0
}

/** A prompt with its parts put in, and the variables of them all; as it is without parts. @throws AppError as {@link compose} */
export async function composePrompt(context: Reading, prompt: Prompt): Promise<Prompt> {
  if (!hasParts(prompt)) return prompt
  const body = await compose(context, bodyOf(prompt), prompt)
  return { ...prompt, ...body, variables: variablesOf(body) }
}

/**
 * Checks a text before it is saved: its parts are there, go round in no circle, and reach everybody whom the prompt reaches.
 * @throws AppError that says which does not
 */
export async function checkParts(
  context: Reading,
  body: PromptBody,
  { id, ownerId, visibility, slug }: Parameters<PromptChecks['parts']>[2],
  { skipsMissing }: Pick<Checks, 'skipsMissing'> = {},
): Promise<void> {
  if (!hasParts(body)) return
  const check = async (part: Prompt, number: number) => {
    if (isWiderThan(visibility, part.visibility))
      throw new AppError('invalid_input', `The part "${part.slug}" is seen by fewer people than this prompt. Share it first.`)
    const text = number === part.version ? null : await context.store.items.findVersion(context.actor, part.id, number)
    if (text && isWiderThan(visibility, text.visibility))
      throw new AppError('invalid_input', `Version ${number} of the part "${part.slug}" is seen by fewer people than this prompt.`)
  }
  const checks = { pending: { id, slug }, check, ...(skipsMissing && { skipsMissing }) }
  // A part that is missing in a text being written is a fault of the text.
  await compose(context, body, { id, ownerId, version: 'next' }, checks).catch((error: unknown) => {
    throw error instanceof AppError && isMissing(error) ? invalidInput('content', error.message) : error
  })
}

/** The checks of saves for imports and syncs, in which every owner acts for themselves, and a part may come after what takes it in. */
export function importChecks({ sealer }: Pick<Reading, 'sealer'>): PromptChecks {
  return {
    config: checkConfig,
    parts: async (store, body, prompt) => {
      const actor = actorOf({ id: prompt.ownerId, username: '' }, ['read'])
      await checkParts({ actor, store, sealer }, body, prompt, { skipsMissing: true })
    },
  }
}

/** Checks that a label can move: what takes the prompt in by it must not be taken in by the version. Gives whether there are parts. @throws AppError */
export async function checkPartsAtLabel(context: Reading, prompt: Prompt, label: string, versions: readonly number[]): Promise<boolean> {
  let isComposed = false
  for (const version of versions) {
    const { item } = await readAt(context, prompt, { version })
    if (!hasParts(item)) continue
    isComposed = true
    const pending = { id: prompt.id, label: { name: label, version } }
    await compose(context, bodyOf(item), { id: prompt.id, ownerId: prompt.ownerId, version }, { pending })
  }
  return isComposed
}

/** Refuses to narrow a prompt that wider ones of the same owner take in. @throws AppError `invalid_input` that names the first */
async function checkDependants({ actor, store }: Omit<Reading, 'sealer'>, part: Prompt, visibility: Prompt['visibility']): Promise<void> {
  if (!isWiderThan(part.visibility, visibility)) return
  const dependants = await store.items.listDependants(actor, part.id, MAX_CHECKED)
  const wider = dependants.find((one) => one.ownerId === part.ownerId && isWiderThan(one.visibility, visibility))
  if (wider) throw new AppError('invalid_input', `"${wider.title}" takes this prompt in, and more people see it. Narrow that one first.`)
}

/** Checks that a prompt can be shown to others than before: its parts reach them, and what takes it in still does. @throws AppError */
export async function checkReach(context: Reading, prompt: Prompt, visibility: Prompt['visibility']): Promise<void> {
  // Whoever cannot read a part any more can still hide what takes it in.
  if (isWiderThan(visibility, prompt.visibility)) await checkParts(context, bodyOf(prompt), { ...prompt, visibility })
  await checkDependants(context, prompt, visibility)
}

/** Dependants that are looked at. */
const MAX_CHECKED = 200
