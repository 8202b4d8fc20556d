import type { TestApp } from './test-app.ts'

const ORIGIN = 'http://127.0.0.1:3000'

/** What a page answered. */
interface Visit {
  readonly status: number
  readonly html: string
  /** Where it leads, when it leads on. */
  readonly to: string | null
  readonly headers: Headers
}

/** Somebody with a browser: keeps cookies, sends forms as browsers do, follows nothing by itself. */
export interface Visitor {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Visit>
  post(
    path: string,
    fields: Readonly<Record<string, string | readonly string[]>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Visit>
  /** Sends a form, and goes where it leads. */
  postOn(path: string, fields: Readonly<Record<string, string | readonly string[]>>): Promise<Visit>
  /** A form with files. */
  send(path: string, form: FormData): Promise<Visit>
  cookies(): string
  /** Takes the cookies of another browser, as a thief would. */
  setCookies(cookies: string): void
}

export const PASSWORD = 'a horse that reads'

/** A browser at the service, without a port. */
export function visit(test: Pick<TestApp, 'fetch'>): Visitor {
  const jar = new Map<string, string>()
  const cookies = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
  const go = async (path: string, options: RequestInit, more: Readonly<Record<string, string>> = {}): Promise<Visit> => {
    const headers = new Headers({ accept: 'text/html', ...more })
    if (jar.size > 0) headers.set('cookie', cookies())
    for (const [name, value] of new Headers(options.headers)) headers.set(name, value)
    const response = await test.fetch(path, { ...options, headers, redirect: 'manual' })
    for (const cookie of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split(/=(.*)/s)
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    return { status: response.status, html: await response.text(), to: response.headers.get('location'), headers: response.headers }
  }
  const visitor: Visitor = {
    get: (path, headers) => go(path, {}, headers),
    async postOn(path, fields) {
      const answer = await visitor.post(path, fields)
      return answer.to === null ? answer : await visitor.get(answer.to)
    },
    post(path, fields, headers = {}) {
      const entries = Object.entries(fields).flatMap(([name, value]) =>
        (typeof value === 'string' ? [value] : value).map((one): [string, string] => [name, one]),
      )
      const body = new URLSearchParams(entries).toString()
      return go(path, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: ORIGIN, ...headers },
      })
    },
    send: (path, form) => go(path, { method: 'POST', body: form, headers: { origin: ORIGIN } }),
    cookies,
    setCookies(text) {
      jar.clear()
      for (const part of text.split('; ')) {
        const [name = '', value = ''] = part.split(/=(.*)/s)
        jar.set(name, value)
      }
    },
  }
  return visitor
}

/** Somebody who is signed in: the first one administers, the others come by an invite. */
export async function signUp(test: TestApp, username: string): Promise<Visitor> {
  const visitor = visit(test)
  const isFirst = !(await test.app.store.people.hasLogins())
  const context = test.app.contextFor({ kind: 'anonymous' }, 'rest')
  const { token, sha256 } = context.secrets.makeToken()
  if (!isFirst) {
    await test.app.store.people.createInvite({
      sha256,
      username: null,
      role: 'user',
      expiresAt: new Date(test.app.clock() + 86_400_000).toISOString(),
    })
  }
  const secret = isFirst ? { setupCode: test.app.setupCode } : { invite: token }
  const answer = await visitor.post('/sign-up', { username, password: PASSWORD, ...secret })
  if (answer.status !== 303) throw new Error(`${username} could not sign up: ${answer.status} ${answer.html}`)
  return visitor
}
