import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from './load-config.ts'
import { readSignInSettings } from './sign-in-settings.ts'

const read = (environment: Readonly<Record<string, string>>) => readSignInSettings(loadConfig(environment), environment)
const OIDC = { OIDC_ISSUER: 'https://id.example.org', OIDC_CLIENT_ID: 'client' }
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-providers-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const write = (content: string) => {
  const path = join(folder, 'providers.yaml')
  writeFileSync(path, content)
  return path
}
const readFile = (content: string, environment: Readonly<Record<string, string>> = {}) =>
  read({ OIDC_FILE: write(content), ...environment })

it('is passwords alone when nothing is set', () => {
  expect(read({})).toEqual({ hasPasswords: true, providers: [], proxy: null })
})

describe('one provider by settings', () => {
  it('has what its type stands for', () => {
    expect(read(OIDC).providers).toEqual([
      {
        ...{ key: 'oidc', name: 'OpenID Connect', type: 'oidc', issuer: 'https://id.example.org', clientId: 'client', clientSecret: null },
        ...{ scopes: 'openid profile email', nameClaim: 'preferred_username', groupsClaim: 'groups' },
        ...{ groups: [], allowsSignUp: true, allowedDomains: [], allowedGroups: [] },
      },
    ])
    const [github] = read({ OIDC_TYPE: 'github', OIDC_CLIENT_ID: 'x', OIDC_GROUPS: 'acme=acme:editor' }).providers
    expect(github).toMatchObject({ key: 'github', name: 'GitHub', issuer: 'https://github.com/login/oauth', groups: [{ group: 'acme' }] })
    expect(read({ OIDC_TYPE: 'google', OIDC_CLIENT_ID: 'x' }).providers).toMatchObject([
      { issuer: 'https://accounts.google.com', nameClaim: 'email' },
    ])
    expect(read({ ...OIDC, OIDC_ONLY: 'true' }).hasPasswords).toBe(false)
  })

  it.each<[Record<string, string>, string]>([
    [{ OIDC_ISSUER: 'https://id.example.org' }, 'Sign-in by OpenID Connect also needs OIDC_CLIENT_ID.'],
    [{ OIDC_CLIENT_ID: 'x' }, 'OIDC_CLIENT_ID also needs OIDC_ISSUER'],
    [{ OIDC_CLIENT_ID: 'x', OIDC_TYPE: 'microsoft' }, 'OIDC_CLIENT_ID also needs OIDC_ISSUER'],
    [{ ...OIDC, OIDC_ISSUER: 'http://id.example.org' }, 'http works for loopback addresses alone'],
    [{ ...OIDC, OIDC_ISSUER: 'https://a:b@id.example.org' }, 'must have no query, fragment, user or password'],
    [{ ...OIDC, OIDC_ISSUER: 'ftp://x' }, 'must be an https address'],
    [
      { ...OIDC, OIDC_TYPE: 'microsoft', OIDC_ISSUER: 'https://login.microsoftonline.com/common/v2.0' },
      'with common, organizations or consumers anybody could sign in',
    ],
    [{ ...OIDC, OIDC_GROUPS: 'a=b:owner' }, 'OIDC_GROUPS has the role "owner"'],
    [{ OIDC_ONLY: 'true' }, 'OIDC_ONLY=true needs a provider'],
  ])('%j is refused', (environment, sentence) => {
    expect(() => read(environment)).toThrow(sentence)
  })
})

