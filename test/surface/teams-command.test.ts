import { afterAll, describe, expect, it } from 'vitest'
import { createPlace } from '../support/processes.ts'

describe('teams, on the command line', () => {
  const place = createPlace()
  afterAll(() => place.remove())
  const run = async (...args: string[]) => await place.commonplace(args)
  const read = async (...args: string[]) => JSON.parse((await run(...args)).stdout)

  it('does everything without a browser', async () => {
    for (const name of ['ann', 'ben', 'cleo']) await run('users', 'create', name)
    expect((await run('teams', 'create', 'acme', '--maintainer', 'ann')).stdout).toBe('Created team "acme", maintained by ann.\n')
    expect(await read('set-team-member', 'acme', 'ben', 'editor', '--user', 'ann')).toMatchObject({ username: 'ben', role: 'editor' })
    const refused = await run('set-team-member', 'acme', 'cleo', 'reader', '--user', 'ben')
    expect([refused.code === 0, refused.stderr.includes('only a maintainer can manage its members')]).toEqual([false, true])
    expect((await run('list-team-members', 'acme', '--user', 'cleo')).stderr).toContain('Team not found, or you are not in it.')
    const { prompt } = await read('save-prompt', '--owner', 'acme', '--title', 'Shared', '--content', 'x', '--user', 'ben')
    expect(await read('update-team', 'acme', '--new-name', 'acme-2', '--user', 'ann')).toMatchObject({ name: 'acme-2' })
    expect(await read('show-team', 'acme', '--user', 'ben')).toMatchObject({ name: 'acme-2', role: 'editor', members: 2, prompts: 1 })
    for (const command of ['users invite', 'keys create --name k --user', 'users role'].map((words) => words.split(' '))) {
      const named = [...command, 'acme-2', ...(command[1] === 'role' ? ['admin'] : [])]
      expect((await run(...named)).code, named.join(' ')).not.toBe(0)
    }

    await read('set-team-member', 'acme-2', 'cleo', 'maintainer', '--user', 'ann')
    expect(await read('show-transfer', 'prompts', prompt.slug, '--user', 'cleo')).toMatchObject({
      receivers: [{ name: 'cleo', visibility: 'private' }],
    })
    expect(await read('transfer-item', 'prompts', prompt.slug, 'cleo', '--user', 'cleo')).toMatchObject({ owner: 'cleo' })
    expect((await run('transfer-item', 'prompts', prompt.slug, 'ben', '--user', 'cleo')).stderr).toContain(
      'You are in no team named "ben".',
    )

    expect((await run('users', 'remove', 'cleo', '--hand-over-to', 'acme-2')).stdout).toContain('hand 1 item and the trash to acme-2')
    const removed = await run('users', 'remove', 'cleo', '--hand-over-to', 'acme-2', '--yes')
    expect(removed.stdout).toBe('Deleted cleo. Their items are of acme-2 now.\n')
    expect(await read('show-team', 'acme-2', '--user', 'ben')).toMatchObject({ prompts: 1 })

    await run('users', 'suspend', 'ann')
    expect((await read('teams', 'list', '--orphaned')).teams).toContainEqual(
      expect.objectContaining({ name: 'acme-2', members: 2, items: 1, isOrphaned: true }),
    )
    expect((await run('teams', 'appoint', 'acme', 'ben')).stdout).toBe('ben is now a maintainer of "acme".\n')
    expect((await read('teams', 'list')).teams).toContainEqual(expect.objectContaining({ name: 'acme-2', maintainers: ['ben'] }))
    const events = (await read('list-team-activity', 'acme-2', '--user', 'ben')).events
    expect(events[0]).toMatchObject({ action: 'team_member_role_changed', surface: 'cli' })
    expect((await run('delete-team', 'acme-2', '--user', 'ben')).stderr).toContain('The team owns 1 item, 0 of them in the trash.')
  })
})
