import { describe, expect, it } from 'vitest'
import { type AccessRules, checkHost, checkOrigin, clientAddress, isOriginAllowed } from './guards.ts'

const RULES: AccessRules = { baseUrl: 'https://prompts.example.org', allowedHosts: [], allowedOrigins: [] }

describe('checkHost', () => {
  it.each([
    'prompts.example.org',
    'prompts.example.org:443',
    'PROMPTS.example.ORG',
    'localhost',
    'localhost:3000',
    '127.0.0.1:8080',
    '[::1]',
    '[::1]:3000',
  ])("answers to %s: BASE_URL's and loopback", (host) => {
    expect(() => checkHost(host, RULES)).not.toThrow()
  })

  it.each([
    null,
    '',
    ' ',
    'evil.example',
    'example.org',
    'prompts.example.org.evil.example',
    'xprompts.example.org',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    '0.0.0.0',
    '[::2]',
    'evil.example@localhost',
    'evil.example/localhost',
    'localhost/evil',
    'localhost#evil',
    'a b',
  ])('does not answer to %j', (host) => {
    expect(() => checkHost(host, RULES)).toThrow(expect.objectContaining({ code: 'forbidden' }))
  })

  it('answers to further names its operator allows, with or without port', () => {
    const rules = { ...RULES, allowedHosts: ['lan.example', 'Other.example:8080'] }
    for (const host of ['lan.example', 'lan.example:99', 'other.example']) expect(() => checkHost(host, rules)).not.toThrow()
    expect(() => checkHost('sub.lan.example', rules)).toThrow()
  })

  it('answers to any name when * is allowed, but not to none', () => {
    const rules = { ...RULES, allowedHosts: ['*'] }
    expect(() => checkHost('anything.example', rules)).not.toThrow()
    expect(() => checkHost(null, rules)).toThrow()
  })
})

describe('origins', () => {
  it.each([null, 'https://prompts.example.org', 'http://localhost:5173', 'http://127.0.0.1', 'http://[::1]:3000'])(
    'lets %s in',
    (origin) => {
      expect(isOriginAllowed(origin, RULES)).toBe(true)
      expect(() => checkOrigin(origin, RULES)).not.toThrow()
    },
  )

  it.each([
    'https://evil.example',
    'http://prompts.example.org',
    'https://prompts.example.org:8443',
    'https://prompts.example.org.evil.example',
    'https://localhost.evil.example',
    'null',
    '',
    'nonsense',
    'file://',
    'chrome-extension://abcdef',
  ])('keeps %j out', (origin) => {
    expect(isOriginAllowed(origin, RULES)).toBe(false)
    expect(() => checkOrigin(origin, RULES)).toThrow(expect.objectContaining({ code: 'forbidden' }))
  })

  it('lets in what the operator allows, and only that, with * everything', () => {
    const rules = { ...RULES, allowedOrigins: ['https://app.example', 'https://other.example/', 'chrome-extension://abcdef'] }
    for (const origin of ['https://app.example', 'https://other.example', 'chrome-extension://abcdef'])
      expect(isOriginAllowed(origin, rules), origin).toBe(true)
    const others = ['http://app.example', 'https://app.example:444', 'chrome-extension://fedcba', 'moz-extension://abcdef', 'null']
    for (const origin of others) expect(isOriginAllowed(origin, rules), origin).toBe(false)
    for (const origin of ['https://evil.example', 'null']) expect(isOriginAllowed(origin, { ...RULES, allowedOrigins: ['*'] })).toBe(true)
  })
})

describe('clientAddress', () => {
  const SOCKET = '10.0.0.9'

  it.each([
    [0, null, SOCKET],
    [0, '1.1.1.1', SOCKET],
    [1, null, SOCKET],
    [1, '', SOCKET],
    [1, '1.1.1.1', '1.1.1.1'],
    [1, '6.6.6.6, 1.1.1.1', '1.1.1.1'],
    [1, '6.6.6.6,1.1.1.1 ', '1.1.1.1'],
    [2, '1.1.1.1, 10.0.0.1', '1.1.1.1'],
    [2, '6.6.6.6, 1.1.1.1, 10.0.0.1', '1.1.1.1'],
    [2, '1.1.1.1', SOCKET],
    [1, '1.1.1.1, ', SOCKET],
    [1, '2001:db8::1', '2001:db8::1'],
  ])('behind %i proxies with X-Forwarded-For %j: %s', (proxies, forwardedFor, address) => {
    expect(clientAddress(SOCKET, forwardedFor, proxies)).toBe(address)
  })
})
