// A real OpenID Connect provider in a process of its own: node test/support/oidc-process.ts PORT REDIRECT_URI
import { createServer } from 'node:http'
import Provider from 'oidc-provider'
import { z } from 'zod'
import { OIDC_CLIENT } from './oidc-client.ts'

const [, , port = '0', redirectUri = ''] = process.argv
const issuer = `http://127.0.0.1:${port}`
/** Claims by account; the tests put them. */
let accounts: Record<string, Record<string, unknown>> = {}

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: OIDC_CLIENT.id,
      client_secret: OIDC_CLIENT.secret,
      // Of such clients the port of a loopback address may be any (RFC 8252, section 7.3).
      application_type: 'native',
      redirect_uris: [redirectUri],
    },
  ],
  claims: { openid: ['sub'], profile: ['name', 'preferred_username', 'groups'], email: ['email', 'email_verified'] },
  pkce: { required: () => true },
  cookies: { keys: ['one key for tests'] },
  findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...accounts[id] }) }),
})
const answer = provider.callback()

createServer((request, response) => {
  if (request.method !== 'PUT' || request.url !== '/accounts') return answer(request, response)
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    accounts = z.record(z.string(), z.record(z.string(), z.unknown())).parse(JSON.parse(Buffer.concat(chunks).toString('utf8')))
    response.writeHead(204).end()
  })
}).listen(Number(port), '127.0.0.1', () => process.stdout.write(`ready ${issuer}\n`))
