import { expect } from 'vitest'
import { CLIENTS, type Connection, installedVersion, LETTER, type Library, type TestedClient, type UserAnswer } from './clients.ts'

/** What each client is put through, and the page that says so. */

export interface Column {
  readonly title: string
  /** One sentence for the page. */
  readonly meaning: string
  /** What the user answers when asked; null for a client that cannot ask. */
  readonly answer: UserAnswer
  /** Why this client cannot do it by its nature; undefined when it can. */
  cannot(client: TestedClient): string | undefined
  check(connection: Connection, library: Library, client: TestedClient): Promise<void>
}

/** A column with a client that cannot ask its user, and does not. */
function plainColumn(title: string, meaning: string, check: Column['check'], cannot: Column['cannot'] = () => undefined): Column {
  return {
    title,
    meaning,
    answer: null,
    cannot,
    async check(connection, library, client) {
      await check(connection, library, client)
      expect(connection.asked).toEqual([])
    },
  }
}

/** A column in which the user is asked by get_prompt and again by prompts/get. */
function askingColumn(title: string, meaning: string, answer: UserAnswer, expected: { tool: string; prompt: string }): Column {
  return {
    title,
    meaning,
    answer,
    cannot: (client) => client.cannot.elicit,
    async check(connection, { letter }) {
      const got = JSON.parse((await connection.callTool('get_prompt', { id: letter.slug })).text)
      expect(got.content).toBe(expected.tool)
      expect(connection.asked).toEqual([['who', 'topic']])
      expect(await connection.getPrompt(letter.slug)).toBe(expected.prompt)
      expect(connection.asked).toEqual([['who', 'topic'], ['who']])
    },
  }
}

export const COLUMNS: readonly Column[] = [
  plainColumn('Tools', '`tools/list` names every tool.', async (connection) => {
    expect(await connection.listTools()).toEqual(
      [
        'search_prompts get_prompt save_prompt improve_prompt search_skills get_skill save_skill add_file_to_skill',
        'update_skill_file remove_file_from_skill update_prompt related_items check_item list_collections add_to_collection',
        'list_categories',
      ].flatMap((line) => line.split(' ')),
    )
  }),
  plainColumn('Search', '`search_prompts` finds prompts, and returns the same as text and as structured content.', async (connection) => {
    const found = await connection.callTool('search_prompts', { query: 'security review', limit: 2 })
    expect(found.isError).toBe(false)
    const result = JSON.parse(found.text)
    expect(found.structured).toEqual(result)
    expect([result.count, result.prompts.length]).toEqual([2, 2])
    expect(result.prompts[0].title).toBe('Security review of a change')
  }),
  askingColumn(
    'Form accepted',
    "`get_prompt` and `prompts/get` ask for the variables and fill in the user's values.",
    { action: 'accept', content: { who: 'Ada' } },
    { tool: 'Write to Ada about tea.', prompt: 'Write to Ada about tea.' },
  ),
  askingColumn(
    'Form declined',
    'They ask and the user declines: the variables stay in the text.',
    { action: 'decline' },
    { tool: LETTER, prompt: 'Write to ${who} about tea.' },
  ),
  plainColumn('No form', 'A client that cannot ask its user gets the raw text at once.', async (connection, { letter }) => {
    expect(JSON.parse((await connection.callTool('get_prompt', { id: letter.slug })).text).content).toBe(LETTER)
  }),
  plainColumn(
    'Save',
    'With a key, `save_prompt` saves a private prompt, which can then be read and filled in.',
    async (connection, _, client) => {
      const title = `Saved by ${client.name}`
      const saved = await connection.callTool('save_prompt', { title, content: 'Greet ${who} with ${what:a smile}', tags: ['e2e'] })
      const { prompt } = JSON.parse(saved.text)
      expect(prompt).toMatchObject({ title, isPrivate: true, author: 'demo' })
      const filled = JSON.parse((await connection.callTool('get_prompt', { id: prompt.id, variables: { who: 'Ada' } })).text)
      expect(filled.content).toBe('Greet Ada with a smile')
      expect(await connection.getPrompt(prompt.slug, { who: 'Ada', what: 'tea' })).toBe('Greet Ada with tea')
    },
  ),
  plainColumn('All prompts', '`prompts/list` names every prompt once over all its pages.', async (connection, { promptCount }) => {
    const names = new Set<string>()
    let pages = 0
    let cursor: string | undefined
    do {
      const page = await connection.listPrompts(cursor)
      for (const one of page.names) {
        expect(names.has(one), one).toBe(false)
        names.add(one)
      }
      cursor = page.nextCursor
      pages++
    } while (cursor !== undefined && pages < 60)
    expect(pages).toBeLessThanOrEqual(40)
    expect(names.size).toBeGreaterThanOrEqual(promptCount)
  }),
  plainColumn('One prompt', '`prompts/get` works with and without arguments.', async (connection, { letter }) => {
    expect(await connection.getPrompt(letter.slug, { who: 'Ada', topic: 'cake' })).toBe('Write to Ada about cake.')
    expect(await connection.getPrompt(letter.id)).toBe('Write to ${who} about tea.')
  }),
  plainColumn(
    'Skill as a resource',
    '`resources/list` names skills, and `resources/read` returns a whole SKILL.md.',
    async (connection, { skillCount }) => {
      const uris = await connection.listResources()
      expect(uris.length).toBe(skillCount)
      const uri = uris.find((one) => one.endsWith('/SKILL.md')) ?? ''
      const name = uri.split('/').at(-2) ?? ''
      const text = await connection.readResource(uri)
      const skill = JSON.parse((await connection.callTool('get_skill', { id: name })).text)
      expect(skill.files.find((file: { filename: string }) => file.filename === 'SKILL.md').content).toBe(text)
    },
  ),
  plainColumn(
    'Skills verified',
    '`skills/list` of the skills extension lists every skill, and every file matches its digest (the Inspector: `--verify`).',
    async (connection, { skillCount }) => {
      expect(await connection.verifySkills?.()).toBe(skillCount)
    },
    (client) => client.cannot.verifySkills,
  ),
]

