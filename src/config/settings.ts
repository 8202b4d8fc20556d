import { z } from 'zod'
import { DEFAULT_QUOTA } from '../domain/people/usage.ts'
import { PROVIDER_TYPES } from '../domain/sign-in/sign-in-ways.ts'
import {
  countOrOff,
  countUpTo,
  databaseUrl,
  embeddingModelName,
  frameAncestors,
  groupMap,
  headerName,
  hostNames,
  httpUrl,
  interval,
  ipAddresses,
  list,
  modelName,
  modelServerUrl,
  networks,
  onOff,
  onOrOff,
  origins,
  ownerQuota,
  PASSWORD_HASHES,
  postgresUrl,
  pricedModels,
  providerKey,
  SECOND_FACTOR_RULES,
  smtpUrl,
  webUrl,
} from './setting-values.ts'

const LIBRARY_ACCESSES = ['everybody', 'members'] as const
const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const

/** The documentation of a setting. */
export interface SettingInfo {
  readonly fallback: unknown
  /** Default as the reference shows it, when it is not simply the value; `(none)` for null and an empty list. */
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
  const isNone = fallback === null || (Array.isArray(fallback) && fallback.length === 0)
  infos.set(read, { fallback, shownDefault: shownDefault ?? (isNone ? '(none)' : undefined), doc, isSecret })
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
    'Port to listen on; 0 picks a free port.',
  ),
  HOST: setting(z.string(), '127.0.0.1', 'Address to listen on. For other machines, use 0.0.0.0, set BASE_URL and put TLS in front.'),
  BASE_URL: setting(
    httpUrl,
    null,
    'Public address of the service: the base of all links; its host and origin are allowed.',
    'http://HOST:PORT',
  ),
  DATABASE_URL: secret(
    databaseUrl,
    'sqlite:./data/commonplace.db',
    'Location of the library: sqlite:PATH (one file, created if missing) or postgres://USER:PASSWORD@HOST/DATABASE (initially empty).',
  ),
  DATABASE_CONNECTIONS: setting(
    countUpTo(1000),
    10,
    'PostgreSQL: maximum read connections per process. Three more are used: one for writes, one for migrations and exports, one to listen.',
  ),
  DATABASE_LISTEN_URL: secret(
    postgresUrl,
    null,
    'PostgreSQL behind a connection pooler: direct address of the server, for the one connection that carries notifications between instances.',
    'DATABASE_URL',
  ),
  DATA_DIR: setting(
    z.string(),
    './data',
    'PostgreSQL: folder for files that can be made again, such as the snapshot of the search index. Created if missing.',
  ),
  BACKUP_BEFORE_UPGRADE: setting(
    onOff,
    true,
    'Copy the library to FILE.before-NUMBER, or on PostgreSQL into DATA_DIR, before a schema upgrade.',
  ),
  BACKUP_DIR: setting(z.string(), null, 'Folder for scheduled backups, named by time.'),
  BACKUP_EVERY: setting(interval, 86_400_000, 'Interval between scheduled backups: a number followed by m, h or d.', '24h'),
  BACKUP_KEEP: setting(countUpTo(1000), 7, 'Number of backups to keep in BACKUP_DIR; older ones are deleted.'),
  TRASH_DAYS: setting(countUpTo(36_500), null, 'Days until items in the trash are deleted for good.', '(never)'),
  VERSIONS_KEEP: setting(countUpTo(100_000), null, 'Number of versions to keep of each item; older ones are deleted for good.', '(all)'),
  AUDIT_DAYS: setting(countOrOff('days to keep audit events'), 365, 'Days to keep audit log events; off keeps all.'),
  USAGE_COUNTS: setting(
    onOrOff,
    true,
    'Count by day how often items, keys and the library are used, without texts and addresses. off counts nothing and shows nothing.',
    'on',
  ),
  HIGH_FINDINGS: setting(
    z.enum(['admins', 'maintainers']),
    'admins',
    'Who accepts findings of high severity: admins, or also the maintainers of a team for what it owns.',
  ),
  SECRET_KEY: secret(
    z.string().min(32, 'must have at least 32 characters'),
    null,
    'Key that encrypts cursors and sessions; must be the same on all instances. Changing it invalidates cursors and signs everyone out.',
    'generated on first start and stored in the library',
  ),
  DEFAULT_LANGUAGE: setting(
    z.string().regex(/^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/, 'must be the code of a language, such as en or de'),
    'en',
    'Language of the pages where neither the reader nor their browser asks for one that the pages are written in: en or de.',
  ),
  ALLOW_SIGNUP: setting(
    onOff,
    false,
    'true lets anyone create an account. Otherwise an account needs an invite by an administrator; the first one needs the setup code printed at startup.',
  ),
  LIBRARY_ACCESS: setting(
    z.enum(LIBRARY_ACCESSES, `must be one of: ${LIBRARY_ACCESSES.join(', ')}`),
    'everybody',
    'members: only people who sign in, keys and install links reach the library. Strangers are asked to sign in; embeds, feeds and public indexes do not exist; PUBLIC_ITEMS can leave embeds. Cannot be combined with ALLOW_SIGNUP.',
  ),
  PUBLIC_ITEMS: setting(
    onOrOff,
    false,
    'on: with LIBRARY_ACCESS=members, strangers still see the pages and embeds of public items, one by one. No list, search, download or API, and nothing unlisted.',
    'off',
  ),
  PASSWORD_HASH: setting(
    z.enum(PASSWORD_HASHES, `must be one of: ${PASSWORD_HASHES.join(', ')}`),
    'standard',
    'Cost of password hashing. owasp is the scrypt cost OWASP recommends (N = 2^17): 128 MiB and about half a CPU second per sign-in, one at a time. standard takes 32 MiB and a tenth of the time, two at a time. Both accept hashes of the other; weaker ones are upgraded at sign-in.',
  ),
  OIDC_ISSUER: setting(
    z.string(),
    null,
    'Address of the OpenID Connect provider that people sign in with, such as https://id.example.org/realms/staff. Needs OIDC_CLIENT_ID.',
  ),
  OIDC_CLIENT_ID: setting(z.string(), null, 'Client id that the provider gave this service.'),
  OIDC_CLIENT_SECRET: secret(z.string(), null, 'Client secret of this service at the provider, where it has one.'),
  OIDC_TYPE: setting(
    z.enum(PROVIDER_TYPES, `must be one of: ${PROVIDER_TYPES.join(', ')}`),
    'oidc',
    `Kind of the provider: ${PROVIDER_TYPES.join(', ')}. All but oidc and microsoft need no OIDC_ISSUER.`,
  ),
  OIDC_NAME: setting(z.string(), null, 'Name of the provider on the sign-in page.', 'by OIDC_TYPE'),
  OIDC_SCOPES: setting(
    z.string(),
    null,
    'Scopes to ask for, separated by spaces.',
    'openid profile email; for GitHub read:user user:email',
  ),
  OIDC_NAME_CLAIM: setting(
    z.string(),
    null,
    'Claim with the name that a new account gets, if it is free.',
    'preferred_username; google: email, gitlab: nickname, github: login',
  ),
  OIDC_GROUPS_CLAIM: setting(z.string(), 'groups', 'Claim with the groups of a person; dots lead into objects.'),
  OIDC_GROUPS: setting(
    groupMap,
    [],
    'Teams and roles by groups of the provider, such as engineering=acme:editor, library-admins=admin. Applied at each sign-in, also to take away what they gave.',
  ),
  OIDC_SIGN_UP: setting(onOff, true, 'Whether people of the provider who are new here get an account.'),
  OIDC_DOMAINS: setting(list, [], 'Domains of verified email addresses that may sign in by the provider, separated by commas.', '(any)'),
  OIDC_ALLOWED_GROUPS: setting(
    list,
    [],
    'Groups of which a person must have one to sign in by the provider, separated by commas.',
    '(any)',
  ),
  OIDC_ONLY: setting(
    onOff,
    false,
    'true turns passwords off: no sign-in, sign-up or reset by password. The command sign-in-link is the way in for an administrator.',
  ),
  OIDC_FILE: setting(z.string(), null, 'YAML or JSON file with several sign-in providers (docs/sign-in.md). Read at startup.'),
  AUTH_PROXY_HEADER: setting(
    headerName,
    null,
    'Header with which a reverse proxy says who is signed in, such as Remote-User. Needs AUTH_PROXY_TRUSTED, and turns passwords off.',
  ),
  AUTH_PROXY_TRUSTED: setting(
    networks,
    [],
    'Addresses and networks (CIDR) of that proxy, separated by commas. The header of any other sender is ignored.',
  ),
  AUTH_PROXY_NAME_HEADER: setting(headerName, null, 'Header of the proxy with a display name.'),
  AUTH_PROXY_EMAIL_HEADER: setting(headerName, null, 'Header of the proxy with an email address that it has verified.'),
  AUTH_PROXY_GROUPS_HEADER: setting(headerName, null, 'Header of the proxy with groups, separated by commas.'),
  AUTH_PROXY_GROUPS: setting(groupMap, [], 'Teams and roles by groups of the proxy, as in OIDC_GROUPS.'),
  AUTH_PROXY_SIGN_OUT_URL: setting(webUrl, null, 'Address at which the proxy signs people out; the sign-out page leads there.'),
  SMTP_URL: secret(
    smtpUrl,
    null,
    'Mail server for password reset links, such as smtps://user:password@mail.example.org. Without it, administrators create the links. Needs MAIL_FROM.',
  ),
  MAIL_FROM: setting(
    z.string().regex(/^[^\r\n]{3,320}$/, 'must be an address such as Commonplace <prompts@example.org>'),
    null,
    'Sender of emails, such as Commonplace <prompts@example.org>.',
  ),
  MCP_ENABLED: setting(
    onOff,
    true,
    'false disables the MCP endpoint and hides every mention of it. REST and the stdio command still work.',
  ),
  SECOND_FACTOR: setting(
    z.enum(SECOND_FACTOR_RULES, `must be one of: ${SECOND_FACTOR_RULES.join(', ')}`),
    'optional',
    'Who needs a passkey or the codes of an app beside a password: optional, admins or everybody. Whoever signs in with a password and has neither can only set one up. API keys and programs that signed in are not asked.',
  ),
  OAUTH_ENABLED: setting(
    onOff,
    true,
    'false turns off signing in by OAuth for MCP clients, with the address /mcp. It is also off where BASE_URL is http on another machine than this one, because tokens would travel in the open.',
  ),
  OAUTH_CLIENT_DOCUMENTS: setting(
    onOff,
    true,
    'false makes MCP clients register themselves instead of sending the address of their metadata document, which the service fetches. Set it where the service cannot reach the internet: Claude Code and Codex cannot sign in there otherwise.',
  ),
  OAUTH_CLIENT_ADDRESSES: setting(
    ipAddresses,
    [],
    'IP addresses, separated by commas, from which client metadata documents may be fetched though they are not public: for MCP clients that a company describes on its own network.',
  ),
  LOG_LEVEL: setting(
    z.enum(LOG_LEVELS, `must be one of: ${LOG_LEVELS.join(', ')}`),
    'info',
    `Minimum level of log lines on stderr: ${LOG_LEVELS.join(', ')}.`,
  ),
  ALLOWED_HOSTS: setting(
    hostNames,
    [],
    "Additional host names the service accepts, separated by commas; * accepts any. BASE_URL's host and loopback are always accepted.",
  ),
  ALLOWED_ORIGINS: setting(
    origins,
    [],
    "Additional web origins whose pages may write, separated by commas; * allows any. BASE_URL's origin and loopback are always allowed.",
  ),
  RATE_LIMITS: setting(
    z
      .string()
      .regex(/^(off|[1-9]\d{0,8})$/, 'must be off or the points per minute of one caller')
      .transform((text) => (text === 'off' ? null : Number(text))),
    12_000,
    'Points per minute for each API key, signed-in person, or otherwise address; off for benchmarks and trusted networks. A point is about a millisecond of work: reading an item costs 1, a search 3 and 1 more for each collection it names, a save 5, a picture 20, signing in 50; bodies over 256 KiB cost more.',
  ),
  QUOTA_PER_OWNER: setting(
    ownerQuota,
    DEFAULT_QUOTA,
    'The most that a person or a team may keep, such as items=5000 bytes=2G: items with those in the trash, versions, bytes of texts and files, and words that search keeps for them alone. More is refused, but for words: search does not find an item by those beyond. off for no limits.',
    'items=100k versions=1M bytes=2G words=100k',
  ),
  TRUST_PROXY: setting(
    z
      .string()
      .regex(/^(false|[1-9])$/, 'must be false or the number of reverse proxies (1 to 9)')
      .transform((text) => (text === 'false' ? 0 : Number(text))),
    0,
    'Number of reverse proxies in front of the service. The client address is the entry of X-Forwarded-For at that position from the end.',
    'false',
  ),
  IMPROVE_MODEL: setting(
    modelName,
    null,
    'Model that improves prompts: openai/MODEL, anthropic/MODEL, google/MODEL, or any model of the server at OPENAI_BASE_URL. Default: the built-in improver.',
  ),
  OPENAI_BASE_URL: setting(
    modelServerUrl('OPENAI_API_KEY'),
    null,
    'OpenAI-compatible server for IMPROVE_MODEL (Ollama, vLLM, LM Studio and others), such as http://127.0.0.1:11434/v1.',
  ),
  OPENAI_API_KEY: secret(providerKey, null, 'Key for openai/ models, or for the server at OPENAI_BASE_URL if it needs one.'),
  ANTHROPIC_API_KEY: secret(providerKey, null, 'Key for anthropic/ models.'),
  GOOGLE_GENERATIVE_AI_API_KEY: secret(providerKey, null, 'Key for google/ models.'),
  IMPROVE_TIMEOUT_SECONDS: setting(
    countUpTo(280),
    60,
    'Timeout for improving one prompt, including retries: 1 to 280 seconds. Many clients wait 60.',
  ),
  IMPROVE_MAX_TOKENS: setting(countUpTo(100_000), 8192, 'Maximum output tokens per prompt, including thinking.'),
  IMPROVE_DAILY_REQUESTS: setting(
    countOrOff('prompts per person and day'),
    1000,
    'Improved prompts per person and day (UTC), over all their keys; off for no limit.',
  ),
  IMPROVE_DAILY_CHARACTERS: setting(
    countOrOff('characters per person and day'),
    2_000_000,
    'Improved characters per person and day (UTC); off for no limit.',
  ),
  IMPROVE_CONCURRENCY: setting(countUpTo(1000), 4, 'Prompts improved concurrently, over all callers; more get an error to try again.'),
  IMPROVE_SYSTEM_PROMPT_FILE: setting(
    z.string(),
    null,
    'Text file with the system prompt for improving, instead of the built-in one. Read at startup.',
    '(built in)',
  ),
  TEST_MODELS: setting(
    pricedModels,
    [],
    'Models that run the tests of prompts, named as in IMPROVE_MODEL, separated by commas; the first also judges. A price is in US dollars per million tokens of input and output: openai/gpt-5=1.25/10.',
  ),
  TEST_DAILY_TOKENS: setting(
    countOrOff('tokens per owner and day'),
    1_000_000,
    "Tokens that tests of an owner's prompts may take a day (UTC); off for no limit.",
  ),
  TEST_DAILY_USD: setting(
    countOrOff('US dollars per owner and day'),
    null,
    "US dollars that tests of an owner's prompts may cost a day (UTC), at the prices of TEST_MODELS; off for no limit.",
    'off',
  ),
  ENCODER: setting(
    onOrOff,
    true,
    'Built-in sentence encoder, which finds items by meaning: about 50 MB of memory and at most one core. off ranks by words and word vectors alone. Not used with EMBEDDINGS_URL.',
    'on',
  ),
  EMBEDDINGS_URL: setting(
    modelServerUrl('EMBEDDINGS_API_KEY'),
    null,
    'OpenAI-compatible server for embeddings (OpenAI, Ollama and others), such as http://127.0.0.1:11434/v1; /embeddings is appended. Public items and queries are sent there, and search ranks with the embeddings in place of the built-in encoder. Needs EMBEDDINGS_MODEL.',
  ),
  EMBEDDINGS_MODEL: setting(
    embeddingModelName,
    null,
    'Embedding model of the server at EMBEDDINGS_URL. After a change, everything is embedded again in the background.',
  ),
  EMBEDDINGS_API_KEY: secret(providerKey, null, 'Key for the server at EMBEDDINGS_URL, if it needs one.'),
  EMBED_FRAME_ANCESTORS: setting(
    frameAncestors,
    '* file:',
    'Pages that may frame embeds, separated by spaces: origins such as https://blog.example.org or https://*.example.org, * for any website, file: for local files, or none. Pages of the service always may.',
  ),
  DUMP_LIMIT: setting(countOrOff('prompts'), 10_000, 'Most prompts in one dump, /prompts.json or /prompts.csv; off gives all of them.'),
  SLOW_QUERY_MS: setting(
    countOrOff('milliseconds'),
    500,
    'Log database statements that take at least this many milliseconds, without their values; off disables it.',
  ),
  METRICS_TOKEN: secret(
    z.string().regex(/^[\x21-\x7e]{16,}$/, 'must have at least 16 characters, without spaces'),
    null,
    'Bearer token for GET /metrics. If unset, metrics are disabled and the address returns 404.',
  ),
}

/** Every setting by name, with its documentation. */
export function listSettings(): ({ readonly name: string } & SettingInfo)[] {
  return Object.entries(SETTINGS).flatMap(([name, schema]) => {
    const info = infos.get(schema)
    return info ? [{ name, ...info }] : []
  })
}
