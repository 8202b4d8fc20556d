import { z } from 'zod'
import type { Logins } from '../../auth/logins.ts'
import type { OAuthServer } from '../../auth/oauth/oauth-server.ts'
import type { Providers } from '../../auth/providers.ts'
import type { Sealer } from '../../auth/sealer.ts'
import { AppError, type ErrorDetail, invalidInput } from '../../errors.ts'
import type { OnText } from '../../improve/with-model/improve-with-model.ts'
import { type Actor, type Right, withinOf } from '../../library/actor.ts'
import { type Surface, toOrigin } from '../../library/audit.ts'
import type { ClientOfRequest } from '../../library/client-of-request.ts'
import type { LibraryCopy } from '../../library/library-copies.ts'
import type { SendMail } from '../../library/logins.ts'
import type { Clock } from '../../library/ports/environment.ts'
import type { Improver } from '../../library/ports/models.ts'
import type { FindSimilar } from '../../library/search.ts'
import type { ServiceStatus } from '../../library/service.ts'
import type { SignInSettings } from '../../library/sign-in-ways.ts'
import type { CountUse } from '../../library/usage.ts'
import type { LibraryStore } from '../../storage/store.ts'

/** What a transport may add to one call. */
export interface CallOptions {
  /** Aborted when the client has disconnected. */
  readonly signal?: AbortSignal | undefined
  /** Takes a text piece by piece as it is written, from operations that stream. */
  readonly onText?: OnText | undefined
  /** Where the call came from, for those of pages. */
  readonly client?: ClientOfRequest | undefined
  /** Takes the place of what counts the caller's uses. */
  readonly count?: CountUse
  /** Called with errors that occur after the response. */
  readonly onFault?: ((error: unknown) => void) | undefined
}

/** Random secrets that are shown once, and their stored SHA-256 in hex. */
interface Secrets {
  makeKey(): { key: string; sha256: string }
  makeToken(of?: 'link'): { token: string; sha256: string }
  hash(token: string): string
}

/** How people come to sign in here. */
interface SignUpRules {
  /** Whether anyone can create an account; else it takes an invite. */
  readonly isOpen: boolean
  /** Whether this is the code the service printed for its first account. */
  isSetupCode(code: string): boolean
}

/** A call: who makes it, and from where. */
interface Caller extends CallOptions {
  readonly actor: Actor
  /** Where the call comes in. */
  readonly surface: Surface
  /** How this caller gives an API key, for those who came without one: one of `KEY_HINTS`. */
  readonly keyHint: string
  /** Counts what the caller uses. */
  readonly count: CountUse
}

/** What operations may use beside the store. */
interface Services {
  readonly sealer: Sealer
  readonly clock: Clock
  /** Absolute address of the service, without a slash at its end: links are made from it. */
  readonly baseUrl: string
  readonly findSimilar: FindSimilar
  readonly improver: Improver
  readonly logins: Logins
  /** null: programs do not sign in here. */
  readonly oauth: OAuthServer | null
  readonly secrets: Secrets
  readonly signUp: SignUpRules
  /** How people sign in. */
  readonly ways: SignInSettings
  readonly providers: Providers
  /** null: no mail is sent from here. */
  readonly sendMail: SendMail | null
  /** The copies of the library that the service made on its machine. */
  listCopies(): readonly LibraryCopy[]
  /** Whether uses are counted here. */
  readonly isCounting: boolean
  /** The status of the running service; absent where none runs. */
  readonly readStatus?: () => Promise<ServiceStatus>
}

/** What an operation runs with: the caller, and the parts of the store and the services it names. */
export type Needs<Stores extends keyof LibraryStore = never, Uses extends keyof Services = never> = Caller & {
  readonly store: Pick<LibraryStore, Stores>
} & Pick<Services, Uses>

/** Everything that any operation needs. */
export type Context = Needs<keyof LibraryStore, keyof Services>

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

interface Meta {
  /** snake_case; a tool's name, and what the other surfaces derive theirs from. */
  readonly name: string
  /** A few words for people. */
  readonly title: string
  /** What it does and when to use it, in words that hold on every surface. */
  readonly summary: string
  /** What the caller's key must allow: `any` takes every key; null when anybody may call. */
  readonly scope: Right | 'any' | null
  readonly surfaces: Surfaces
  /** Points a call takes from its caller's minute; a point is about a millisecond of the process. Default: 1. */
  readonly cost?: number
  /** Whether a narrowed key is refused: what it reaches is more than items. Default: false */
  readonly needsWholeKey?: true
  /** Whether it may change what is kept: the audit log then names its caller. Default: false */
  readonly writes?: true
  /** Whether it tells its text as it comes (`CallOptions.onText`), and may take long. */
  readonly isStreamed?: boolean
}

/** A use case with the types of its input and output. Without arguments, what every surface loops over. */
export interface Operation<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> extends Meta {
  readonly input: I
  readonly output: O
  /**
   * Checks the scope, parses `raw`, runs.
   * @throws AppError `unauthenticated`, `forbidden` (scope), `invalid_input`, and what the operation itself throws
   */
  call(context: Context, raw: unknown): Promise<z.infer<O>>
}

