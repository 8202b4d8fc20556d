import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyFromEnvironment, loadConfig } from './load-config.ts'
import { listSettings } from './settings.ts'

const DEFAULTS = {
  PORT: 3000,
  HOST: '127.0.0.1',
  BASE_URL: null,
  DATABASE_URL: 'sqlite:./data/commonplace.db',
  DEFAULT_LANGUAGE: 'en',
  DATABASE_CONNECTIONS: 10,
  DATABASE_LISTEN_URL: null,
  DATABASE_READ_URL: null,
  PASSWORD_HASH: 'standard',
  BACKUP_BEFORE_UPGRADE: true,
  BACKUP_DIR: null,
  BACKUP_EVERY: 86_400_000,
  BACKUP_KEEP: 7,
  TRASH_DAYS: null,
  VERSIONS_KEEP: null,
  AUDIT_DAYS: 365,
  USAGE_COUNTS: true,
  ALLOW_SIGNUP: false,
  LIBRARY_ACCESS: 'everybody',
  PUBLIC_ITEMS: false,
  OIDC_ISSUER: null,
  OIDC_CLIENT_ID: null,
  OIDC_CLIENT_SECRET: null,
  OIDC_TYPE: 'oidc',
  OIDC_NAME: null,
  OIDC_SCOPES: null,
  OIDC_NAME_CLAIM: null,
  OIDC_GROUPS_CLAIM: 'groups',
  OIDC_GROUPS: [],
  OIDC_SIGN_UP: true,
  OIDC_DOMAINS: [],
  OIDC_ALLOWED_GROUPS: [],
  OIDC_ONLY: false,
  OIDC_FILE: null,
  AUTH_PROXY_HEADER: null,
  AUTH_PROXY_TRUSTED: [],
  AUTH_PROXY_NAME_HEADER: null,
  AUTH_PROXY_EMAIL_HEADER: null,
  AUTH_PROXY_GROUPS_HEADER: null,
  AUTH_PROXY_GROUPS: [],
  AUTH_PROXY_SIGN_OUT_URL: null,
  SMTP_URL: null,
  MAIL_FROM: null,
  MCP_ENABLED: true,
  SECOND_FACTOR: 'optional',
  OAUTH_ENABLED: true,
  OAUTH_CLIENT_ADDRESSES: [],
  OAUTH_CLIENT_DOCUMENTS: true,
  LOG_LEVEL: 'info',
  ALLOWED_HOSTS: [],
  ALLOWED_ORIGINS: [],
  SECRET_KEY: null,
  RATE_LIMITS: 12_000,
  TRUST_PROXY: 0,
  IMPROVE_MODEL: null,
  OPENAI_BASE_URL: null,
  OPENAI_API_KEY: null,
  ANTHROPIC_API_KEY: null,
  GOOGLE_GENERATIVE_AI_API_KEY: null,
  IMPROVE_TIMEOUT_SECONDS: 60,
  IMPROVE_MAX_TOKENS: 8192,
  IMPROVE_DAILY_REQUESTS: 1000,
  IMPROVE_DAILY_CHARACTERS: 2_000_000,
  IMPROVE_CONCURRENCY: 4,
  IMPROVE_SYSTEM_PROMPT_FILE: null,
  ENCODER: true,
  EMBEDDINGS_URL: null,
  EMBEDDINGS_MODEL: null,
  EMBEDDINGS_API_KEY: null,
  EMBED_FRAME_ANCESTORS: '* file:',
  DUMP_LIMIT: 10_000,
  SLOW_QUERY_MS: 500,
  METRICS_TOKEN: null,
}

it('has its defaults when nothing is set', () => {
  expect(loadConfig({})).toEqual(DEFAULTS)
})

it('counts an empty setting as unset', () => {
  expect(loadConfig(Object.fromEntries(listSettings().map(({ name }) => [name, ''])))).toEqual(DEFAULTS)
  expect(loadConfig(Object.fromEntries(listSettings().map(({ name }) => [name, '  '])))).toEqual(DEFAULTS)
})

it('does not look at other variables', () => {
  expect(loadConfig({ HOME: '/home/ann', port: '1', MCP: 'false' })).toEqual(DEFAULTS)
})

