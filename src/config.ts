import { readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import { AppError } from './errors.ts'

const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const

/** How a setting's text is read: a zod schema over the text, and a line for people. */
export interface Setting<T> {
  readonly schema: z.ZodType<T, string>
  readonly fallback: T
  /** Default as the reference shows it, when it is not simply the value. */
  readonly shownDefault?: string
  readonly doc: string
  /** Whether NAME_FILE may name a file that holds the value. */
  readonly isSecret?: true
}

function setting<T>(schema: z.ZodType<T, string>, fallback: T, doc: string, shownDefault?: string): Setting<T> {
  return shownDefault === undefined ? { schema, fallback, doc } : { schema, fallback, doc, shownDefault }
}

function secret<T>(...args: Parameters<typeof setting<T>>): Setting<T> & { readonly isSecret: true } {
  return { ...setting(...args), isSecret: true }
}

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
)
const hostNames = list.refine(
  (names) => names.every((name) => name === '*' || (/^[^/*@\s]+$/.test(name) && URL.parse(`http://${name}`) !== null)),
  'must be host names such as prompts.example.org, without a scheme or a pattern, or *',
)
const origins = list.refine(
  (texts) => texts.every((text) => text === '*' || /^[a-z][a-z0-9+.-]*:\/\/[^/*\s]+\/?$/i.test(text)),
  'must be origins such as https://app.example.org, or *',
)
const PASSWORD_HASHES = ['standard', 'owasp'] as const
const onOff = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true')
const httpUrl = z
  .string()
  .refine(
    (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
    'must be an http or https address, such as https://prompts.example.org',
  )
  .refine(
    (text) => URL.parse(text)?.pathname === '/' && !/[?#@]/.test(text),
    'must be an origin: no path, query, fragment, user or password',
  )
  .transform((text) => new URL(text).origin)
const isPostgresUrl = (text: string) => /^postgres(ql)?:\/\/[^/]/.test(text) && URL.canParse(text)
const databaseUrl = z
  .string()
  .refine(
    (text) => isPostgresUrl(text) || (/^sqlite:.+/.test(text) && !/^sqlite:(\/\/)?:memory:/.test(text)),
    'must be sqlite:PATH, such as sqlite:./data/commonplace.db, or postgres://USER:PASSWORD@HOST/DATABASE (with # / ? @ in the password written as %23 %2F %3F %40)',
  )
const postgresUrl = z.string().refine(isPostgresUrl, 'must be postgres://USER:PASSWORD@HOST/DATABASE')

/** The address of a library, as a command was given it. @throws AppError `invalid_input` */
export function parseDatabaseUrl(option: string, text: string): string {
  const parsed = databaseUrl.safeParse(text)
  if (!parsed.success) throw new AppError('invalid_input', `${option} ${parsed.error.issues[0]?.message}.`)
  return parsed.data
}

/** A whole number of at least 1, or `off` for no limit. */
const countOrOff = (what: string) =>
  z
    .string()
    .regex(/^(off|[1-9]\d{0,11})$/, `must be off, or how many ${what}`)
    .transform((text) => (text === 'off' ? null : Number(text)))
const UNITS_MS: Partial<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
/** A time such as 24h, as milliseconds. */
const interval = z
  .string()
  .regex(/^[1-9]\d{0,3}[mhd]$/, 'must be a time such as 30m, 24h or 7d')
  .transform((text) => Number(text.slice(0, -1)) * (UNITS_MS[text.slice(-1)] ?? Number.NaN))
/** A whole number from 1 to `most`. */
const countUpTo = (most: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,6}$/, `must be a whole number from 1 to ${most}`)
    .transform(Number)
    .refine((count) => count <= most, `must be a whole number from 1 to ${most}`)
/** The address of a server of models; its key stands in a setting of its own. */
const modelServerUrl = (keySetting: string) =>
  z
    .string()
    .refine(
      (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
      'must be an http or https address, such as http://127.0.0.1:11434/v1',
    )
    .refine((text) => !/[?#@]/.test(text), `must have no query, fragment, user or password; the key belongs into ${keySetting}`)
    .transform((text) => text.replace(/\/+$/, ''))
const smtpUrl = z
  .string()
  .refine((text) => /^smtps?:$/.test(URL.parse(text)?.protocol ?? ''), 'must be an smtp or smtps address, such as smtps://mail.example.org')
const modelName = z.string().regex(/^[^\s]{1,200}$/, 'must be a model such as openai/gpt-5, without spaces')
const embeddingModelName = z.string().regex(/^[^\s]{1,200}$/, 'must be a model such as nomic-embed-text, without spaces')
const providerKey = z.string().regex(/^[\x21-\x7e]+$/, 'must be a key, without spaces')

/** The sources of a content policy's `frame-ancestors`: nothing that could end the directive. */
const frameAncestors = z
  .string()
  .refine(
    (text) =>
      text === 'none' ||
      text
        .split(/ +/)
        .every((part) => part === '*' || part === 'file:' || /^https?:\/\/(?:\*\.)?[a-z0-9.-]+(?::\d{1,5}|:\*)?$/i.test(part)),
    'must be origins such as https://blog.example.org, separated by spaces, or *, file: or none',
  )
  .transform((text) => (text === 'none' ? '' : text))

/** Every setting, read from an environment variable of the same name. An empty one counts as unset. */
export const SETTINGS = {
  PORT: setting(
    z
      .string()
      .regex(/^\d{1,5}$/, 'must be a port number from 0 to 65535')
      .transform(Number)
      .refine((port) => port <= 65535, 'must be a port number from 0 to 65535'),
    3000,
    'Port to listen on; 0 takes a free one.',
  ),
  HOST: setting(z.string(), '127.0.0.1', 'Address to listen on. 0.0.0.0 lets other machines in; set BASE_URL then, and put TLS in front.'),
  BASE_URL: setting<string | null>(
    httpUrl,
    null,
    'Address people reach the service at: all links are made from it, and its host and origin are allowed.',
    'http://HOST:PORT',
  ),
  DATABASE_URL: secret(
    databaseUrl,
    'sqlite:./data/commonplace.db',
    'Where the library is kept: sqlite:PATH, one file, made when missing; or postgres://USER:PASSWORD@HOST/DATABASE, an empty database at first.',
  ),
  DATABASE_CONNECTIONS: setting(
    countUpTo(1000),
    10,
    'With PostgreSQL: connections one process reads with at most. One to write with, two for what stands beside the library, and one to listen on come on top.',
  ),
  DATABASE_LISTEN_URL: secret<string | null>(
    postgresUrl,
    null,
    'With PostgreSQL behind a pooler that shares connections between clients: the address of the server itself, for the one connection on which instances hear of each other.',
    'DATABASE_URL',
  ),
  BACKUP_BEFORE_UPGRADE: setting(
    onOff,
    true,
    'With SQLite: whether the file is copied before a newer version changes its schema, to FILE.before-NUMBER beside it.',
  ),
  BACKUP_DIR: setting<string | null>(
    z.string(),
    null,
    'A folder in which the service makes backups by itself, named by the time.',
    '(none)',
  ),
  BACKUP_EVERY: setting(interval, 86_400_000, 'How often a backup is made in BACKUP_DIR: a number with m, h or d after it.', '24h'),
  BACKUP_KEEP: setting(countUpTo(1000), 7, 'How many backups are kept in BACKUP_DIR; older ones are removed.'),
  TRASH_DAYS: setting<number | null>(countUpTo(36_500), null, 'Days after which an item in the trash is deleted for good.', '(never)'),
  VERSIONS_KEEP: setting<number | null>(
    countUpTo(100_000),
    null,
    'How many versions of each item are kept; older ones are deleted for good.',
    '(all)',
  ),
  AUDIT_DAYS: setting<number | null>(
    countOrOff('days events of the audit log are kept'),
    365,
    'How many days events of the audit log are kept; off keeps all of them.',
  ),
  SECRET_KEY: secret<string | null>(
    z.string().min(32, 'must have at least 32 characters'),
    null,
    'What cursors and sessions are sealed with: the same for all instances of one service. Changing it makes cursors that are out invalid, and signs everybody out.',
    'made on the first start and kept in the library',
  ),
  ALLOW_SIGNUP: setting(
    onOff,
    false,
    'true lets anybody who reaches the service make an account. Without it, an account takes an invite by an administrator; the very first takes the setup code printed at the start.',
  ),
  PASSWORD_HASH: setting<(typeof PASSWORD_HASHES)[number]>(
    z.enum(PASSWORD_HASHES, `must be one of: ${PASSWORD_HASHES.join(', ')}`),
    'standard',
    'owasp hashes passwords at the cost OWASP recommends for scrypt (N = 2^17), which takes 128 MiB of memory and about half a second of one core for each sign-in, one at a time; standard takes 32 MiB and a tenth of that, two at a time. Either checks the hashes of the other, and weaker ones are renewed when people sign in.',
  ),
  SMTP_URL: secret<string | null>(
    smtpUrl,
    null,
    'The mail server that sends links for forgotten passwords, such as smtps://user:password@mail.example.org. Without it, an administrator makes such links. Needs MAIL_FROM.',
    '(none)',
  ),
  MAIL_FROM: setting<string | null>(
    z.string().regex(/^[^\r\n]{3,320}$/, 'must be an address such as Commonplace <prompts@example.org>'),
    null,
    'Who mails come from, such as Commonplace <prompts@example.org>.',
    '(none)',
  ),
  MCP_ENABLED: setting(onOff, true, 'false removes the MCP endpoint and every mention of it. REST and the stdio command stay.'),
  LOG_LEVEL: setting(
    z.enum(LOG_LEVELS, `must be one of: ${LOG_LEVELS.join(', ')}`),
    'info',
    `Least severe log line written to stderr: ${LOG_LEVELS.join(', ')}.`,
  ),
  ALLOWED_HOSTS: setting<readonly string[]>(
    hostNames,
    [],
    "More host names the service answers to, separated by commas. BASE_URL's and loopback always are; * allows any.",
    '(none)',
  ),
  ALLOWED_ORIGINS: setting<readonly string[]>(
    origins,
    [],
    "More web origins whose pages may do more than read, separated by commas. BASE_URL's and loopback always may; * allows any.",
    '(none)',
  ),
  RATE_LIMITS: setting<number | null>(
    z
      .string()
      .regex(/^(off|[1-9]\d{0,8})$/, 'must be off, or how many requests a minute one caller may make')
      .transform((text) => (text === 'off' ? null : Number(text))),
    12_000,
    'Points a minute for each API key, each person who is signed in, or each address without either; off for benchmarks and trusted networks. A point is about a millisecond of work: reading one item is 1, a search 3, a save 5, a picture 20, signing in 50; bodies over 256 KiB cost more.',
  ),
  TRUST_PROXY: setting(
    z
      .string()
      .regex(/^(false|[1-9])$/, 'must be false, or how many proxies stand in front (1 to 9)')
      .transform((text) => (text === 'false' ? 0 : Number(text))),
    0,
    'How many reverse proxies stand in front: the client address is then read from X-Forwarded-For, that many from its end.',
    'false',
  ),
  IMPROVE_MODEL: setting<string | null>(
    modelName,
    null,
    'The model that improves prompts: openai/MODEL, anthropic/MODEL, google/MODEL, or any name a server at OPENAI_BASE_URL knows. Without it, the built-in rewriter does.',
    '(none)',
  ),
  OPENAI_BASE_URL: setting<string | null>(
    modelServerUrl('OPENAI_API_KEY'),
    null,
    "A server that speaks OpenAI's protocol (Ollama, vLLM, LM Studio and others), such as http://127.0.0.1:11434/v1. IMPROVE_MODEL is then asked there.",
    '(none)',
  ),
  OPENAI_API_KEY: secret<string | null>(
    providerKey,
    null,
    'Key for openai/ models, or for the server at OPENAI_BASE_URL when it wants one.',
    '(none)',
  ),
  ANTHROPIC_API_KEY: secret<string | null>(providerKey, null, 'Key for anthropic/ models.', '(none)'),
  GOOGLE_GENERATIVE_AI_API_KEY: secret<string | null>(providerKey, null, 'Key for google/ models.', '(none)'),
  IMPROVE_TIMEOUT_SECONDS: setting(
    countUpTo(280),
    60,
    'Longest time improving one prompt may take in all, trying again included: 1 to 280 seconds. Many clients wait 60.',
  ),
  IMPROVE_MAX_TOKENS: setting(countUpTo(100_000), 8192, 'Most tokens the model may write for one prompt, thinking included.'),
  IMPROVE_DAILY_REQUESTS: setting<number | null>(
    countOrOff('prompts one person may have improved in a day'),
    1000,
    'Prompts one person may have improved, with all their keys together, in a day (UTC); off for no limit.',
  ),
  IMPROVE_DAILY_CHARACTERS: setting<number | null>(
    countOrOff('characters of prompts one person may have improved in a day'),
    2_000_000,
    'Characters of prompts one person may have improved in a day (UTC); off for no limit.',
  ),
  IMPROVE_CONCURRENCY: setting(countUpTo(1000), 4, 'Prompts the model improves at once, over all callers; more are told to try again.'),
  IMPROVE_SYSTEM_PROMPT_FILE: setting<string | null>(
    z.string(),
    null,
    'A text file with what the model is told of its task, in place of the text that comes with the program. Read at the start.',
    '(built in)',
  ),
  EMBEDDINGS_URL: setting<string | null>(
    modelServerUrl('EMBEDDINGS_API_KEY'),
    null,
    "A server that speaks OpenAI's protocol for embeddings (OpenAI, Ollama and others), such as http://127.0.0.1:11434/v1; /embeddings is appended. Public items and queries are sent there, and search goes by what it says they mean. Needs EMBEDDINGS_MODEL.",
    '(none)',
  ),
  EMBEDDINGS_MODEL: setting<string | null>(
    embeddingModelName,
    null,
    'The model that embeds, as the server at EMBEDDINGS_URL names it. After a change, all is embedded anew in the background.',
    '(none)',
  ),
  EMBEDDINGS_API_KEY: secret<string | null>(providerKey, null, 'Key for the server at EMBEDDINGS_URL, when it wants one.', '(none)'),
  EMBED_FRAME_ANCESTORS: setting(
    frameAncestors,
    '* file:',
    'Which pages may frame embeds, separated by spaces: origins such as https://blog.example.org, https://*.example.org, * for any on the web, file: for files on disk, or none. Pages of the service always may.',
  ),
  SLOW_QUERY_MS: setting<number | null>(
    countOrOff('milliseconds a database statement may take'),
    500,
    'Database statements that take at least so many milliseconds are logged, without their values.',
  ),
  METRICS_TOKEN: secret<string | null>(
    z.string().regex(/^[\x21-\x7e]{16,}$/, 'must have at least 16 characters, without spaces'),
    null,
    'What GET /metrics wants as a Bearer token. Without it there are no metrics, and the address answers 404.',
    '(none)',
  ),
} as const

/** The settings as the program uses them. */
export type Config = Readonly<{ [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never }>

type Environment = Readonly<Record<string, string | undefined>>

/** Largest file a secret is read from. */
const MAX_SECRET_BYTES = 64 * 1024

/**
 * Reads a secret from its variable, or from the file `NAME_FILE` names, without the newline at its end.
 * No sentence has the path in it: it may be the secret itself, given in the wrong variable.
 * @throws AppError `invalid_input`
 */
function readSecret(name: string, environment: Environment): string | undefined {
  const text = environment[name]?.trim()
  const fileSetting = `${name}_FILE`
  const path = environment[fileSetting]?.trim()
  if (!path) return text
  const refuse = (what: string, cause?: unknown): never => {
    throw new AppError('invalid_input', `${fileSetting} ${what}.`, { cause })
  }
  if (text) throw new AppError('invalid_input', `${name} and ${fileSetting} are both set; set one of them.`)
  let content = ''
  try {
    const stats = statSync(path)
    // A pipe can be read once, and settings are read more often.
    if (!stats.isFile() || stats.size > MAX_SECRET_BYTES) refuse('must name a regular file of at most 64 KiB')
    content = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    if (error instanceof AppError) throw error
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
    refuse(`must name a file that can be read${code}`, error)
  }
  if (content.trim() === '') refuse('names an empty file')
  if (/[\r\n]/.test(content)) refuse('names a file with more than one line')
  return content
}

/**
 * Reads the settings from an environment. The only reader of `process.env`.
 * @throws AppError `invalid_input` with a sentence for each setting that is out of range, naming it
 */
export function loadConfig(environment: Environment = process.env): Config {
  const faults: string[] = []
  const read = <T>(name: string, { schema, fallback, isSecret }: Setting<T>): T => {
    let text: string | undefined
    try {
      text = isSecret ? readSecret(name, environment) : environment[name]?.trim()
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      faults.push(error.message)
    }
    if (text === undefined || text === '') return fallback
    const parsed = schema.safeParse(text)
    if (parsed.success) return parsed.data
    // The value stays unsaid: an address may hold a password.
    faults.push(`${name} ${parsed.error.issues[0]?.message ?? 'is not valid'}.`)
    return fallback
  }
  const config: Config = Object.freeze({
    PORT: read('PORT', SETTINGS.PORT),
    HOST: read('HOST', SETTINGS.HOST),
    BASE_URL: read('BASE_URL', SETTINGS.BASE_URL),
    DATABASE_URL: read('DATABASE_URL', SETTINGS.DATABASE_URL),
    DATABASE_CONNECTIONS: read('DATABASE_CONNECTIONS', SETTINGS.DATABASE_CONNECTIONS),
    DATABASE_LISTEN_URL: read('DATABASE_LISTEN_URL', SETTINGS.DATABASE_LISTEN_URL),
    BACKUP_BEFORE_UPGRADE: read('BACKUP_BEFORE_UPGRADE', SETTINGS.BACKUP_BEFORE_UPGRADE),
    BACKUP_DIR: read('BACKUP_DIR', SETTINGS.BACKUP_DIR),
    BACKUP_EVERY: read('BACKUP_EVERY', SETTINGS.BACKUP_EVERY),
    BACKUP_KEEP: read('BACKUP_KEEP', SETTINGS.BACKUP_KEEP),
    TRASH_DAYS: read('TRASH_DAYS', SETTINGS.TRASH_DAYS),
    VERSIONS_KEEP: read('VERSIONS_KEEP', SETTINGS.VERSIONS_KEEP),
    AUDIT_DAYS: read('AUDIT_DAYS', SETTINGS.AUDIT_DAYS),
    SECRET_KEY: read('SECRET_KEY', SETTINGS.SECRET_KEY),
    PASSWORD_HASH: read('PASSWORD_HASH', SETTINGS.PASSWORD_HASH),
    ALLOW_SIGNUP: read('ALLOW_SIGNUP', SETTINGS.ALLOW_SIGNUP),
    SMTP_URL: read('SMTP_URL', SETTINGS.SMTP_URL),
    MAIL_FROM: read('MAIL_FROM', SETTINGS.MAIL_FROM),
    MCP_ENABLED: read('MCP_ENABLED', SETTINGS.MCP_ENABLED),
    LOG_LEVEL: read('LOG_LEVEL', SETTINGS.LOG_LEVEL),
    ALLOWED_HOSTS: read('ALLOWED_HOSTS', SETTINGS.ALLOWED_HOSTS),
    ALLOWED_ORIGINS: read('ALLOWED_ORIGINS', SETTINGS.ALLOWED_ORIGINS),
    RATE_LIMITS: read('RATE_LIMITS', SETTINGS.RATE_LIMITS),
    TRUST_PROXY: read('TRUST_PROXY', SETTINGS.TRUST_PROXY),
    IMPROVE_MODEL: read('IMPROVE_MODEL', SETTINGS.IMPROVE_MODEL),
    OPENAI_BASE_URL: read('OPENAI_BASE_URL', SETTINGS.OPENAI_BASE_URL),
    OPENAI_API_KEY: read('OPENAI_API_KEY', SETTINGS.OPENAI_API_KEY),
    ANTHROPIC_API_KEY: read('ANTHROPIC_API_KEY', SETTINGS.ANTHROPIC_API_KEY),
    GOOGLE_GENERATIVE_AI_API_KEY: read('GOOGLE_GENERATIVE_AI_API_KEY', SETTINGS.GOOGLE_GENERATIVE_AI_API_KEY),
    IMPROVE_TIMEOUT_SECONDS: read('IMPROVE_TIMEOUT_SECONDS', SETTINGS.IMPROVE_TIMEOUT_SECONDS),
    IMPROVE_MAX_TOKENS: read('IMPROVE_MAX_TOKENS', SETTINGS.IMPROVE_MAX_TOKENS),
    IMPROVE_DAILY_REQUESTS: read('IMPROVE_DAILY_REQUESTS', SETTINGS.IMPROVE_DAILY_REQUESTS),
    IMPROVE_DAILY_CHARACTERS: read('IMPROVE_DAILY_CHARACTERS', SETTINGS.IMPROVE_DAILY_CHARACTERS),
    IMPROVE_CONCURRENCY: read('IMPROVE_CONCURRENCY', SETTINGS.IMPROVE_CONCURRENCY),
    IMPROVE_SYSTEM_PROMPT_FILE: read('IMPROVE_SYSTEM_PROMPT_FILE', SETTINGS.IMPROVE_SYSTEM_PROMPT_FILE),
    EMBEDDINGS_URL: read('EMBEDDINGS_URL', SETTINGS.EMBEDDINGS_URL),
    EMBEDDINGS_MODEL: read('EMBEDDINGS_MODEL', SETTINGS.EMBEDDINGS_MODEL),
    EMBEDDINGS_API_KEY: read('EMBEDDINGS_API_KEY', SETTINGS.EMBEDDINGS_API_KEY),
    EMBED_FRAME_ANCESTORS: read('EMBED_FRAME_ANCESTORS', SETTINGS.EMBED_FRAME_ANCESTORS),
    SLOW_QUERY_MS: read('SLOW_QUERY_MS', SETTINGS.SLOW_QUERY_MS),
    METRICS_TOKEN: read('METRICS_TOKEN', SETTINGS.METRICS_TOKEN),
  })
  if (faults.length === 0 && config.SMTP_URL !== null && config.MAIL_FROM === null) {
    faults.push('SMTP_URL is set, which needs MAIL_FROM too: who the mails come from.')
  }
  if (faults.length === 0 && (config.EMBEDDINGS_URL === null) !== (config.EMBEDDINGS_MODEL === null)) {
    const [set, missing] = config.EMBEDDINGS_URL === null ? ['EMBEDDINGS_MODEL', 'EMBEDDINGS_URL'] : ['EMBEDDINGS_URL', 'EMBEDDINGS_MODEL']
    faults.push(`${set} is set, which needs ${missing} too; set both or neither.`)
  }
  if (faults.length > 0) throw new AppError('invalid_input', faults.join(' '))
  return config
}

/** The settings in force as they were written, for people; of a secret, only whether it is set. */
export function describeSettings(
  environment: Environment = process.env,
): { name: string; isSecret: boolean; isDefault: boolean; value: string | null }[] {
  return Object.entries<Setting<unknown>>(SETTINGS).map(([name, { fallback, shownDefault, isSecret = false }]) => {
    const text = environment[name]?.trim() || (isSecret ? environment[`${name}_FILE`]?.trim() : '')
    const byDefault = shownDefault ?? (fallback === null ? null : String(fallback))
    return { name, isSecret, isDefault: !text, value: isSecret ? null : text || byDefault }
  })
}

/** The key a command-line program was given in its environment (PROMPTS_API_KEY or PROMPTS_API_KEY_FILE), or null. @throws AppError `invalid_input` */
export function keyFromEnvironment(environment: Environment = process.env): string | null {
  return readSecret('PROMPTS_API_KEY', environment) || null
}

/** What was typed to start this program, where a launcher did that: `bin/commonplace` of the tarball, or the single executable. Null elsewhere. */
export function launcherFromEnvironment(environment: Environment = process.env): string | null {
  return environment['COMMONPLACE_LAUNCHER'] || null
}

/** The script of a package that npm is running in this process, or null. */
export function npmScriptFromEnvironment(packageName: string, environment: Environment = process.env): string | null {
  return (environment['npm_package_name'] === packageName && environment['npm_lifecycle_event']) || null
}