describe('OIDC_FILE', () => {
  it('has several providers, in YAML or JSON, with secrets from the environment', () => {
    const { providers } = readFile(
      'providers:\n  - key: staff\n    issuer: https://id.example.org\n    clientId: c\n    clientSecret: ${STAFF}\n    groups:\n      eng: [acme:editor, core]\n      cn=a,ou=b: admin\n  - {key: hub, type: github, clientId: d, signUp: false, domains: [Example.org]}\n',
      { STAFF: 'hush' },
    )
    expect(providers).toMatchObject([
      { key: 'staff', clientSecret: 'hush', groups: [{ group: 'eng' }, { group: 'eng' }, { group: 'cn=a,ou=b', team: null }] },
      { key: 'hub', type: 'github', allowsSignUp: false, allowedDomains: ['example.org'] },
    ])
    expect(readFile('{"providers":[{"key":"a","issuer":"https://a.example","clientId":"c"}]}').providers).toHaveLength(1)
  })

  const entry = '{key: a, issuer: "https://a.example", clientId: hush-1'
  it.each([
    ['providers: [', 'OIDC_FILE is not valid YAML or JSON.'],
    ['[]', 'OIDC_FILE must have a list named providers'],
    [`providers: [${entry}, clientsecret: hush-2}]`, 'OIDC_FILE, provider 1: the entry has an unknown field: clientsecret.'],
    [`providers: [${entry}, clientSecret: "\${NOT_SET}"}]`, 'OIDC_FILE, provider 1 names the variable NOT_SET, which is not set.'],
    [`providers: [${entry}}, ${entry}}]`, 'Two sign-in providers have the key "a".'],
    [
      `providers: [${entry}}, {key: b, issuer: "https://a.example", clientId: c}]`,
      'Two sign-in providers have the issuer https://a.example.',
    ],
    [
      'providers: [{key: "A/b", issuer: "https://a.example", clientId: c}]',
      'provider 1: key must be 1 to 32 characters of a-z, 0-9 and hyphen.',
    ],
    [`providers: [${entry}, groups: {eng: "acme:owner"}}]`, 'provider 1: groups has the role "owner"'],
    ['providers: [{key: a, clientId: c}]', 'provider 1: issuer is required for the type oidc.'],
    ['a: &a [x]\nproviders: *a', 'is not valid YAML or JSON'],
  ])('%s is refused, and no value of it is said', (content, sentence) => {
    expect(() => readFile(content)).toThrow(sentence)
    expect(() => readFile(content)).not.toThrow(/hush-\d/)
  })

  it('that is missing is refused', () => {
    expect(() => read({ OIDC_FILE: join(folder, 'none.yaml') })).toThrow('OIDC_FILE must name a readable file (ENOENT).')
    expect(() => read({ OIDC_FILE: folder })).toThrow('must name a regular file of at most 256 KiB')
  })
})

describe('a proxy', () => {
  it('turns passwords off', () => {
    expect(read({ AUTH_PROXY_HEADER: 'Remote-User', AUTH_PROXY_TRUSTED: '10.0.0.5, fd00::/64' })).toMatchObject({
      hasPasswords: false,
      proxy: { header: 'remote-user', trusted: ['10.0.0.5', 'fd00::/64'], groups: [] },
    })
  })

  it.each<[Record<string, string>, string]>([
    [{ AUTH_PROXY_HEADER: 'Remote-User' }, 'AUTH_PROXY_HEADER also needs AUTH_PROXY_TRUSTED'],
    [{ AUTH_PROXY_TRUSTED: '10.0.0.5' }, 'AUTH_PROXY_TRUSTED also needs AUTH_PROXY_HEADER'],
    [{ AUTH_PROXY_HEADER: 'Remote-User', AUTH_PROXY_TRUSTED: '10.0.0.0/33' }, 'AUTH_PROXY_TRUSTED must be addresses or networks'],
    [{ AUTH_PROXY_HEADER: 'Remote-User', AUTH_PROXY_TRUSTED: 'proxy.example.org' }, 'AUTH_PROXY_TRUSTED must be addresses or networks'],
    [{ AUTH_PROXY_HEADER: 'Cookie', AUTH_PROXY_TRUSTED: '10.0.0.5' }, 'AUTH_PROXY_HEADER must not be a header with a meaning of its own'],
    [{ AUTH_PROXY_HEADER: 'a b', AUTH_PROXY_TRUSTED: '10.0.0.5' }, 'AUTH_PROXY_HEADER must be the name of a header'],
  ])('%j is refused', (environment, sentence) => {
    expect(() => read(environment)).toThrow(sentence)
  })
})
