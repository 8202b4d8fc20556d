import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { z } from 'zod'
import { loadConfig } from '../../src/config/load-config.ts'
import { readSignInSettings } from '../../src/config/sign-in-settings.ts'
import type { moodShape } from '../support/provider-mood.ts'
import { type TestApp, testApp } from '../support/test-app.ts'
import { signUp, type Visitor, visit } from '../support/visitor.ts'

let child: ChildProcess
let issuer = ''
const lines: string[] = []

const setMood = async (mood: z.input<typeof moodShape>) => {
  await fetch(`${issuer}/mood`, { method: 'PUT', body: JSON.stringify(mood) })
}
/** Presses the button, follows the provider, and comes back. */
const signIn = async (test: TestApp, key: string, visitor: Visitor = visit(test)) => {
  const left = await visitor.post(`/sign-in/with/${key}`, { to: '/skills' })
  const url = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(left.html)?.[1]?.replaceAll('&amp;', '&')
  if (url === undefined) return left
  const back = new URL((await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '')
  return await visitor.get(back.pathname + back.search)
}
const open = async (environment: Readonly<Record<string, string>>, timeoutSeconds?: number) => {
  const config = loadConfig({ OIDC_CLIENT_ID: 'client', OIDC_CLIENT_SECRET: 'the secret', OIDC_ISSUER: issuer, ...environment })
  const test = await testApp(
    {},
    {},
    null,
    { signIn: { ...readSignInSettings(config, {}), ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) } },
    { write: (line) => lines.push(line) },
  )
  onTestFinished(() => test.close())
  await signUp(test, 'root')
  return test
}
const reader = async (test: TestApp, visitor: Visitor) => {
  const name = /data-reader="([^"]+)"/.exec((await visitor.get('/search')).html)?.[1]
  return name === undefined ? null : await test.app.store.people.findPersonByName(name)
}

