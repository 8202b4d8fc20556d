import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { isId } from './addresses.ts'

it('knows every random UUID', () => {
  for (let i = 0; i < 100; i++) expect(isId(randomUUID())).toBe(true)
})

it.each([
  '',
  '3f2b8c1d-9a4e-4b7c-8d21-0123456789a',
  '3f2b8c1d-9a4e-4b7c-8d21-0123456789abc',
  '3F2B8C1D-9A4E-4B7C-8D21-0123456789AB',
  '3f2b8c1d9a4e4b7c8d210123456789ab',
  '3g2b8c1d-9a4e-4b7c-8d21-0123456789ab',
  ' 3f2b8c1d-9a4e-4b7c-8d21-0123456789ab',
  '3f2b8c1d-9a4e-4b7c-8d21-0123456789ab\n',
  'code-review',
])('%j is no id', (text) => {
  expect(isId(text)).toBe(false)
})
