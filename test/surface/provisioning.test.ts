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

  it('lose what the list gave and no longer has, and keep what others gave', async () => {
    await run('set-team-member', 'crew', 'linus', 'reader', '--user', 'ada')
    const list = [
      { name: 'ada', role: 'admin', teams: ['crew:maintainer'] },
      { name: 'grace', provider: issuer, subject: 's-1', teams: ['manuals:maintainer'] },
      { name: 'linus', teams: [] },
    ]
    expect((await apply(list)).stdout).toBe('grace: rights changed\n3 accounts in the list, 1 changed.\n')
    expect((await run('list-team-members', 'crew', '--user', 'ada', '--json')).stdout).toMatch(/"linus"/)
    expect((await run('list-team-members', 'crew', '--user', 'ada', '--json')).stdout).not.toMatch(/"grace"/)
  })

  it('with an identity never get the name of somebody else', async () => {
    const list = [{ name: 'ada', provider: issuer, subject: 's-2' }]
    expect((await apply(list)).stdout).toContain('ada-2: created, as ada-2: the name ada was not free')
    expect((await apply(list)).stdout).toBe('1 account in the list, 0 changed.\n')
  })

  it('are suspended, and their items handed over, when the list says so or misses them', async () => {
    await run('save-prompt', '--user', 'linus', '--title', 'Kept', '--content', 'text')
    const left = await apply([{ name: 'linus', state: 'suspended', handOverTo: 'crew' }])
    expect(left.stdout).toBe('linus: suspended, 1 item handed over to crew\n1 account in the list, 1 changed.\n')
    expect((await apply([{ name: 'linus', state: 'suspended', handOverTo: 'crew' }])).stdout).toContain('0 changed')
    const missing = await apply([{ name: 'grace', provider: issuer, subject: 's-1' }], '--suspend-missing')
    expect(missing.stdout).toBe('ada-2: suspended\n1 account in the list, 1 changed.\n')
    expect((await apply([{ name: 'ada', provider: issuer, subject: 's-2' }])).stdout).toContain('ada-2: unsuspended')
    expect((await apply([{ name: 'ada', provider: issuer, subject: 's-2', state: 'removed' }])).stdout).toContain('ada-2: removed')
    expect((await apply([{ name: 'ada', provider: issuer, subject: 's-2', state: 'removed' }])).stdout).toContain('0 changed')
  })

  it('are refused with the entry and the field where the list is wrong, before anything changes', async () => {
    const before = await people()
    for (const [list, fault] of [
      ['name,teams\nzoe,crew:boss\n', 'Account 1: teams "crew:boss" is no TEAM:ROLE'],
      ['name,color\nzoe,red\n', 'Account 1'],
      ['{"a":1}', 'must be an array'],
      ['[', 'not valid JSON'],
      ['name,email\n"zoe', 'not valid CSV'],
      ['name\nzoe\nZoe\n', 'Account 2: Zoe is in the list twice.'],
      ['name\n../etc\n', 'Account 1: the name'],
      ['name,subject\nzoe,x\n', 'provider and subject go together'],
      ['name,handOverTo\nzoe,crew\n', 'handOverTo is for accounts that are suspended or removed'],
    ] as const) {
      const refused = await apply(list)
      expect([refused.code, refused.stderr.includes(fault)], `${fault}\n${refused.stderr}`).toEqual([64, true])
    }
    expect(await people()).toEqual(before)
  })

  it('mean the account somebody signs in to only where that is said', async () => {
    await apply([{ name: 'sam', provider: issuer, subject: 's-9' }])
    const refused = await apply([{ name: 'sam', role: 'admin' }])
    expect([refused.code, refused.stderr]).toEqual([64, expect.stringContaining('Add provider and subject, or --by-name')])
    expect((await apply([{ name: 'sam', displayName: 'Sam' }], '--by-name')).stdout).toContain('sam: profile changed')
    const password = await apply([{ name: 'sam', provider: 'credential', subject: 'x' }])
    expect(password.stderr).toContain('provider must be the address of an issuer, or proxy')
  })

  it('are applied one by one: a fault of one stops no other, and nobody is suspended for it', async () => {
    const answered = await apply([{ name: 'crew' }, { name: 'zoe' }], '--suspend-missing')
    expect([answered.code, answered.stdout]).toEqual([64, 'zoe: created\n2 accounts in the list, 1 changed.\n'])
    expect(answered.stderr).toContain('Account 1, crew: A team has this name.')
  })
})