/** The name of a cell in what passed. */
export const cellOf = (client: TestedClient, column: Column) => `${client.name}: ${column.title}`

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

/** The page. A cell is "pass", "FAIL", or "n/a" with the number of the note that says why. */
export function clientsPage(passed: ReadonlySet<string>): string {
  const notes: string[] = []
  const cell = (client: TestedClient, column: Column): string => {
    const reason = column.cannot(client)
    if (reason === undefined) return passed.has(cellOf(client, column)) ? 'pass' : 'FAIL'
    if (!notes.includes(reason)) notes.push(reason)
    return `n/a <sup>${notes.indexOf(reason) + 1}</sup>`
  }
  const header = ['Client', ...COLUMNS.map((column) => column.title)]
  const rows = CLIENTS.map((client) => row([client.name, ...COLUMNS.map((column) => cell(client, column))]))
  const packages = [...new Set(CLIENTS.map((client) => client.package))]
  return `<!-- Made by \`npm run docs:clients\` from what the clients did; edit test/support/client-matrix.ts instead. -->

# Clients

\`npm run test:long\` runs these clients against the built program, over HTTP or stdio, and fails if a result differs from this table.

${[row(header), `|${' --- |'.repeat(header.length)}`, ...rows].join('\n')}

${notes.map((note, index) => `${index + 1}. ${note}`).join('\n')}

## What each column means

${COLUMNS.map((column) => `- **${column.title}**: ${column.meaning}`).join('\n')}

## Which clients

${packages
  .map((name) => {
    const names = CLIENTS.filter((client) => client.package === name).map((client) => client.name)
    return `- \`${name}\` ${installedVersion(name)}: ${names.join('; ')}`
  })
  .join('\n')}

To connect a client, see [connect.md](connect.md).

## Programs that install skills

\`test/long/install-clients.test.ts\` runs these with 150 public and 20 private skills. An install link gives the private ones too, until it is revoked, and what is removed from the library is no longer listed. \`npm run setup:clients\` installs the programs.

| Program | From | Installs | Update |
| --- | --- | --- | --- |
| \`skills\` 1.7.4 | well-known index, Git | all 150; one skill | the one that changed |
| OpenCode 1.18.33 | well-known index | all 150 | the one that changed |
| Claude Code 2.1.330 | plugin marketplace, https; also with a key | all 150 as one plugin, or one | the one that changed |
| Claude Code 2.1.330, Codex 0.169.0, Copilot CLI 1.0.102 | Git | one plugin | takes the change |
| Gemini CLI 0.61.0 | Git | one skill | by the same command |

To install skills, see [install.md](install.md).
`
}
