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
  const people = async () => (await run('users', 'list')).stdout.split('\n').filter((line) => line !== '')

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
    expect((await people()).map((line) => line.split('\t').slice(0, 3).join(' '))).toEqual([
      'ada administrator no login',
      'grace user login',
      'linus user no login',
    ])
    expect((await run('teams', 'list')).stdout).toMatch(/crew\t2 members[\s\S]*manuals\t1 member/)
    expect((await apply(list)).stdout).toBe('3 accounts in the list, 0 changed.\n')
  })
})
