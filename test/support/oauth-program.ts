import { createHash, randomBytes } from 'node:crypto'
import { json, readJson, type TestApp } from './test-app.ts'
import type { Visitor } from './visitor.ts'

const ORIGIN = 'http://127.0.0.1:3000'
export const MCP_ADDRESS = `${ORIGIN}/mcp`
export const RETURN_ADDRESS = 'http://127.0.0.1:40123/callback'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** What the token endpoint answered. */
export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly scope: string
  readonly expires_in: number
}

/** A program that signs in by hand, so that each step can be done wrong. */
export interface Program {
  readonly clientId: string
  readonly verifier: string
  /** The address people are sent to. */
  authorizeAt(changes?: Readonly<Record<string, string | null>>): string
  /** Lets a person answer, and gives the code, or what was answered instead. */
  askPerson(
    person: Visitor,
    answer?: { readonly do?: string; readonly scopes?: readonly string[]; readonly reach?: string },
    changes?: Readonly<Record<string, string | null>>,
  ): Promise<URLSearchParams>
  exchange(fields: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>): Promise<Response>
  /** All of it. */
  signIn(person: Visitor, answer?: { readonly scopes?: readonly string[]; readonly reach?: string }): Promise<Tokens>
  refresh(token: string): Promise<Response>
}

/** Registers a program (RFC 7591). */
export async function register(test: TestApp, metadata: object = {}): Promise<Response> {
  const usual = { client_name: 'A program', redirect_uris: [RETURN_ADDRESS], token_endpoint_auth_method: 'none' }
  return await test.fetch('/oauth2/register', json('POST', { ...usual, ...metadata }))
}

/** Registers a program at a service that listens; gives its id. */
export async function registerAt(baseUrl: string, name: string, back: string): Promise<string> {
  const metadata = { client_name: name, redirect_uris: [back], token_endpoint_auth_method: 'none' }
  return (await readJson(await fetch(`${baseUrl}/oauth2/register`, json('POST', metadata)))).client_id
}

/** The path that a program opens in a browser, where nobody looks at its challenge. */
export function authorizePath(baseUrl: string, clientId: string, back: string): string {
  const asked = { response_type: 'code', client_id: clientId, redirect_uri: back, state: 'x', resource: `${baseUrl}/mcp` }
  return `/oauth2/authorize?${new URLSearchParams({ ...asked, code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' })}`
}

/** The address that the page after the consent leads to. */
export function addressBack(html: string): URL {
  const address = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(html)?.[1]
  if (address === undefined) throw new Error(`no way back in: ${html.slice(0, 2000)}`)
  return new URL(address.replaceAll('&amp;', '&'))
}

/** A registered program. */
export async function program(test: TestApp, known?: { clientId: string }): Promise<Program> {
  const clientId = known?.clientId ?? String(Object(await (await register(test)).json())['client_id'])
  const verifier = randomBytes(32).toString('base64url')
  const post = (fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) =>
    test.fetch('/oauth2/token', { method: 'POST', headers: { ...FORM, ...headers }, body: new URLSearchParams(fields).toString() })
  const made: Program = {
    clientId,
    verifier,
    authorizeAt(changes = {}) {
      const params = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: RETURN_ADDRESS,
        state: 'a state',
        scope: 'read write',
        resource: MCP_ADDRESS,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        ...changes,
      }
      const given = Object.entries(params).flatMap(([name, value]) => (value === null ? [] : [[name, value] satisfies [string, string]]))
      return `/oauth2/authorize?${new URLSearchParams(given)}`
    },
    async askPerson(person, answer = {}, changes = {}) {
      const asked = await person.get(made.authorizeAt(changes))
      if (asked.to === null) throw new Error(`${asked.status}: ${asked.html.slice(0, 500)}`)
      const to = new URL(asked.to, ORIGIN)
      if (to.origin !== ORIGIN) return to.searchParams
      const { scopes = ['read', 'write'], reach = '' } = answer
      const fields = { query: to.search.slice(1), do: answer.do ?? 'allow', scopes, reach }
      const answered = await person.post('/oauth2/consent', fields)
      return addressBack(answered.html).searchParams
    },
    exchange: (fields, headers) => post({ client_id: clientId, ...fields }, headers),
    async signIn(person, answer) {
      const back = await made.askPerson(person, answer)
      const answered = await made.exchange({
        grant_type: 'authorization_code',
        code: back.get('code') ?? '',
        redirect_uri: RETURN_ADDRESS,
        code_verifier: verifier,
        resource: MCP_ADDRESS,
      })
      if (answered.status !== 200) throw new Error(`${answered.status}: ${await answered.text()}`)
      return Object(await answered.json())
    },
    refresh: (token) => made.exchange({ grant_type: 'refresh_token', refresh_token: token, resource: MCP_ADDRESS }),
  }
  return made
}

/** Calls a tool, or lists tools, at an address with a token. */
export function callMcp(test: TestApp, token: string | null, body: object = { method: 'tools/list' }, path = '/mcp'): Promise<Response> {
  const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const headers = { ...accept, ...(token === null ? {} : { authorization: `Bearer ${token}` }) }
  return test.fetch(path, { ...json('POST', { jsonrpc: '2.0', id: 1, ...body }), headers })
}
