import { expect, it } from 'vitest'
import { readHeading, writeHeading } from './read-heading.ts'

it.each([
  ['## Output Format', 'Output Format', 'outputFormat', 'hash', ''],
  ['# 3. Rules #', '3. Rules', 'constraints', 'hash', ''],
  ['**Constraints:**', 'Constraints', 'constraints', 'bold', ''],
  ['**Role**: You are a cook', 'Role', 'role', 'bold', 'You are a cook'],
  ['TASK:', 'TASK', 'task', 'capitals', ''],
  ['Role: a cook', 'Role', 'role', 'label', 'a cook'],
  ['You will:', 'You will', 'steps', 'label', ''],
  ['Fancy Things:', 'Fancy Things', null, 'label', ''],
  ['<examples>', 'examples', 'examples', 'hash', ''],
])('%j is a heading', (line, title, part, kind, rest) => {
  expect(readHeading(line)).toMatchObject({ title, part, style: { kind }, rest })
})

it.each([
  'Write a poem: short',
  'try:',
  'for x in y:',
  'https://example.com',
  '#hashtag',
  'It is late. Note this:',
  '**bold** words in a sentence',
  '```',
  '12:30',
  '',
])('%j is none', (line) => {
  expect(readHeading(line)).toBeNull()
})

it.each([
  [{ kind: 'hash', level: 3 }, '### Output format'],
  [{ kind: 'bold' }, '**Output format:**'],
  [{ kind: 'capitals' }, 'OUTPUT FORMAT:'],
  [{ kind: 'label' }, 'Output format:'],
] as const)('what is written as %j is read again as the same part', (style, written) => {
  expect(writeHeading('Output format', style)).toBe(written)
  expect(readHeading(written)).toMatchObject({ part: 'outputFormat', style })
})
