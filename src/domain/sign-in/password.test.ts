import { expect, it } from 'vitest'
import { passwordFault } from './password.ts'

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