/** What an operation takes, before defaults are filled in. */
export type Input<T extends Operation> = z.input<T['input']>
/** What an operation answers. */
export type Output<T extends Operation> = z.infer<T['output']>

/** A signed-in actor. */
export type UserActor = Extract<Actor, { kind: 'user' }>

/** Defines a use case once: zod in, zod out, a handler that throws AppError. */
export function defineOperation<I extends z.ZodObject, O extends z.ZodObject>(
  definition: Meta & { readonly input: I; readonly output: O; run(context: Context, input: z.infer<I>): Promise<z.infer<O>> },
): Operation<I, O> {
  const { input, run } = definition
  const parse = createParser(input)
  return {
    ...definition,
    async call(context, raw) {
      checkScope(context, definition)
      const parsed = parse(raw)
      const unknown = findUnknown(input, raw)
      const which = definition.writes ? undefined : unknown.find((name) => UNSUPPORTED.has(name))
      if (which !== undefined) throw invalidInput(which, `${which} is not supported by ${definition.name}, which reads the newest version.`)
      context.count('call')
      const answer = definition.writes
        ? await context.store.audit.actingAs(toOrigin(context.actor, context.surface), () => run(context, parsed))
        : await run(context, parsed)
      // The shape of what improves is fixed by its specification (contract, "REST").
      return definition.isStreamed ? answer : withHint(answer, unknown)
    },
  }
}

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

/** Reads an input, in which null may stand for what is left out. @throws AppError `invalid_input` */
export function createParser<I extends z.ZodObject>(schema: I): (raw: unknown) => z.infer<I> {
  const mayBeNull = findNullable(schema)
  return (raw) => parseInput(schema, dropNulls(raw, mayBeNull))
}

/** The optional inputs for which null says nothing of its own: models write it where they have nothing to say. */
function findNullable(schema: z.ZodObject): ReadonlySet<string> {
  const means = (field: z.core.$ZodType, value: unknown) => z.safeParse(field, value).success
  return new Set(Object.entries(schema.shape).flatMap(([name, field]) => (means(field, undefined) && !means(field, null) ? [name] : [])))
}

/** The input without members that are null and count as left out. */
function dropNulls(raw: unknown, names: ReadonlySet<string>): unknown {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw
  const isLeftOut = ([name, value]: [string, unknown]) => value === null && names.has(name)
  const entries = Object.entries(raw)
  return entries.some(isLeftOut) ? Object.fromEntries(entries.filter((entry) => !isLeftOut(entry))) : raw
}

function checkScope({ actor, keyHint }: Caller, { scope, needsWholeKey, name }: Pick<Meta, 'scope' | 'name' | 'needsWholeKey'>): void {
  if (needsWholeKey && withinOf(actor) !== null) {
    throw new AppError('forbidden', `${name} needs an API key that is not narrowed to a team or to collections.`)
  }
  if (scope === null) return
  if (scope === 'account' || scope === 'admin') {
    if (actor.kind === 'anonymous') throw new AppError('unauthenticated', 'Sign in first.')
    if (actor.scopes.has(scope)) return
    throw new AppError(
      'forbidden',
      scope === 'admin' ? 'Only administrators can do this.' : 'API keys cannot do this; sign in on the pages.',
    )
  }
  if (actor.kind === 'anonymous') {
    throw new AppError('unauthenticated', `${name} needs ${keyHint}`)
  }
  if (scope !== 'any' && !actor.scopes.has(scope))
    throw new AppError('forbidden', `${name} needs the "${scope}" scope, which this API key does not have. Use or create a key with it.`)
}

/** The signed-in caller. For operations whose scope excludes anonymous callers. */
export function requireUser(actor: Actor): UserActor {
  if (actor.kind === 'user') return actor
  throw new AppError('unauthenticated', 'Sign in first.')
}

/**
 * Parses an input against its schema. Unknown fields are dropped.
 * @throws AppError `invalid_input`: one sentence a field, naming the field and its limit
 */
function parseInput<I extends z.ZodObject>(schema: I, raw: unknown): z.infer<I> {
  const parsed = schema.safeParse(raw ?? {}, { reportInput: true })
  if (parsed.success) return parsed.data
  const details = parsed.error.issues.slice(0, 20).map(toDetail)
  throw new AppError('invalid_input', details.map((detail) => detail.message).join(' '), { details })
}

function toDetail(issue: z.core.$ZodIssue): ErrorDetail {
  const path = issue.path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? String(part) : `.${String(part)}`))
    .join('')
  return { path, message: `${path || 'The input'} ${describeIssue(issue)}.` }
}

function describeIssue(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required'
      return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be one of: ${issue.values.map(String).join(', ')}`
    case 'too_big':
      if (issue.origin === 'number') return `must be at most ${issue.maximum}`
      return `must have at most ${issue.maximum} ${issue.origin === 'string' ? 'characters' : 'entries'}`
    case 'too_small':
      if (issue.origin === 'number') return `must be at least ${issue.minimum}`
      return issue.origin === 'string' ? 'is required' : `must have at least ${issue.minimum} entries`
    default:
      return issue.message.replace(/\.$/, '')
  }
}

const TYPE_NAMES: Partial<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
}