describe('good values', () => {
  it.each([
    ['PORT', '0', 0],
    ['PORT', '8080', 8080],
    ['PORT', '65535', 65535],
    ['HOST', '0.0.0.0', '0.0.0.0'],
    ['BASE_URL', 'https://prompts.example.org', 'https://prompts.example.org'],
    ['BASE_URL', 'https://prompts.example.org/', 'https://prompts.example.org'],
    ['BASE_URL', 'http://localhost:8080', 'http://localhost:8080'],
    ['DATABASE_URL', 'sqlite:/var/lib/commonplace.db', 'sqlite:/var/lib/commonplace.db'],
    [
      'DATABASE_URL',
      'postgres://me:pa%3Ass@db.example.org:5432/library?sslmode=require',
      'postgres://me:pa%3Ass@db.example.org:5432/library?sslmode=require',
    ],
    ['DATABASE_URL', 'postgresql://localhost/library', 'postgresql://localhost/library'],
    ['DATABASE_CONNECTIONS', '40', 40],
    ['DATABASE_LISTEN_URL', 'postgres://db.example.org/library', 'postgres://db.example.org/library'],
    ['ALLOW_SIGNUP', 'true', true],
    ['LIBRARY_ACCESS', 'members', 'members'],
    ['MAIL_FROM', 'Commonplace <prompts@example.org>', 'Commonplace <prompts@example.org>'],
    ['MCP_ENABLED', 'true', true],
    ['MCP_ENABLED', 'false', false],
    ['LOG_LEVEL', 'silent', 'silent'],
    ['ALLOWED_HOSTS', 'a.example, b.example,,', ['a.example', 'b.example']],
    ['ALLOWED_ORIGINS', '*', ['*']],
    ['RATE_LIMITS', 'off', null],
    ['RATE_LIMITS', '600', 600],
    ['TRUST_PROXY', 'false', 0],
    ['TRUST_PROXY', '1', 1],
    ['TRUST_PROXY', '2', 2],
    ['IMPROVE_MODEL', 'openai/gpt-5', 'openai/gpt-5'],
    ['IMPROVE_MODEL', 'qwen3:8b', 'qwen3:8b'],
    ['OPENAI_BASE_URL', 'http://10.0.0.7:11434/v1', 'http://10.0.0.7:11434/v1'],
    ['OPENAI_BASE_URL', 'https://models.example.org/v1/', 'https://models.example.org/v1'],
    ['OPENAI_API_KEY', 'sk-a_b.c', 'sk-a_b.c'],
    ['IMPROVE_TIMEOUT_SECONDS', '1', 1],
    ['IMPROVE_TIMEOUT_SECONDS', '280', 280],
    ['IMPROVE_MAX_TOKENS', '100000', 100_000],
    ['IMPROVE_DAILY_REQUESTS', 'off', null],
    ['IMPROVE_DAILY_REQUESTS', '5', 5],
    ['IMPROVE_DAILY_CHARACTERS', '1000000000', 1_000_000_000],
    ['IMPROVE_DAILY_CHARACTERS', 'off', null],
    ['IMPROVE_CONCURRENCY', '1', 1],
    ['IMPROVE_SYSTEM_PROMPT_FILE', '/etc/commonplace/improve.md', '/etc/commonplace/improve.md'],
    ['EMBEDDINGS_API_KEY', 'sk-a_b.c', 'sk-a_b.c'],
    ['ENCODER', 'on', true],
    ['ENCODER', 'off', false],
    ['USAGE_COUNTS', 'on', true],
    ['USAGE_COUNTS', 'off', false],
    ['METRICS_TOKEN', 'sixteen-letters!', 'sixteen-letters!'],
    ['EMBED_FRAME_ANCESTORS', 'https://*.example.org https://a.b:8443', 'https://*.example.org https://a.b:8443'],
    ['EMBED_FRAME_ANCESTORS', 'none', ''],
    ['PASSWORD_HASH', 'owasp', 'owasp'],
    ['SECOND_FACTOR', 'admins', 'admins'],
    ['SECOND_FACTOR', 'everybody', 'everybody'],
  ])('%s=%s', (name, text, value) => {
    expect(loadConfig({ [name]: text })).toEqual({ ...DEFAULTS, [name]: value })
    expect(loadConfig({ [name]: ` ${text} ` })).toEqual({ ...DEFAULTS, [name]: value })
  })
})

