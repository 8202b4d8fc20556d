import type { ChildProcess } from 'node:child_process'
import { afterAll, describe, expect, it } from 'vitest'
import { createPlace } from '../support/processes.ts'
import { PASSWORD } from '../support/visitor.ts'

/** Ends a service as an operator does. */
async function stopped(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

describe('people, on the command line and on the pages', () => {
  const place = createPlace()
  afterAll(() => place.remove())
  const run = async (...args: string[]) => await place.commonplace(args)
  /** Sends a form as a browser on this machine would, or one behind a proxy. */
  const post = (url: string, path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html', origin: url, ...headers },
      body: new URLSearchParams(fields),
    })

  it('prints an address for the first account, which nobody makes without its code', async () => {
    const server = await place.serve()
    const printed = /(http:\/\/\S+)\/sign-up\?code=([0-9a-f]{20})/.exec(server.stdout)
    expect(printed?.[1]).toBe(server.url)
    const fields = { username: 'ada', password: PASSWORD }
    // From this machine itself, too: a relay on it would make everybody local.
    expect((await post(server.url, '/sign-up', fields)).status).toBe(400)
    expect((await post(server.url, '/sign-up', { ...fields, setupCode: printed?.[2] ?? '' }, { via: 'x' })).status).toBe(303)
    const invited = await run('users', 'invite', 'grace')
    expect([invited.code, invited.stdout]).toEqual([0, expect.stringMatching(/^http:\/\/\S+\/sign-up\?invite=[\w-]{43}\n$/)])
    const invite = new URL(invited.stdout.trim()).searchParams.get('invite') ?? ''
    expect((await post(server.url, '/sign-up', { username: 'grace', password: PASSWORD, invite })).status).toBe(303)
    const reset = await run('users', 'reset-link', 'grace')
    const token = new URL(reset.stdout.trim()).searchParams.get('token') ?? ''
    expect((await post(server.url, '/reset-password', { token, password: 'a new good one' })).status).toBe(303)
    expect((await post(server.url, '/sign-in', { name: 'grace', password: PASSWORD })).status).toBe(401)
    expect((await post(server.url, '/sign-in', { name: 'grace', password: 'a new good one' })).status).toBe(303)
    expect((await run('users', 'role', 'grace', 'admin')).stdout).toBe('grace is an administrator now.\n')
    await run('users', 'create', 'script')
    const listed = (await run('users', 'list')).stdout.split('\n').map((line) => line.split('\t').slice(0, 3).join(' '))
    expect(listed).toEqual(['ada administrator login', 'grace administrator login', 'script user no login', ''])
    await stopped(server.child)
    const again = await place.serve()
    expect(again.stdout).not.toContain('sign-up?code=')
    await stopped(again.child)
  })

  it.each([
    [['users', 'invite', 'a b'], /may hold only/],
    [['users', 'invite', 'ada'], /can sign in already/],
    [['users', 'invite', 'new', '--expires', 'x'], /x/],
    [['users', 'reset-link', 'nobody'], /Nobody called "nobody" can sign in/],
    [['users', 'role', 'ada', 'king'], /must be user or admin/],
    [['users', 'role', 'nobody', 'admin'], /There is no user "nobody"/],
  ])('refuses %o', async (args, message) => {
    const { code, stderr, stdout } = await run(...args)
    expect([code === 0, stdout]).toEqual([false, ''])
    expect(stderr).toMatch(message)
  })
})
