import { z } from 'zod'
import type { Logins } from '../../auth/logins.ts'
import type { OAuthServer } from '../../auth/oauth/oauth-server.ts'
import type { Providers } from '../../auth/providers.ts'
import type { Sealer } from '../../auth/sealer.ts'
import type { FindSimilar } from '../../domain/items/search.ts'
import { type Actor, type Right, withinOf } from '../../domain/people/actor.ts'
import type { CountUse } from '../../domain/people/usage.ts'
import type { TextVectors } from '../../domain/ports/encoder.ts'
import type { ClientOfRequest, Clock } from '../../domain/ports/environment.ts'
import type { Improver, TestModels } from '../../domain/ports/models.ts'
import { type Surface, toOrigin } from '../../domain/service/audit.ts'
import type { ServiceStatus } from '../../domain/service/service.ts'
import type { LibraryCopy } from '../../domain/service/transfer.ts'
import type { SendMail } from '../../domain/sign-in/logins.ts'
import type { SignInSettings } from '../../domain/sign-in/sign-in-ways.ts'
import { AppError, type ErrorDetail } from '../../errors.ts'
import type { OnText } from '../../improve/improve-with-model.ts'
import type { LibraryStore } from '../../storage/store.ts'

/** Options that a transport may add to one call. */
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

/** The services that operations may use beside the store. */
interface Services {
  readonly sealer: Sealer
  readonly clock: Clock
  /** Absolute address of the service, without a slash at its end: links are made from it. */
  readonly baseUrl: string
  readonly findSimilar: FindSimilar
  readonly improver: Improver
  /** The models that tests of prompts may ask. */
  readonly tests: TestModels
  /** null without the built-in encoder: a provider must not get what is not public. */
  readonly textVectors: TextVectors | null
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
  /** Has the groups of everybody whom a proxy vouches for looked at again, by this process. */
  forgetArrivals(): void
  /** Whether uses are counted here. */
  readonly isCounting: boolean
  /** Whether the maintainers of a team accept findings of high severity in what it owns. */
  readonly maintainersAccept: boolean
  /** The status of the running service; absent where none runs. */
  readonly readStatus?: () => Promise<ServiceStatus>
}

/** The context of an operation: the caller, and the parts of the store and the services it names. */
export type Needs<Stores extends keyof LibraryStore = never, Uses extends keyof Services = never> = Caller & {
  readonly store: Pick<LibraryStore, Stores>
} & Pick<Services, Uses>

/** Everything that any operation needs. */
export type Context = Needs<keyof LibraryStore, keyof Services>

/** A use case that pages, channels and commands call: with the types of its input and its answer. */
export interface Procedure<I extends z.ZodObject = z.ZodObject, T = unknown> {
  /** The right that the caller needs: `any` takes every key; null when anybody may call. */
  readonly scope: Right | 'any' | null
  /** Whether a narrowed key is refused: what it reaches is more than items. Default: false */
  readonly needsWholeKey?: true
  /** Whether it may change what is kept: the audit log then names its caller. Default: false */
  readonly writes?: true
  readonly input: I
  /**
   * Checks the scope, parses `raw`, runs.
   * @throws AppError `unauthenticated`, `forbidden` (scope), `invalid_input`, and what the procedure itself throws
   */
  call(context: Context, raw: unknown): Promise<T>
}

/** The input of a procedure, before defaults are filled in. */
export type Input<P extends Procedure> = z.input<P['input']>
/** The answer of a procedure. */
export type Output<P extends Procedure> = Awaited<ReturnType<P['call']>>

/** A signed-in actor. */
export type UserActor = Extract<Actor, { kind: 'user' }>

type Definition<I extends z.ZodObject, T> = Omit<Procedure<I, T>, 'call'> & { run(context: Context, input: z.infer<I>): Promise<T> }
type Nothing = z.ZodObject<Record<never, never>>
const NOTHING: Nothing = z.object({})

/** Defines a use case: zod in, a handler that throws AppError. Without `input`, it takes none. */
export function defineProcedure<I extends z.ZodObject, T>(definition: Definition<I, T>): Procedure<I, T>
export function defineProcedure<T>(definition: Omit<Definition<Nothing, T>, 'input'>): Procedure<Nothing, T>
export function defineProcedure<T>(definition: Omit<Definition<z.ZodObject, T>, 'input'> & { readonly input?: z.ZodObject }) {
  const { input = NOTHING } = definition
  return { ...definition, input, call: createCall({ ...definition, input }, 'This') }
}

/** The same for one that may change what is kept. */
export function defineWrite<I extends z.ZodObject, T>(definition: Omit<Definition<I, T>, 'writes'>): Procedure<I, T>
export function defineWrite<T>(definition: Omit<Definition<Nothing, T>, 'input' | 'writes'>): Procedure<Nothing, T>
export function defineWrite<T>(definition: Omit<Definition<Nothing, T>, 'input' | 'writes'>): Procedure<Nothing, T> {
  return defineProcedure({ ...definition, writes: true })
}

/**
 * How a use case is called, whoever offers it.
 * @param name names it in the refusal of a caller without the right
 * @param check looks at the input as it came, once it is parsed
 */
export function createCall<I extends z.ZodObject, T>(
  { scope, needsWholeKey, writes, input, run }: Definition<I, T>,
  name: string,
  check: (raw: unknown) => void = () => {},
): Procedure<I, T>['call'] {
  const parse = createParser(input)
  return async (context, raw) => {
    if (needsWholeKey && withinOf(context.actor) !== null)
      throw new AppError('forbidden', `${name} needs an API key that is not narrowed to a team or to collections.`)
    checkScope(context, scope, name)
    const parsed = parse(raw)
    check(raw)
    context.count('call')
    if (!writes) return await run(context, parsed)
    return await context.store.audit.actingAs(toOrigin(context.actor, context.surface), () => run(context, parsed))
  }
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

function checkScope({ actor, keyHint }: Caller, scope: Procedure['scope'], name: string): void {
  if (actor.kind === 'user' && actor.scopes.size === 1 && actor.scopes.has('results') && scope !== 'results')
    throw new AppError('forbidden', `This API key can report test results, and nothing else.`)
  if (scope === null) return
  if (scope === 'account' || scope === 'admin') {
    if (actor.kind === 'anonymous') throw new AppError('unauthenticated', 'Sign in first.')
    if (actor.scopes.has(scope)) return
    throw new AppError(
      'forbidden',
      scope === 'admin' ? 'Only administrators can do this.' : 'API keys cannot do this; sign in on the pages.',
    )
  }
  if (actor.kind === 'anonymous') throw new AppError('unauthenticated', `${name} needs ${keyHint}`)
  if (scope !== 'any' && !actor.scopes.has(scope))
    throw new AppError('forbidden', `${name} needs the "${scope}" scope, which this API key does not have. Use or create a key with it.`)
}

/** Where a call came from; nothing is known of calls that are made here. */
export function clientOf(context: Needs): ClientOfRequest {
  return context.client ?? { address: '', caller: '', userAgent: null, cookies: '' }
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
