import { z } from 'zod'
import {
  countOrOff,
  countUpTo,
  databaseUrl,
  embeddingModelName,
  frameAncestors,
  hostNames,
  httpUrl,
  interval,
  modelName,
  modelServerUrl,
  onOff,
  origins,
  PASSWORD_HASHES,
  postgresUrl,
  providerKey,
  smtpUrl,
} from './setting-values.ts'

const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const

/** What people are told about a setting. */
export interface SettingInfo {
  readonly fallback: unknown
  /** Default as the reference shows it, when it is not simply the value. */
  readonly shownDefault: string | undefined
  readonly doc: string
  /** Whether NAME_FILE may name a file that holds the value. */
  readonly isSecret: boolean
}

const infos = new Map<z.ZodType, SettingInfo>()

/** A setting: a schema over its text, which gives `fallback` where there is none. */
function setting<S extends z.ZodType<unknown, string>, const F>(
  schema: S,
  fallback: F,
  doc: string,
  shownDefault?: string,
  isSecret = false,
) {
  const read = schema.optional().transform((value): z.output<S> | F => (value === undefined ? fallback : value))
  infos.set(read, { fallback, shownDefault, doc, isSecret })
  return read
}

function secret<S extends z.ZodType<unknown, string>, const F>(schema: S, fallback: F, doc: string, shownDefault?: string) {
  return setting(schema, fallback, doc, shownDefault, true)
}

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
  BASE_URL: setting(
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
  DATABASE_LISTEN_URL: secret(
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
  BACKUP_DIR: setting(z.string(), null, 'A folder in which the service makes backups by itself, named by the time.', '(none)'),
  BACKUP_EVERY: setting(interval, 86_400_000, 'How often a backup is made in BACKUP_DIR: a number with m, h or d after it.', '24h'),
  BACKUP_KEEP: setting(countUpTo(1000), 7, 'How many backups are kept in BACKUP_DIR; older ones are removed.'),
  TRASH_DAYS: setting(countUpTo(36_500), null, 'Days after which an item in the trash is deleted for good.', '(never)'),
  VERSIONS_KEEP: setting(countUpTo(100_000), null, 'How many versions of each item are kept; older ones are deleted for good.', '(all)'),
  AUDIT_DAYS: setting(
    countOrOff('days events of the audit log are kept'),
    365,
    'How many days events of the audit log are kept; off keeps all of them.',
  ),
  SECRET_KEY: secret(
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
  PASSWORD_HASH: setting(
    z.enum(PASSWORD_HASHES, `must be one of: ${PASSWORD_HASHES.join(', ')}`),
    'standard',
    'owasp hashes passwords at the cost OWASP recommends for scrypt (N = 2^17), which takes 128 MiB of memory and about half a second of one core for each sign-in, one at a time; standard takes 32 MiB and a tenth of that, two at a time. Either checks the hashes of the other, and weaker ones are renewed when people sign in.',
  ),
  SMTP_URL: secret(
    smtpUrl,
    null,
    'The mail server that sends links for forgotten passwords, such as smtps://user:password@mail.example.org. Without it, an administrator makes such links. Needs MAIL_FROM.',
    '(none)',
  ),
  MAIL_FROM: setting(
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
  ALLOWED_HOSTS: setting(
    hostNames,
    [],
    "More host names the service answers to, separated by commas. BASE_URL's and loopback always are; * allows any.",
    '(none)',
  ),
  ALLOWED_ORIGINS: setting(
    origins,
    [],
    "More web origins whose pages may do more than read, separated by commas. BASE_URL's and loopback always may; * allows any.",
    '(none)',
  ),
  RATE_LIMITS: setting(
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
  IMPROVE_MODEL: setting(
    modelName,
    null,
    'The model that improves prompts: openai/MODEL, anthropic/MODEL, google/MODEL, or any name a server at OPENAI_BASE_URL knows. Without it, the built-in improver does.',
    '(none)',
  ),
  OPENAI_BASE_URL: setting(
    modelServerUrl('OPENAI_API_KEY'),
    null,
    "A server that speaks OpenAI's protocol (Ollama, vLLM, LM Studio and others), such as http://127.0.0.1:11434/v1. IMPROVE_MODEL is then asked there.",
    '(none)',
  ),
  OPENAI_API_KEY: secret(providerKey, null, 'Key for openai/ models, or for the server at OPENAI_BASE_URL when it wants one.', '(none)'),
  ANTHROPIC_API_KEY: secret(providerKey, null, 'Key for anthropic/ models.', '(none)'),
  GOOGLE_GENERATIVE_AI_API_KEY: secret(providerKey, null, 'Key for google/ models.', '(none)'),
  IMPROVE_TIMEOUT_SECONDS: setting(
    countUpTo(280),
    60,
    'Longest time improving one prompt may take in all, trying again included: 1 to 280 seconds. Many clients wait 60.',
  ),
  IMPROVE_MAX_TOKENS: setting(countUpTo(100_000), 8192, 'Most tokens the model may write for one prompt, thinking included.'),
  IMPROVE_DAILY_REQUESTS: setting(
    countOrOff('prompts one person may have improved in a day'),
    1000,
    'Prompts one person may have improved, with all their keys together, in a day (UTC); off for no limit.',
  ),
  IMPROVE_DAILY_CHARACTERS: setting(
    countOrOff('characters of prompts one person may have improved in a day'),
    2_000_000,
    'Characters of prompts one person may have improved in a day (UTC); off for no limit.',
  ),
  IMPROVE_CONCURRENCY: setting(countUpTo(1000), 4, 'Prompts the model improves at once, over all callers; more are told to try again.'),
  IMPROVE_SYSTEM_PROMPT_FILE: setting(
    z.string(),
    null,
    'A text file with what the model is told of its task, in place of the text that comes with the program. Read at the start.',
    '(built in)',
  ),
  EMBEDDINGS_URL: setting(
    modelServerUrl('EMBEDDINGS_API_KEY'),
    null,
    "A server that speaks OpenAI's protocol for embeddings (OpenAI, Ollama and others), such as http://127.0.0.1:11434/v1; /embeddings is appended. Public items and queries are sent there, and search goes by what it says they mean. Needs EMBEDDINGS_MODEL.",
    '(none)',
  ),
  EMBEDDINGS_MODEL: setting(
    embeddingModelName,
    null,
    'The model that embeds, as the server at EMBEDDINGS_URL names it. After a change, all is embedded anew in the background.',
    '(none)',
  ),
  EMBEDDINGS_API_KEY: secret(providerKey, null, 'Key for the server at EMBEDDINGS_URL, when it wants one.', '(none)'),
  EMBED_FRAME_ANCESTORS: setting(
    frameAncestors,
    '* file:',
    'Which pages may frame embeds, separated by spaces: origins such as https://blog.example.org, https://*.example.org, * for any on the web, file: for files on disk, or none. Pages of the service always may.',
  ),
  SLOW_QUERY_MS: setting(
    countOrOff('milliseconds a database statement may take'),
    500,
    'Database statements that take at least so many milliseconds are logged, without their values.',
  ),
  METRICS_TOKEN: secret(
    z.string().regex(/^[\x21-\x7e]{16,}$/, 'must have at least 16 characters, without spaces'),
    null,
    'What GET /metrics wants as a Bearer token. Without it there are no metrics, and the address answers 404.',
    '(none)',
  ),
}

/** Every setting by name, with what people are told about it. */
export function listSettings(): ({ readonly name: string } & SettingInfo)[] {
  return Object.entries(SETTINGS).flatMap(([name, schema]) => {
    const info = infos.get(schema)
    return info ? [{ name, ...info }] : []
  })
}
