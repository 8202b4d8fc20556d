// A provider that answers as it is told, also wrongly, in a process of its own: node test/support/provider-stub.ts
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Mood, moodShape } from './provider-mood.ts'

const [own, other] = [generateKeyPairSync('rsa', { modulusLength: 2048 }), generateKeyPairSync('rsa', { modulusLength: 2048 })]
let mood: Mood = moodShape.parse({})
/** What each code was given for. */
const codes = new Map<string, { nonce: string | null; challenge: string | null }>()
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

function writeToken(claims: object, key: KeyObject): string {
  const head = `${base64({ alg: mood.algorithm, kid: 'own', typ: 'JWT' })}.${base64(claims)}`
  if (mood.algorithm === 'none') return `${head}.`
  return `${head}.${sign('RSA-SHA256', Buffer.from(head), key).toString('base64url')}`
}

function send(response: ServerResponse, value: unknown, status = 200): void {
  const text = mood.padding === 0 ? JSON.stringify(value) : JSON.stringify({ ...Object(value), padding: 'x'.repeat(mood.padding) })
  response.writeHead(status, { 'content-type': 'application/json' }).end(text)
}

function answerToken(form: URLSearchParams, issuer: string, response: ServerResponse): void {
  const given = codes.get(form.get('code') ?? '')
  if (!mood.reusesCodes) codes.delete(form.get('code') ?? '')
  const proof = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url')
  if (!given || given.challenge !== proof) {
    send(response, { error: 'invalid_grant' }, 400)
    return
  }
  const at = Math.floor(Date.now() / 1000) + mood.clockSeconds
  const claims = {
    iss: issuer,
    sub: 'stub-1',
    aud: 'client',
    iat: at,
    exp: at + 300,
    ...(given.nonce === null ? {} : { nonce: given.nonce }),
  }
  const token = writeToken({ ...claims, ...mood.idToken }, mood.isForged ? other.privateKey : own.privateKey)
  send(response, {
    access_token: 'an access token',
    token_type: 'bearer',
    ...(!mood.isGitHub && mood.hasIdToken ? { id_token: token } : {}),
  })
}

async function answer(request: IncomingMessage, response: ServerResponse, issuer: string): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', issuer)
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString('utf8')
  if (pathname === '/mood') {
    mood = moodShape.parse(JSON.parse(body))
    return void response.writeHead(204).end()
  }
  if (mood.silent.includes(pathname)) return
  if (pathname === '/.well-known/openid-configuration') {
    return send(response, {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      userinfo_endpoint: `${issuer}/userinfo`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      ...mood.discovery,
    })
  }
  if (pathname === '/jwks')
    return send(response, { keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'own', alg: 'RS256', use: 'sig' }] })
  if (pathname.endsWith('/authorize')) {
    const code = `code-${codes.size}-${Math.random()}`
    codes.set(code, { nonce: searchParams.get('nonce'), challenge: searchParams.get('code_challenge') })
    const back = new URL(searchParams.get('redirect_uri') ?? '')
    back.searchParams.set('code', code)
    back.searchParams.set('state', searchParams.get('state') ?? '')
    return void response.writeHead(302, { location: back.href }).end()
  }
  if (pathname === '/token' || pathname.endsWith('/access_token')) return answerToken(new URLSearchParams(body), issuer, response)
  if (pathname === '/userinfo') return send(response, { sub: 'stub-1', ...mood.userInfo })
  const shown = mood.gitHub[pathname.replace('/api/v3', '')]
  send(response, shown ?? { message: 'Not Found' }, shown === undefined ? 404 : 200)
}

const server = createServer((request, response) => {
  const { port } = server.address() as AddressInfo
  answer(request, response, `http://127.0.0.1:${port}`).catch(() => response.destroy())
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})
