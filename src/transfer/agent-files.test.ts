import { expect, it } from 'vitest'
import { readAgentFile, readEditorPrompt } from './agent-files.ts'

const one = (filename: string, text: string, isWhole = false) =>
  (readAgentFile(filename, text, isWhole) ?? []).map(({ name, row, remarks }) => [name, row.title, row.description, row.content, remarks])

it('reads commands of Claude Code with their arguments as variables', () => {
  const text = [
    '---',
    'description: Review a pull request',
    'argument-hint: [pr-number] [priority]',
    'allowed-tools: Bash(git:*)',
    '---',
    '',
    'Review PR $1 with priority $2, $3 for $1.50 or $100. All: $ARGUMENTS and $ARGUMENTS[0]. !`git status`',
  ].join('\n')
  expect(one('p/.claude/commands/git/review.md', text)).toEqual([
    [
      'p/.claude/commands/git/review.md',
      'git:review',
      'Review a pull request',
      'Review PR ${pr-number} with priority ${priority}, ${argument_3} for $1.50 or $100. All: ${arguments} and ${pr-number}. !`git status`',
      [
        'left out: allowed-tools',
        'commands in !`…` stay as text',
        'changed: $1 to ${pr-number}, $2 to ${priority}, $3 to ${argument_3}, $ARGUMENTS[0] to ${pr-number}, $ARGUMENTS to ${arguments}',
      ],
    ],
  ])
  expect(one('.claude/commands/fix.md', '---\nargument-hint: [issue]\n---\nFix $ARGUMENTS')[0]?.slice(1, 4)).toEqual([
    'fix',
    null,
    'Fix ${issue}',
  ])
  expect(one('.claude/commands/bare.md', 'Do $ARGUMENTS')[0]?.[3]).toBe('Do ${arguments}')
  expect(readAgentFile('commands/x.md', 'text')).toBeNull()
})

it('takes numbers for arguments only where a command has some, and never in code', () => {
  const code = 'Run `awk "{print $1}"`:\n```sh\necho "$1" # `\n```\nCosts $5. Escaped: \\$1, $$1.'
  expect(one('.claude/commands/x.md', code)).toEqual([['.claude/commands/x.md', 'x', null, code, []]])
  const [command] = one('.claude/commands/x.md', `${code}\n\nFix $1 with $2. $ARGUMENTS`)
  expect(command?.slice(3)).toEqual([
    `${code}\n\nFix \${argument_1} with \${argument_2}. \${arguments}`,
    ['stays as text in code: $1', 'changed: $1 to ${argument_1}, $2 to ${argument_2}, $ARGUMENTS to ${arguments}'],
  ])
  expect(one('.claude/commands/x.md', '---\nargument-hint: [a] [b]\n---\nFix $2.')[0]?.[3]).toBe('Fix ${b}.')
})

it('reads rules of Cursor, whose frontmatter is often no YAML', () => {
  expect(
    one(
      '.cursor/rules/code-style.mdc',
      '---\ndescription: "Style: all"\nglobs: *.ts,*.tsx\nalwaysApply: false\n---\n\nUse tabs --- always.',
    ),
  ).toEqual([['.cursor/rules/code-style.mdc', 'code style', 'Style: all', 'Use tabs --- always.', ['left out: globs, alwaysApply']]])
  expect(one('a.mdc', '---\ndescription:\nglobs:\n---\n# Title\nText')[0]?.slice(1)).toEqual(['Title', null, '# Title\nText', []])
  expect(one('a.mdc', 'Text alone')[0]?.slice(1)).toEqual(['a', null, 'Text alone', []])
})

it('splits AGENTS.md at second-level headings outside of code, or takes it whole', () => {
  const text = '# Project\n\nIntro.\n\n## Build\n\n```sh\n## no heading\n```\n\n## Empty\n\n## Test ##\nRun it.\n'
  expect(one('AGENTS.md', text).map(([name, title, , content]) => [name, title, content])).toEqual([
    ['AGENTS.md, 0', 'Project', '# Project\n\nIntro.\n'],
    ['AGENTS.md, 1', 'Build', '## Build\n\n```sh\n## no heading\n```\n'],
    ['AGENTS.md, 3', 'Test', '## Test ##\nRun it.\n'],
  ])
  expect(one('x/AGENTS.md', text, true)).toEqual([['x/AGENTS.md', 'Project', null, text, []]])
  expect(one('AGENTS.md', 'Text')).toEqual([['AGENTS.md', 'AGENTS', null, 'Text\n', []]])
})