describe('values out of range', () => {
  const bad: [string, string][] = [
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80a'],
    ['PORT', '3.5'],
    ['BASE_URL', 'prompts.example.org'],
    ['BASE_URL', 'ftp://prompts.example.org'],
    ['BASE_URL', 'https://prompts.example.org/sub'],
    ['BASE_URL', 'https://prompts.example.org/?a=1'],
    ['DATABASE_URL', 'sqlite:'],
    ['DATABASE_URL', 'mysql:x'],
    ['DATABASE_URL', 'postgres:'],
    ['DATABASE_URL', 'postgres:///library'],
    ['DATABASE_CONNECTIONS', '0'],
    ['DATABASE_LISTEN_URL', 'sqlite:x.db'],
    ['DATABASE_READ_URL', 'sqlite:x.db'],
    ['DATABASE_READ_URL', 'db.example.org/library'],
    ['ALLOW_SIGNUP', 'yes'],
    ['LIBRARY_ACCESS', 'closed'],
    ['PUBLIC_ITEMS', 'true'],
    ['PASSWORD_HASH', 'argon2'],
    ['SECOND_FACTOR', 'required'],
    ['SMTP_URL', 'mail.example.org'],
    ['SMTP_URL', 'https://mail.example.org'],
    ['MAIL_FROM', 'a\r\nBcc: b@example.org'],
    ['MCP_ENABLED', 'no'],
    ['MCP_ENABLED', '0'],
    ['LOG_LEVEL', 'loud'],
    ['SECRET_KEY', 'too short'],
    ['RATE_LIMITS', '0'],
    ['RATE_LIMITS', 'on'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '-1'],
    ['TRUST_PROXY', '10'],
    ['IMPROVE_MODEL', 'two words'],
    ['OPENAI_BASE_URL', '127.0.0.1:11434'],
    ['OPENAI_BASE_URL', 'ftp://127.0.0.1/v1'],
    ['OPENAI_BASE_URL', 'https://user:pass@models.example.org/v1'],
    ['OPENAI_BASE_URL', 'https://models.example.org/v1?key=x'],
    ['OPENAI_API_KEY', 'two words'],
    ['ANTHROPIC_API_KEY', 'clé'],
    ['GOOGLE_GENERATIVE_AI_API_KEY', 'a b'],
    ['ENCODER', 'true'],
    ['USAGE_COUNTS', 'false'],
    ['EMBEDDINGS_URL', 'localhost:11434'],
    ['EMBEDDINGS_URL', 'https://user:pass@models.example.org/v1'],
    ['EMBEDDINGS_URL', 'https://models.example.org/v1?key=x'],
    ['EMBEDDINGS_MODEL', 'two words'],
    ['EMBEDDINGS_API_KEY', 'two words'],
    ['METRICS_TOKEN', 'fifteen-letters'],
    ['EMBED_FRAME_ANCESTORS', 'https://a.example; script-src *'],
    ['EMBED_FRAME_ANCESTORS', 'blog.example.org'],
    ['METRICS_TOKEN', 'sixteen letters and more'],
    ['IMPROVE_TIMEOUT_SECONDS', '0'],
    ['IMPROVE_TIMEOUT_SECONDS', '281'],
    ['IMPROVE_TIMEOUT_SECONDS', '1.5'],
    ['IMPROVE_MAX_TOKENS', '100001'],
    ['IMPROVE_DAILY_REQUESTS', '0'],
    ['IMPROVE_DAILY_REQUESTS', 'none'],
    ['IMPROVE_DAILY_CHARACTERS', '-1'],
    ['IMPROVE_CONCURRENCY', 'off'],
    ['IMPROVE_CONCURRENCY', '1001'],
  ]

  it.each(bad)('%s=%s is refused by name', (name, text) => {
    expect(() => loadConfig({ [name]: text })).toThrow(
      expect.objectContaining({ code: 'invalid_input', message: expect.stringMatching(new RegExp(`^${name} `)) }),
    )
  })

  it('LIBRARY_ACCESS=members goes with invites alone', () => {
    expect(() => loadConfig({ LIBRARY_ACCESS: 'members', ALLOW_SIGNUP: 'true' })).toThrow(
      /^LIBRARY_ACCESS=members cannot be combined with ALLOW_SIGNUP/,
    )
  })

  it('PUBLIC_ITEMS=on goes with LIBRARY_ACCESS=members alone', () => {
    expect(() => loadConfig({ PUBLIC_ITEMS: 'on' })).toThrow(/^PUBLIC_ITEMS=on needs LIBRARY_ACCESS=members/)
    expect(() => loadConfig({ PUBLIC_ITEMS: 'on', LIBRARY_ACCESS: 'everybody' })).toThrow(/^PUBLIC_ITEMS=on needs/)
    expect(loadConfig({ PUBLIC_ITEMS: 'on', LIBRARY_ACCESS: 'members' })).toMatchObject({ PUBLIC_ITEMS: true, LIBRARY_ACCESS: 'members' })
    expect(loadConfig({ PUBLIC_ITEMS: 'off' }).PUBLIC_ITEMS).toBe(false)
  })

  it('DATABASE_READ_URL goes with a server in DATABASE_URL alone', () => {
    const read = { DATABASE_READ_URL: 'postgres://me:hush@replica.example.org/library' }
    for (const DATABASE_URL of [undefined, 'sqlite:x.db']) {
      expect(() => loadConfig({ ...read, DATABASE_URL })).toThrow(/^(?!.*hush)DATABASE_READ_URL also needs DATABASE_URL/)
    }
    expect(loadConfig({ ...read, DATABASE_URL: 'postgres://db.example.org/library' })).toMatchObject(read)
  })

  it('says nothing of a key that is refused', () => {
    expect(() => loadConfig({ OPENAI_API_KEY: 'sk-se cret' })).toThrow(/^(?!.*cret)OPENAI_API_KEY /)
  })

  it('names all of them at once', () => {
    expect(() => loadConfig({ PORT: 'x', LOG_LEVEL: 'x', HOST: 'ok' })).toThrow(/^PORT .*LOG_LEVEL /s)
  })
})

