import { describe, expect, it } from 'vitest'
import { keyFromEnvironment, loadConfig, SETTINGS } from './config.ts'

const DEFAULTS = {
  PORT: 3000,
  HOST: '127.0.0.1',
  BASE_URL: null,
  DATABASE_URL: 'sqlite:./data/commonplace.db',
  MCP_ENABLED: true,
  LOG_LEVEL: 'info',
  ALLOWED_HOSTS: [],
  ALLOWED_ORIGINS: [],
  SECRET_KEY: null,
  RATE_LIMITS: 12_000,
  TRUST_PROXY: 0,
}

it('has its defaults when nothing is set', () => {
  expect(loadConfig({})).toEqual(DEFAULTS)
})

it('counts an empty setting as unset', () => {
  expect(loadConfig(Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, ''])))).toEqual(DEFAULTS)
  expect(loadConfig(Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, '  '])))).toEqual(DEFAULTS)
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
    ['MCP_ENABLED', 'no'],
    ['MCP_ENABLED', '0'],
    ['LOG_LEVEL', 'loud'],
    ['SECRET_KEY', 'too short'],
    ['RATE_LIMITS', '0'],
    ['RATE_LIMITS', 'on'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '-1'],
    ['TRUST_PROXY', '10'],
  ]

  it.each(bad)('%s=%s is refused by name', (name, text) => {
    expect(() => loadConfig({ [name]: text })).toThrow(
      expect.objectContaining({ code: 'invalid_input', message: expect.stringMatching(new RegExp(`^${name} `)) }),
    )
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