it.each([
  ['.cursor/commands/fix.md', 'Fix it.', 'fix', null, 'Fix it.', []],
  ['.codex/prompts/a.md', 'Do $ARGUMENTS', 'a', null, 'Do ${arguments}', ['changed: $ARGUMENTS to ${arguments}']],
  ['x/plugins/p/commands/git/a.md', 'Text', 'git:a', null, 'Text', []],
  ['.windsurf/workflows/ship.md', '---\ndescription: Ships\n---\nShip.', 'ship', 'Ships', 'Ship.', []],
  ['.clinerules/workflows/ship.md', 'Ship.', 'ship', null, 'Ship.', []],
  [
    '.claude/agents/a.md',
    '---\nname: r\ndescription: Use: it\ntools: x\n---\nB',
    'r',
    'Use: it',
    'B',
    [expect.anything(), 'left out: tools'],
  ],
  ['.github/agents/plan.agent.md', '---\ndescription: d\n---\nB', 'plan', 'd', 'B', []],
  ['plugins/p/agents/x.md', 'B', 'x', null, 'B', []],
  ['.github/instructions/ts.instructions.md', '---\napplyTo: "**"\n---\nB', 'ts', null, 'B', ['left out: applyTo']],
  ['.windsurf/rules/a-b.md', '---\ntrigger: always_on\n---\nB', 'a b', null, 'B', ['left out: trigger']],
  ['.clinerules/style.md', '# Style\nB', 'Style', null, '# Style\nB', []],
  ['.clinerules', 'B', 'clinerules', null, 'B', []],
  ['p/.cursorrules', 'B', 'cursorrules', null, 'B', []],
  ['CLAUDE.md', 'B', 'CLAUDE', null, 'B\n', []],
  ['GEMINI.md', '# G\nB', 'G', null, '# G\nB\n', []],
  ['.github/copilot-instructions.md', 'B', 'copilot-instructions', null, 'B\n', []],
  [
    '.gemini/commands/git/fix.toml',
    'description = "Fixes \\"it\\""\nprompt = """\nFix {{args}} \\\n  now: !{git status}\n"""',
    'git:fix',
    'Fixes "it"',
    'Fix ${args} now: !{git status}\n',
    ['commands in !{…} and files in @{…} stay as text', 'changed: {{args}} to ${args}'],
  ],
  ['.gemini/commands/a.toml', "prompt = '''\nA \\d'''", 'a', null, 'A \\d', []],
])('reads %s', (filename, text, title, description, content, remarks) => {
  expect(one(filename, text)).toEqual([[filename, title, description, content, remarks]])
})

it('refuses TOML without a prompt, and reads no other files', () => {
  expect(() => readAgentFile('.gemini/commands/a.toml', 'prompt = 7')).toThrow('no string "prompt"')
  for (const name of ['a.toml', 'README.md', 'agents/x.md', '.github/x.md', 'rules/x.md']) expect(readAgentFile(name, 'B'), name).toBeNull()
})

it('turns the inputs of VS Code into variables, and leaves files of this library as they are', () => {
  const text = 'Write ${input:name:Your name} in ${input:lang} for ${file}.'
  const matter = new Map(Object.entries({ mode: 'agent', tools: '[x]' }))
  const content = 'Write ${name} in ${lang} for ${file}.'
  expect(readEditorPrompt(matter, text)).toEqual({
    content,
    remarks: ['left out: mode, tools', 'changed: ${input:name:Your name} to ${name}, ${input:lang} to ${lang}'],
  })
  expect(readEditorPrompt(new Map([['type', 'TEXT']]), text)).toEqual({ content: text, remarks: [] })
})

it('takes time that grows with the text alone', () => {
  // Quadratic time would outlast the test.
  for (const text of [
    '## '.repeat(300_000),
    '#'.repeat(900_000),
    '---\n'.repeat(200_000),
    '['.repeat(900_000),
    '$ARGUMENTS['.repeat(80_000),
  ]) {
    for (const name of ['.claude/commands/x.md', 'x.mdc', 'AGENTS.md']) {
      expect(readAgentFile(name, `---\nargument-hint: ${text}\n---\n${text}`)).toBeDefined()
    }
  }
})
