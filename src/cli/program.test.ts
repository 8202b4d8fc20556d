import { expect, it } from 'vitest'
import { createProgram } from './program.ts'

it('lists every command below a heading, those that are used most first', () => {
  const lines = createProgram().helpInformation().split('\n')
  const headings = lines.filter((line) => /^[A-Z][^:]*:$/.test(line))
  expect(headings.slice(0, 4)).toEqual(['Options:', 'Run the service:', 'Find and use:', 'Save and change:'])
  expect(headings).not.toContain('Commands:')
  expect(lines.filter((line) => line.includes('. '))).toEqual([])
})
