import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { endProcess } from './children.ts'
import { findFreePort } from './postgres-server.ts'
import { type Visitor, visit } from './visitor.ts'

/** A provider that runs. */
export interface OidcServer {
  readonly issuer: string
  /** Claims by account. Whoever signs in may give any password. */
  setAccounts(accounts: Readonly<Record<string, Readonly<Record<string, unknown>>>>): Promise<void>
  /** Signs in and consents as somebody with a browser would; gives the address that leads back, without going there. */
  signIn(url: string, account: string): Promise<string>
  stop(): Promise<void>
}

/** Starts oidc-provider in a process of its own. */
export async function startOidcServer(redirectUri: string, port?: number): Promise<OidcServer> {
  const own = port ?? (await findFreePort())
  const program = fileURLToPath(new URL('oidc-process.ts', import.meta.url))
  const child = spawn(process.execPath, [program, String(own), redirectUri], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  const issuer = `http://127.0.0.1:${own}`
  return {
    issuer,
    async setAccounts(accounts) {
      const { status } = await fetch(`${issuer}/accounts`, { method: 'PUT', body: JSON.stringify(accounts) })
      if (status !== 204) throw new Error(`The provider answered ${status}`)
    },
    async signIn(url, account) {
      const visitor = visit({ fetch: (address, options) => fetch(address, options) })
      let [next, form]: [string, Record<string, string> | null] = [url, null]
      for (let step = 0; step < 12; step++) {
        const answer: Awaited<ReturnType<Visitor['get']>> = form ? await visitor.post(next, form) : await visitor.get(next)
        const { status, html, to } = answer
        if (to !== null) {
          next = new URL(to, next).href
          form = null
          if (!next.startsWith(issuer)) return next
          continue
        }
        const prompt = /name="prompt" value="(\w+)"/.exec(html)?.[1]
        const action = /<form[^>]* action="([^"]+)"/.exec(html)?.[1]
        if (prompt === undefined || action === undefined) throw new Error(`The provider answered ${status}: ${html.slice(0, 500)}`)
        next = new URL(action, next).href
        form = { prompt, ...(prompt === 'login' ? { login: account, password: 'any' } : {}) }
      }
      throw new Error('The provider did not come to an end')
    },
    stop: () => endProcess(child, 'SIGKILL'),
  }
}
