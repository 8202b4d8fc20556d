import { expect, it } from 'vitest'
import { suggestWords } from './completion-command.ts'
import { createProgram } from './program.ts'

it.each([
  ['us', ['users']],
  ['users ro', ['role']],
  ['users role ada ', ['user', 'admin']],
  ['delete ', ['prompts', 'skills']],
  ['users list ', ['--all', '--json', '--help']],
  ['users list --json --', ['--all', '--help']],
  ['list-prompts --type S', ['STRUCTURED']],
  ['list-prompts --type=S', ['--type=STRUCTURED']],
  ['list-prompts --type = S', ['STRUCTURED']],
  ['list-prompts --type =', ['TEXT', 'STRUCTURED', 'IMAGE', 'VIDEO', 'AUDIO']],
  ['list-prompts --type=TEXT --typ', []],
  ['save-prompt --title users --visib', ['--visibility']],
  // A file, a name and a text of one's own.
  ['import prompts ', []],
  ['whoami --user ', []],
  ['search foo bar ', []],
])('suggests after "%s": %j', (line, expected) => {
  expect(suggestWords(createProgram(), line.split(' ')).map(({ word }) => word)).toEqual(expected)
})

it('leaves out what nobody types', () => {
  const words = suggestWords(createProgram(), ['']).map(({ word }) => word)
  expect(words).toContain('completion')
  expect(words).not.toContain('complete')
})