it('cannot be changed once read', () => {
  expect(Object.isFrozen(loadConfig({}))).toBe(true)
})

it.each([
  [{}, null],
  [{ PROMPTS_API_KEY: '' }, null],
  [{ PROMPTS_API_KEY: '  ' }, null],
  [{ PROMPTS_API_KEY: ' cpb_x ' }, 'cpb_x'],
])('keyFromEnvironment(%j) is %j', (environment, key) => {
  expect(keyFromEnvironment(environment)).toBe(key)
})

describe('a provider of embeddings', () => {
  const EMBEDDINGS_URL = 'http://127.0.0.1:11434/v1/'
  const EMBEDDINGS_MODEL = 'nomic-embed-text'

  it('is its address and its model', () => {
    const config = { ...DEFAULTS, EMBEDDINGS_URL: 'http://127.0.0.1:11434/v1', EMBEDDINGS_MODEL }
    expect(loadConfig({ EMBEDDINGS_URL, EMBEDDINGS_MODEL })).toEqual(config)
  })

  it('is refused with one of them alone', () => {
    expect(() => loadConfig({ EMBEDDINGS_URL })).toThrow('EMBEDDINGS_URL also needs EMBEDDINGS_MODEL. Set both or neither.')
    expect(() => loadConfig({ EMBEDDINGS_MODEL })).toThrow('EMBEDDINGS_MODEL also needs EMBEDDINGS_URL. Set both or neither.')
  })

  it('names the setting for the key', () => {
    expect(() => loadConfig({ EMBEDDINGS_URL: 'http://u:p@x.example/v1' })).toThrow('set the key in EMBEDDINGS_API_KEY')
  })
})

describe('a mail server', () => {
  const SMTP_URL = 'smtps://user:password@mail.example.org:465'
  it('is taken with who mails come from', () => {
    expect(loadConfig({ SMTP_URL, MAIL_FROM: 'prompts@example.org' })).toMatchObject({ SMTP_URL, MAIL_FROM: 'prompts@example.org' })
  })

  it('is refused without', () => {
    expect(() => loadConfig({ SMTP_URL })).toThrow('SMTP_URL also needs MAIL_FROM, the sender address.')
  })
})

