import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { passwordFault, placeholderNames, usernameFault } from './account.ts'

describe('usernameFault', () => {
  it.each(['a', 'Ann', 'a.b_c-d', '0', 'x'.repeat(63), 'x'.repeat(64)])('takes %s', (name) => {
    expect(usernameFault(name)).toBeNull()
  })

  it.each(['', 'x'.repeat(65), 'a b', 'ä', 'a@b', 'a/b', 'a\n', 'a\0', '用户', '.', '..', 'a.git', 'A.GIT', 'new', 'Admin'])(
    'refuses %j',
    (name) => {
      expect(usernameFault(name)).toEqual(expect.any(String))
    },
  )
})

describe('placeholderNames', () => {
  const names = (contributor: string) => [...placeholderNames(contributor, 'k3k3k3k3')]

  it('are usernames, of signs that may stand in one', () => {
    const contributors = ['ann', 'Ann Lee', 'a@b.c', '用户', '😀', 'repo.git', '.', 'Docs']
    expect(contributors.map((one) => names(one)[0])).toEqual(['ann', 'Ann-Lee', 'a-b.c', '--', '-', 'repo-git', '.-2', 'Docs-2'])
  })

  it('offers others when the first is taken, and ends with the random one', () => {
    const offered = names('ann')
    expect(offered.slice(0, 3)).toEqual(['ann', 'ann-2', 'ann-3'])
    expect(offered.at(-1)).toBe('ann-k3k3k3k3')
    expect(new Set(offered).size).toBe(offered.length)
  })

  it('offers usernames only, whatever the contributor is called', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (contributor) => {
        for (const name of names(contributor)) expect(usernameFault(name)).toBeNull()
      }),
    )
  })
})

it.each(['password', '12345678', 'qwertyuiop', 'iloveyou', 'Trustno1', 'PASSWORD1', 'commonplace', 'Commonplace', 'ｐａｓｓｗｏｒｄ'])(
  'refuses a common one: %s',
  async (password) => {
    expect(await passwordFault(password, [])).toContain('most common')
  },
)

it.each(['correct horse battery staple', 'xK4-vm9-qPz', 'mypasswordis8longer'])('takes another: %s', async (password) => {
  expect(await passwordFault(password, ['ada'])).toBeNull()
})

it('refuses what is too short, too long, repeated, or a name', async () => {
  expect(await passwordFault('short', [])).toContain('at least 8')
  expect(await passwordFault('x'.repeat(129), [])).toContain('at most 128')
  expect(await passwordFault('abababab', [])).toContain('repeats')
  expect(await passwordFault('Ada.Lovelace', ['ada.lovelace'])).toContain('name')
})
