import { z } from 'zod'
import { AppError, invalidInput } from '../../errors.ts'
import { MAX_SAVED } from './inputs.ts'
import { type CallOptions, type Context, createCall, type Procedure } from './procedure.ts'

/** How a model's client may treat a tool (MCP, ToolAnnotations). Default: not destructive, closed world. */
interface ToolHints {
  readonly readOnly: boolean
  readonly destructive?: boolean
  readonly idempotent?: boolean
  /** Whether others than this service may be asked. */
  readonly openWorld?: boolean
}

/** A client that needs tools of its own; others do not see them (`?profile=`). */
export type ToolProfile = 'chatgpt'

/** Where an operation is offered. `mcp.note` ends a tool's description with what only a model needs to know, and `mcp.hasBudget` gives its answer a length by default (`maxCharacters`); `rest.path` names inputs in braces; the others come from the query (GET, DELETE) or the body. */
export interface Surfaces {
  readonly mcp?: ToolHints & {
    readonly textOnly?: boolean
    readonly hasBudget?: boolean
    readonly note?: string
    readonly profile?: ToolProfile
  }
  readonly rest?: { readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'; readonly path: string; readonly status?: 201 }
  /** Inputs given as plain arguments on the command line; the others are flags. */
  readonly cli?: { readonly command: string; readonly positional: readonly string[] }
}

type Method = NonNullable<Surfaces['rest']>['method']

/** The same as it is written: `POST /api/prompts 201`, and a command with its plain arguments, `vote collection id`. */
interface WrittenSurfaces extends Pick<Surfaces, 'mcp'> {
  readonly rest?: `${Method} /${string}`
  readonly cli?: string
}

function readSurfaces({ mcp, rest, cli }: WrittenSurfaces): Surfaces {
  const [method, path = '', status] = rest?.split(' ') ?? []
  const [command, ...positional] = cli?.split(' ') ?? []
  return {
    ...(mcp && { mcp }),
    ...(method && { rest: { method: method as Method, path, ...(status === '201' && { status: 201 }) } }),
    ...(command && { cli: { command, positional } }),
  }
}

interface Meta {
  /** snake_case; a tool's name, and what the other surfaces derive theirs from. */
  readonly name: string
  /** A few words for people. */
  readonly title: string
  /** Its purpose and use, in words that hold on every surface. */
  readonly summary: string
  readonly surfaces: Surfaces
  /** Points a call takes from its caller's minute; a point is about a millisecond of the process. Default: 1. */
  readonly cost?: number
  /** Whether it tells its text as it comes (`CallOptions.onText`), and may take long. */
  readonly isStreamed?: boolean
  /** Whether it may take long, and ends when its caller leaves (`CallOptions.signal`). */
  readonly isLong?: boolean
}

/** A use case with the types of its input and output. Without arguments, what every surface loops over. */
export interface Operation<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject>
  extends Meta,
    Procedure<I, z.infer<O>> {
  readonly output: O
}

/** Defines a use case that surfaces offer: zod in, zod out, a handler that throws AppError. */
export function defineOperation<I extends z.ZodObject, O extends z.ZodObject>(
  definition: Omit<Operation<I, O>, 'call' | 'surfaces'> & {
    readonly surfaces: WrittenSurfaces
    run(context: Context, input: z.infer<I>): Promise<z.infer<O>>
  },
): Operation<I, O> {
  const { input, name, writes, isStreamed } = definition
  const call = createCall(definition, name, (raw) => {
    const which = writes ? undefined : findUnknown(input, raw).find((unknown) => UNSUPPORTED.has(unknown))
    if (which !== undefined) throw invalidInput(which, `${which} is not supported by ${name}, which reads the newest version.`)
  })
  return {
    ...definition,
    surfaces: readSurfaces(definition.surfaces),
    async call(context, raw) {
      const answer = await call(context, raw)
      // The shape of what improves is fixed by its specification (contract, "REST").
      return isStreamed ? answer : withHint(answer, findUnknown(input, raw))
    },
  }
}

/** Common to operations that change an item. */
export const itemWrite = { scope: 'write', writes: true, cost: 5 } as const
/** The same for those that reach more than items, such as teams. */
export const wholeKeyWrite = { scope: 'write', needsWholeKey: true, writes: true } as const

/** Inputs that would choose what is read: an answer without regard to them would be another one than was asked for. */
const UNSUPPORTED = new Set(['version', 'label'])
/** Unknown inputs that a hint names. */
const MAX_NAMED = 10

/** The names in an input that its operation does not have, each once; those in a list as `files[].mode`. */
export function findUnknown(schema: z.ZodObject, raw: unknown): string[] {
  const unknown = new Set<string>()
  const walk = (field: z.core.$ZodType, value: unknown, path: string): void => {
    const type = bare(field)
    if (type instanceof z.ZodArray && Array.isArray(value)) for (const entry of value) walk(type.element, entry, `${path}[]`)
    if (!(type instanceof z.ZodObject) || type.def.catchall || typeof value !== 'object' || value === null || Array.isArray(value)) return
    for (const [name, member] of Object.entries(value)) {
      const inside = path === '' ? name : `${path}.${name}`
      if (!Object.hasOwn(type.shape, name)) unknown.add(inside)
      else if (Array.isArray(member)) walk(type.shape[name], member, inside)
    }
  }
  walk(schema, raw, '')
  return [...unknown]
}

/** A schema without what says that it may be left out. */
function bare(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault
    ? bare(schema.unwrap())
    : schema
}

/** An answer that also says which inputs were ignored. Callers that show none of it keep the rest. */
export function withHint<T extends object>(answer: T, unknown: readonly string[]): T {
  if (unknown.length === 0) return answer
  const names = unknown.slice(0, MAX_NAMED).map((name) => `"${name.slice(0, 80).toWellFormed()}"`)
  const rest = unknown.length > names.length ? ` and ${unknown.length - names.length} more` : ''
  const hints = 'hints' in answer && Array.isArray(answer.hints) ? answer.hints : []
  return { ...answer, hints: [...hints, `Unknown and ignored: ${names.join(', ')}${rest}.`] }
}

/** Calls a procedure of this process, or an operation. @throws AppError as it does */
export type CallOperation = <I extends z.ZodObject, T>(procedure: Procedure<I, T>, input: z.input<I>, options?: CallOptions) => Promise<T>

/** Calls procedures as one caller. `makeContext` runs for each call, so that a revoked key is noticed. */
export function callLocally(makeContext: () => Promise<Context> | Context): CallOperation {
  return async (procedure, input, options = {}) => await procedure.call({ ...(await makeContext()), ...options }, input)
}

/** Calls an operation by name: the seam of callers that may be on another machine (MCP clients, the command line). */
export type Invoke = (name: string, input: unknown, options?: CallOptions) => Promise<Record<string, unknown>>

/** Operations by name, made once for each list of them. */
const indexes = new WeakMap<readonly Operation[], ReadonlyMap<string, Operation>>()

/** An {@link Invoke} of the operations of this process. @throws AppError `not_found` for an unknown name */
export function invokeLocally(operations: readonly Operation[], makeContext: () => Promise<Context> | Context): Invoke {
  const cached = indexes.get(operations)
  const byName = cached ?? new Map(operations.map((operation) => [operation.name, operation]))
  if (!cached) indexes.set(operations, byName)
  const call = callLocally(makeContext)
  return async (name, input, options) => {
    const operation = byName.get(name)
    if (!operation) throw new AppError('not_found', `Unknown operation "${name}".`)
    return await call(operation, input as Record<string, unknown>, options)
  }
}

/** Collections beyond these are charged no more: no input takes them. */
const MAX_CHARGED = 10

/** Inputs that are lists of items to save. */
const SAVED = ['prompts', 'skills'] as const

/** Characters of files that are read for one point. */
const CHARACTERS_A_POINT = 10_000
/** No single call takes more than a caller has. */
const MAX_OF_FILES = 100

/**
 * Points that a call takes beside those of its operation: one for each collection that it is narrowed to, and each item that it saves; and one
 * for 10,000 characters of files that are read and not kept.
 */
export function pointsOfInput({ input, writes }: Pick<Operation, 'input' | 'writes'>, raw: Readonly<Record<string, unknown>>): number {
  const collections = 'collections' in input.shape ? pointsOfCollections(raw['collections']) : 0
  const files = 'files' in input.shape && !writes ? pointsOfFiles(raw['files']) : 0
  return SAVED.reduce((points, name) => points + (name in input.shape ? Math.min(lengthOf(raw[name]), MAX_SAVED) : 0), collections + files)
}

function pointsOfFiles(files: unknown): number {
  if (!Array.isArray(files)) return 0
  const characters = files.reduce<number>((sum, file: unknown) => {
    const content: unknown = typeof file === 'object' && file !== null && 'content' in file ? file.content : ''
    return sum + (typeof content === 'string' ? content.length : 0)
  }, 0)
  return Math.min(Math.floor(characters / CHARACTERS_A_POINT), MAX_OF_FILES)
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0
}

/** Points of a list of collections, as a caller sent it. */
export function pointsOfCollections(collections: unknown): number {
  return Array.isArray(collections) ? Math.min(collections.length, MAX_CHARGED) : 0
}