describe('a secret in a file', () => {
  /** Each setting that holds a secret, and a value it takes. */
  const SECRETS: Readonly<Record<string, string>> = {
    DATABASE_URL: 'postgres://me:hush@db.example.org/library',
    DATABASE_LISTEN_URL: 'postgres://me:hush@db.example.org/library',
    DATABASE_READ_URL: 'postgres://me:hush@replica.example.org/library',
    SECRET_KEY: 'hush hush hush hush hush hush hush',
    SMTP_URL: 'smtps://me:hush@mail.example.org',
    OPENAI_API_KEY: 'sk-hush',
    ANTHROPIC_API_KEY: 'sk-hush',
    GOOGLE_GENERATIVE_AI_API_KEY: 'sk-hush',
    EMBEDDINGS_API_KEY: 'sk-hush',
    OIDC_CLIENT_SECRET: 'hush-hush',
    METRICS_TOKEN: 'hush-hush-hush-hush',
  }
  /** What some of them need beside. */
  const NEEDED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    SMTP_URL: { MAIL_FROM: 'prompts@example.org' },
    DATABASE_READ_URL: { DATABASE_URL: 'postgres://db.example.org/library' },
  }
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'commonplace-secrets-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const write = (name: string, content: string): string => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }

  it('can be every setting whose name or value has a secret in it', () => {
    const marked = listSettings().flatMap(({ name, isSecret }) => (isSecret ? [name] : []))
    expect(marked.toSorted()).toEqual(Object.keys(SECRETS).toSorted())
    const named = listSettings().flatMap(({ name, doc }) =>
      /(KEY|TOKEN|PASSWORD)$/.test(name) || /:PASSWORD@|:password@/.test(doc) ? [name] : [],
    )
    expect(named.filter((name) => !marked.includes(name))).toEqual([])
  })

  it.each(Object.entries(SECRETS))('%s is read from there, without the newline at the end', (name, value) => {
    const others = NEEDED[name] ?? {}
    const expected = { ...DEFAULTS, ...others, [name]: value }
    for (const end of ['', '\n', '\r\n']) {
      expect(loadConfig({ ...others, [`${name}_FILE`]: write(name, value + end) })).toEqual(expected)
    }
    expect(loadConfig({ ...others, [name]: value, [`${name}_FILE`]: ' ' })).toEqual(expected)
    expect(loadConfig({ ...others, [name]: '', [`${name}_FILE`]: ` ${write(name, value)} ` })).toEqual(expected)
  })

  it('keeps spaces, which an environment variable would lose', () => {
    const value = `  ${'x'.repeat(32)}  `
    expect(loadConfig({ SECRET_KEY_FILE: write('spaces', `${value}\n`) }).SECRET_KEY).toBe(value)
  })

  it.each([
    ['is missing', () => join(folder, 'missing'), 'SECRET_KEY_FILE must name a readable file (ENOENT).'],
    ['is a folder', () => folder, 'SECRET_KEY_FILE must name a regular file of at most 64 KiB.'],
    ['is no regular file', () => '/dev/null', 'SECRET_KEY_FILE must name a regular file of at most 64 KiB.'],
    ['is too large', () => write('large', 'x'.repeat(65 * 1024)), 'SECRET_KEY_FILE must name a regular file of at most 64 KiB.'],
    ['is empty', () => write('empty', ''), 'SECRET_KEY_FILE names an empty file.'],
    ['is blank', () => write('blank', ' \n'), 'SECRET_KEY_FILE names an empty file.'],
    ['has two lines', () => write('lines', 'hush\nhush\n'), 'SECRET_KEY_FILE names a file with more than one line.'],
    ['is too short', () => write('short', 'hush\n'), 'SECRET_KEY must have at least 32 characters.'],
  ])('is refused in a sentence with neither path nor content when it %s', (_, path, sentence) => {
    expect(() => loadConfig({ SECRET_KEY_FILE: path() })).toThrow(expect.objectContaining({ code: 'invalid_input', message: sentence }))
  })

  it('is refused beside the variable itself, with all other faults', () => {
    const environment = { SECRET_KEY: 'y'.repeat(32), SECRET_KEY_FILE: write('both', 'x'.repeat(32)), PORT: 'x' }
    expect(() => loadConfig(environment)).toThrow(/^PORT must .*\. SECRET_KEY and SECRET_KEY_FILE are both set\. Set only one\.$/)
  })

  it('can be no other setting', () => {
    expect(loadConfig({ HOST_FILE: write('host', '0.0.0.0') })).toEqual(DEFAULTS)
  })

  it('can be the key of a command', () => {
    expect(keyFromEnvironment({ PROMPTS_API_KEY_FILE: write('key', 'cpb_x\n') })).toBe('cpb_x')
    expect(() => keyFromEnvironment({ PROMPTS_API_KEY: 'cpb_x', PROMPTS_API_KEY_FILE: write('key', 'cpb_y') })).toThrow(
      'PROMPTS_API_KEY and PROMPTS_API_KEY_FILE are both set. Set only one.',
    )
    expect(() => keyFromEnvironment({ PROMPTS_API_KEY_FILE: write('key', '') })).toThrow('PROMPTS_API_KEY_FILE names an empty file.')
  })
})
