import { expect, it } from 'vitest'
import { askableVariables } from './ask-variables.ts'

it.each([
  ['topic', true],
  ['passenger', true],
  ['password', false],
  ['API key', false],
  ['access_token', false],
  ['__proto__', false],
])('a form that asks for "%s": %s', (name, isAsked) => {
  expect(askableVariables([{ name, required: true }]).length).toBe(isAsked ? 1 : 0)
})
