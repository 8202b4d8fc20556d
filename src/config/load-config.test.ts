import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyFromEnvironment, listRemovedSettings, loadConfig } from './load-config.ts'
import { listSettings } from './settings.ts'

const DEFAULTS = JSON.parse(readFileSync(new URL('../../test/fixtures/setting-defaults.json', import.meta.url), 'utf8'))

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
  const GOOD: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    PORT: { 0: 0, 8080: 8080, 65535: 65535 },
    HOST: { '0.0.0.0': '0.0.0.0' },
    BASE_URL: { 'https://prompts.example.org/': 'https://prompts.example.org', 'http://localhost:8080': 'http://localhost:8080' },
    DATABASE_URL: {
      'sqlite:/var/lib/commonplace.db': 'sqlite:/var/lib/commonplace.db',
      'postgres://me:pa%3Ass@db.example.org:5432/library?sslmode=require':
        'postgres://me:pa%3Ass@db.example.org:5432/library?sslmode=require',
      'postgresql://localhost/library': 'postgresql://localhost/library',
    },
    DATABASE_CONNECTIONS: { 40: 40 },
    DATABASE_LISTEN_URL: { 'postgres://db.example.org/library': 'postgres://db.example.org/library' },
    ALLOW_SIGNUP: { true: true },
    LIBRARY_ACCESS: { members: 'members' },
    MAIL_FROM: { 'Commonplace <prompts@example.org>': 'Commonplace <prompts@example.org>' },
    MCP_ENABLED: { true: true, false: false },
    LOG_LEVEL: { silent: 'silent' },
    ALLOWED_HOSTS: { 'a.example, b.example,,': ['a.example', 'b.example'] },
    ALLOWED_ORIGINS: { '*': ['*'] },
    RATE_LIMITS: { off: null, 600: 600 },
    QUOTA_PER_OWNER: {
      off: { items: null, versions: null, bytes: null, words: null },
      'items=5k bytes=2M': { items: 5_000, versions: 1_000_000, bytes: 2_000_000, words: 100_000 },
    },
    TRUST_PROXY: { false: 0, 1: 1, 2: 2 },
    TEST_MODELS: {
      'openai/gpt-5=1.25/10, qwen3:8b': [
        { name: 'openai/gpt-5', price: { input: 1.25, output: 10 } },
        { name: 'qwen3:8b', price: null },
      ],
    },
    IMPROVE_MODEL: { 'openai/gpt-5': 'openai/gpt-5', 'qwen3:8b': 'qwen3:8b' },
    OPENAI_BASE_URL: { 'http://10.0.0.7:11434/v1': 'http://10.0.0.7:11434/v1', 'https://a.example/v1/': 'https://a.example/v1' },
    OPENAI_API_KEY: { 'sk-a_b.c': 'sk-a_b.c' },
    IMPROVE_TIMEOUT_SECONDS: { 1: 1, 280: 280 },
    IMPROVE_MAX_TOKENS: { 100000: 100_000 },
    IMPROVE_DAILY_REQUESTS: { off: null, 5: 5 },
    IMPROVE_DAILY_CHARACTERS: { off: null, 1000000000: 1_000_000_000 },
    IMPROVE_CONCURRENCY: { 1: 1 },
    IMPROVE_SYSTEM_PROMPT_FILE: { '/etc/commonplace/improve.md': '/etc/commonplace/improve.md' },
    EMBEDDINGS_API_KEY: { 'sk-a_b.c': 'sk-a_b.c' },
    ENCODER: { on: true, off: false },
    USAGE_COUNTS: { on: true, off: false },
    HIGH_FINDINGS: { maintainers: 'maintainers' },
    METRICS_TOKEN: { 'sixteen-letters!': 'sixteen-letters!' },
    EMBED_FRAME_ANCESTORS: { 'https://*.example.org https://a.b:8443': 'https://*.example.org https://a.b:8443', none: '' },
    PASSWORD_HASH: { owasp: 'owasp' },
    SECOND_FACTOR: { admins: 'admins', everybody: 'everybody' },
  }
  it.each(Object.entries(GOOD))('of %s: %j', (name, values) => {
    for (const [text, value] of Object.entries(values)) {
      expect(loadConfig({ [name]: text })).toEqual({ ...DEFAULTS, [name]: value })
      expect(loadConfig({ [name]: ` ${text} ` })).toEqual({ ...DEFAULTS, [name]: value })
    }
  })
})