beforeAll(async () => {
  child = spawn(process.execPath, [fileURLToPath(new URL('../support/provider-stub.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (child.stdout === null) throw new Error('The stub has no output')
  const [chunk] = await once(child.stdout, 'data')
  issuer = String(chunk).trim()
})
afterAll(() => child.kill('SIGKILL'))

describe('a provider that lies or fails', () => {
  const later = Math.floor(Date.now() / 1000)
  it.each<[string, z.input<typeof moodShape>, string]>([
    ['another issuer in its description', { discovery: { issuer: 'https://evil.example.org' } }, 'describes itself as another issuer'],
    ['an endpoint that is no address', { discovery: { token_endpoint: 'ftp://x' } }, 'an address that is missing or not https'],
    ['no way to sign', { discovery: { id_token_signing_alg_values_supported: ['HS256', 'none'] } }, 'signs in no way that is supported'],
    ['no endpoint', { discovery: { authorization_endpoint: null } }, 'an address that is missing or not https'],
    ['a forged signature', { isForged: true }, 'its signature, issuer or state is wrong'],
    ['no signature', { algorithm: 'none' }, ''],
    ['a signature with the client secret', { algorithm: 'HS256' }, ''],
    ['another audience', { idToken: { aud: 'somebody-else' } }, 'not for this service'],
    ['more audiences, and no word for whom', { idToken: { aud: ['client', 'somebody-else'] } }, ''],
    ['another issuer in the ID token', { idToken: { iss: 'https://evil.example.org' } }, 'not for this service'],
    ['another nonce', { idToken: { nonce: 'another' } }, 'not for this service'],
    ['no nonce', { idToken: { nonce: null } }, ''],
    ['an expired ID token', { idToken: { exp: later - 120 } }, 'has expired'],
    ['an ID token from the future', { clockSeconds: 600, idToken: { nbf: later + 600 } }, 'not good yet'],
    ['no ID token', { hasIdToken: false }, ''],
    ['another person at UserInfo', { userInfo: { sub: 'stub-2' } }, 'answers about another person'],
    ['no subject', { idToken: { sub: '' } }, ''],
    ['a subject that is too long', { idToken: { sub: 'x'.repeat(300) }, userInfo: { sub: 'x'.repeat(300) } }, 'did not say who signed in'],
    ['huge answers', { padding: 600_000 }, 'answers with more than 524288 bytes'],
    ['nothing', { silent: ['/.well-known/openid-configuration'] }, 'did not answer in time'],
    ['no tokens', { silent: ['/token'] }, 'did not answer in time'],
  ])(
    '%s',
    async (_, mood, sentence) => {
      const test = await open({ OIDC_NAME: 'Corp' }, mood.silent && 1)
      await setMood(mood)
      lines.length = 0
      const visitor = visit(test)
      const answer = await signIn(test, 'oidc', visitor)
      expect(answer.status).toBe(502)
      const said = /class="fault notice"[^>]*>([^<]*)</.exec(answer.html)?.[1] ?? ''
      expect(said).toMatch(/^(Corp |Signing in at Corp failed).*\.$/)
      expect(said).toContain(sentence)
      expect(await reader(test, visitor)).toBeNull()
      expect((await test.app.store.people.countPeople(null)).login).toBe(1)
      const log = lines.join('')
      expect(log).toContain(said)
      expect(log).not.toMatch(/the secret|an access token|code-\d|eyJ/)
    },
    30_000,
  )

  it('may have a clock that is a little off', async () => {
    const test = await open({})
    await setMood({ clockSeconds: 20, idToken: { nbf: Math.floor(Date.now() / 1000) + 20 } })
    expect((await signIn(test, 'oidc')).to).toBe('/skills')
  })
})

describe('by its type', () => {
  it('google: the name is the address’s, kept where it is verified', async () => {
    const test = await open({ OIDC_TYPE: 'google' })
    await setMood({ idToken: { email: 'grace@example.org', email_verified: true, name: 'Grace H.' } })
    const visitor = visit(test)
    expect((await signIn(test, 'google', visitor)).to).toBe('/skills')
    expect(await reader(test, visitor)).toMatchObject({ username: 'grace', displayName: 'Grace H.', email: 'grace@example.org' })
  })

  it('microsoft: groups that are left out change nothing, and an address without a word on it is not kept', async () => {
    const test = await open({ OIDC_TYPE: 'microsoft', OIDC_GROUPS: '11111111-aaaa=acme:editor' })
    const visitor = visit(test)
    const claims = { preferred_username: 'kay@corp.example', email: 'kay@corp.example' }
    await setMood({ idToken: { ...claims, groups: ['11111111-aaaa'] } })
    await signIn(test, 'microsoft', visitor)
    const person = await reader(test, visitor)
    expect(person).toMatchObject({ username: 'kay', email: null })
    const teams = async () => (await test.app.store.teams.listTeamsOf(person?.id ?? '')).map(({ name }) => name)
    await setMood({ idToken: { ...claims, _claim_names: { groups: 'src1' } } })
    await signIn(test, 'microsoft')
    expect(await teams()).toEqual(['acme'])
    await setMood({ idToken: claims })
    await signIn(test, 'microsoft')
    expect(await teams()).toEqual([])
  })

  it('gitlab: the nickname and the groups come from UserInfo', async () => {
    const test = await open({ OIDC_TYPE: 'gitlab', OIDC_GROUPS: 'acme/platform=platform:maintainer' })
    await setMood({ userInfo: { nickname: 'lin', groups: ['acme', 'acme/platform'] } })
    const visitor = visit(test)
    await signIn(test, 'gitlab', visitor)
    const person = await reader(test, visitor)
    expect(person).toMatchObject({ username: 'lin' })
    expect(await test.app.store.teams.listTeamsOf(person?.id ?? '')).toMatchObject([{ name: 'platform', role: 'maintainer' }])
  })

  it('github: the id, the verified primary address, organizations and teams', async () => {
    const test = await open({ OIDC_TYPE: 'github', OIDC_GROUPS: 'acme=acme:reader, acme/core=acme:editor' })
    const gitHub = {
      '/user': { id: 583231, login: 'octo-cat', name: null },
      '/user/emails': [
        { email: 'other@example.org', primary: false, verified: true },
        { email: 'Octo@example.org', primary: true, verified: true },
      ],
      '/user/orgs': [{ login: 'acme' }],
      '/user/teams': [{ slug: 'core', organization: { login: 'acme' } }],
    }
    await setMood({ isGitHub: true, gitHub })
    const visitor = visit(test)
    expect((await signIn(test, 'github', visitor)).to).toBe('/skills')
    const person = await reader(test, visitor)
    expect(person).toMatchObject({ username: 'octo-cat', email: 'octo@example.org' })
    expect(await test.app.store.teams.listTeamsOf(person?.id ?? '')).toMatchObject([{ name: 'acme', role: 'editor' }])
    expect(await test.app.store.arrivals.listIdentities(person?.id ?? '')).toMatchObject([
      { provider: `${issuer}/login/oauth`, subject: '583231' },
    ])
    await setMood({
      isGitHub: true,
      gitHub: {
        ...gitHub,
        '/user': { id: 7, login: 'newbie' },
        '/user/emails': [{ email: 'n@example.org', primary: true, verified: false }],
      },
    })
    const second = visit(test)
    await signIn(test, 'github', second)
    expect(await reader(test, second)).toMatchObject({ username: 'newbie', email: null })
    await setMood({ isGitHub: true, gitHub: {} })
    expect((await signIn(test, 'github')).html).toContain('GitHub answers 404 where its accounts are read.')
  })
})
