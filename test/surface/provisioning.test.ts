import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createPlace } from '../support/processes.ts'

describe('accounts from a list', () => {
  const place = createPlace()
  afterAll(() => place.remove())
  const run = async (...args: string[]) => await place.commonplace(args)
  const apply = async (list: string | object, ...options: string[]) => {
    const file = join(place.folder, 'accounts')
    writeFileSync(file, typeof list === 'string' ? list : JSON.stringify(list))
    return await run('users', 'apply', file, ...options)
  }
  const issuer = 'https://login.example.org'
  const people = async () => JSON.parse((await run('users', 'list')).stdout).users

  it('are made, with their teams, and a second time nothing changes', async () => {
    const list = [
      'name,displayName,role,teams,provider,subject',
      'ada,Ada,admin,crew:maintainer,,',
      `grace,Grace,,crew:editor manuals:maintainer,${issuer},s-1`,
      'linus,,,,,',
    ].join('\n')
    const foreseen = await apply(list, '--dry-run')
    expect([foreseen.code, foreseen.stdout]).toEqual([0, expect.stringContaining('3 would change')])
    expect(await people()).toEqual([])
    const first = await apply(list)
    expect([first.stderr, first.code]).toEqual(['', 0])
    expect(first.stdout).toContain('ada: created, profile changed, rights changed')
    expect(first.stdout).toContain('3 accounts in the list, 3 changed.')
    expect(await people()).toMatchObject([
      { username: 'grace', role: 'user', kind: 'login' },
      { username: 'ada', role: 'admin', kind: 'reserved' },
      { username: 'linus', role: 'user', kind: 'reserved' },
    ])
    expect(JSON.parse((await run('teams', 'list')).stdout).teams).toMatchObject([
      { name: 'crew', members: 2 },
      { name: 'manuals', members: 1 },
    ])
    expect((await apply(list)).stdout).toBe('3 accounts in the list, 0 changed.\n')
  })
})
