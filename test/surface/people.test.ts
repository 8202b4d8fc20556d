import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openAt } from '../support/engines.ts'
import { createPlace } from '../support/processes.ts'
import { PASSWORD } from '../support/visitor.ts'

// In this order: the refusals are about the people that the first test makes.
describe('people, on the command line and on the pages', { shuffle: false }, () => {
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
    const server = await place.serveHere()
    const printed = /(http:\/\/\S+)\/sign-up\?code=([0-9a-f]{20})/.exec(server.stdout())
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
    expect((await run('users', 'role', 'grace', 'admin')).stdout).toBe('grace is now an administrator.\n')
    await run('users', 'create', 'script')
    const listed = async (...args: string[]) => JSON.parse((await run('users', 'list', ...args)).stdout).users
    expect(await listed()).toMatchObject([
      { username: 'ada', role: 'admin', kind: 'login', suspendedAt: null },
      { username: 'grace', role: 'admin', kind: 'login' },
      { username: 'script', role: 'user', kind: 'reserved' },
    ])
    const imported = join(place.folder, 'imported.csv')
    writeFileSync(imported, 'act,prompt,contributor\nPoet,Write a poem.,author\n')
    await run('import', 'prompts', imported, '--user', 'script')
    expect(await listed('--all')).toEqual([...(await listed()), expect.objectContaining({ username: 'author', kind: 'placeholder' })])
    expect((await run('users', 'suspend', 'grace')).stdout).toBe('grace is suspended now.\n')
    const refused = await post(server.url, '/sign-in', { name: 'grace', password: 'a new good one' })
    expect([refused.status, (await refused.text()).includes('This account is suspended.')]).toEqual([403, true])
    expect((await listed())[1].suspendedAt).toMatch(/^20/)
    expect((await run('users', 'suspend', 'ada')).stderr).toContain('This is the only administrator.')
    expect((await run('users', 'hand-over', 'script', 'ada')).code).not.toBe(0)
    expect((await run('users', 'hand-over', 'grace', 'script')).stdout).toBe('0 items of grace handed over to script.\n')
    expect((await run('users', 'unsuspend', 'grace')).stdout).toBe('grace is not suspended now.\n')
    await server.stop()
    const audited = async (...args: string[]) =>
      (await run('audit', ...args)).stdout
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
        .map(({ action, actor, surface, target }) => [action, actor?.name ?? null, surface, target.name])
    expect(await audited('--user', 'grace')).toEqual([
      ['account_unsuspended', null, 'cli', 'grace'],
      ['sessions_ended', null, 'cli', 'grace'],
      ['account_suspended', null, 'cli', 'grace'],
      ['role_changed', null, 'cli', 'grace'],
      ['signed_in', 'grace', 'web', 'grace'],
      ['sign_in_failed', null, 'web', 'grace'],
      ['password_reset', null, 'web', 'grace'],
      ['reset_link_created', null, 'cli', 'grace'],
      ['signed_in', 'grace', 'web', 'grace'],
      ['invite_used', 'grace', 'web', null],
      ['account_created', 'grace', 'web', 'grace'],
    ])
    expect(await audited('--action', 'invite_created', '--since', '2026-01-31')).toEqual([['invite_created', null, 'cli', null]])
    const database = openAt(place.databaseUrl)
    await database.transact((db) =>
      db.updateTable('audit_event').set({ at: '2020-01-01T00:00:00.000Z' }).where('action', '=', 'invite_created').execute(),
    )
    await database.close()
    const again = await place.serveHere()
    expect(again.stdout()).not.toContain('sign-up?code=')
    // The service removes what AUDIT_DAYS no longer keeps.
    await expect.poll(() => audited('--action', 'invite_created')).toEqual([])
    expect(await audited('--action', 'role_changed')).toHaveLength(1)
    await again.stop()
  })

  it.each([
    [['users', 'invite', 'a b'], /may contain only/],
    [['users', 'invite', 'ada'], /already has an account/],
    [['users', 'invite', 'new', '--expires', 'x'], /x/],
    [['users', 'reset-link', 'nobody'], /"nobody" has no account/],
    [['users', 'role', 'ada', 'king'], /choices are user, admin/],
    [['users', 'role', 'nobody', 'admin'], /User "nobody" not found/],
    [['audit', '--user', 'nobody'], /User "nobody" not found/],
    [['audit', '--since', 'yesterday'], /must be a day/],
    [['audit', '--action', 'eaten'], /must be one of: item_created/],
  ])('refuses %o', async (args, message) => {
    const { code, stderr, stdout } = await run(...args)
    expect([code === 0, stdout]).toEqual([false, ''])
    expect(stderr).toMatch(message)
  })
})