describe('values out of range', () => {
  const BAD: Readonly<Record<string, readonly string[]>> = {
    PORT: ['65536', '-1', '80a', '3.5'],
    BASE_URL: ['prompts.example.org', 'ftp://prompts.example.org', 'https://prompts.example.org/sub', 'https://prompts.example.org/?a=1'],
    DATABASE_URL: ['sqlite:', 'mysql:x', 'postgres:', 'postgres:///library'],
    DATABASE_CONNECTIONS: ['0'],
    DATABASE_LISTEN_URL: ['sqlite:x.db'],
    ALLOW_SIGNUP: ['yes'],
    LIBRARY_ACCESS: ['closed'],
    PUBLIC_ITEMS: ['true'],
    PASSWORD_HASH: ['argon2'],
    SECOND_FACTOR: ['required'],
    SMTP_URL: ['mail.example.org', 'https://mail.example.org'],
    MAIL_FROM: ['a\r\nBcc: b@example.org'],
    MCP_ENABLED: ['no', '0'],
    LOG_LEVEL: ['loud'],
    SECRET_KEY: ['too short'],
    RATE_LIMITS: ['0', 'on'],
    QUOTA_PER_OWNER: ['5000', 'items=0', 'items=5K', 'things=5', 'items=5,bytes=2'],
    TRUST_PROXY: ['true', '-1', '10'],
    IMPROVE_MODEL: ['two words'],
    TEST_MODELS: ['two words', 'a=1', 'a=1/x', '=1/2'],
    OPENAI_BASE_URL: [
      '127.0.0.1:11434',
      'ftp://127.0.0.1/v1',
      'https://user:pass@models.example.org/v1',
      'https://models.example.org/v1?key=x',
    ],
    OPENAI_API_KEY: ['two words'],
    ANTHROPIC_API_KEY: ['clé'],
    GOOGLE_GENERATIVE_AI_API_KEY: ['a b'],
    ENCODER: ['true'],
    USAGE_COUNTS: ['false'],
    HIGH_FINDINGS: ['everybody'],
    EMBEDDINGS_URL: ['localhost:11434', 'https://user:pass@models.example.org/v1', 'https://models.example.org/v1?key=x'],
    EMBEDDINGS_MODEL: ['two words'],
    EMBEDDINGS_API_KEY: ['two words'],
    METRICS_TOKEN: ['fifteen-letters', 'sixteen letters and more'],
    EMBED_FRAME_ANCESTORS: ['https://a.example; script-src *', 'blog.example.org'],
    IMPROVE_TIMEOUT_SECONDS: ['0', '281', '1.5'],
    IMPROVE_MAX_TOKENS: ['100001'],
    IMPROVE_DAILY_REQUESTS: ['0', 'none'],
    IMPROVE_DAILY_CHARACTERS: ['-1'],
    IMPROVE_CONCURRENCY: ['off', '1001'],
  }

  it.each(Object.entries(BAD))('of %s are refused by name: %j', (name, texts) => {
    for (const text of texts) {
      expect(() => loadConfig({ [name]: text }), text).toThrow(
        expect.objectContaining({ code: 'invalid_input', message: expect.stringMatching(new RegExp(`^${name} `)) }),
      )
    }
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

it('reads the key of a command from the environment', () => {
  const environments = [{}, { PROMPTS_API_KEY: '' }, { PROMPTS_API_KEY: '  ' }, { PROMPTS_API_KEY: ' cpb_x ' }]
  expect(environments.map((environment) => keyFromEnvironment(environment))).toEqual([null, null, null, 'cpb_x'])
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
  it('is taken with who mails come from, and refused without', () => {
    const SMTP_URL = 'smtps://user:password@mail.example.org:465'
    expect(loadConfig({ SMTP_URL, MAIL_FROM: 'prompts@example.org' })).toMatchObject({ SMTP_URL, MAIL_FROM: 'prompts@example.org' })
    expect(() => loadConfig({ SMTP_URL })).toThrow('SMTP_URL also needs MAIL_FROM, the sender address.')
  })
})

it('names settings that were removed, and says what to do', () => {
  expect(listRemovedSettings({ PORT: '3000' })).toEqual([])
  expect(listRemovedSettings({ DATABASE_READ_URL_FILE: '/run/secrets/replica' })).toEqual([
    'DATABASE_READ_URL was removed and has no effect. All reads go to the server of DATABASE_URL.',
  ])
})

describe('a secret in a file', () => {
  /** Each setting that holds a secret, and a value it takes. */
  const SECRETS: Readonly<Record<string, string>> = {
    DATABASE_URL: 'postgres://me:hush@db.example.org/library',
    DATABASE_LISTEN_URL: 'postgres://me:hush@db.example.org/library',
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
