import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { decodeText } from '../../src/domain/skills/skill.ts'
import { readAgentFolder } from '../../src/transfer/agent-folder.ts'
import { createPeople } from '../../src/transfer/export-lists.ts'
import { type ImportEntry, importEntries, importSkills } from '../../src/transfer/import-entries.ts'
import { readUpload } from '../../src/transfer/upload.ts'
import { type TestApp, testApp } from '../support/test-app.ts'

let test: TestApp
let folder: string
beforeEach(async () => {
  test = await testApp()
  folder = mkdtempSync(join(tmpdir(), 'commonplace-importers-'))
})
afterEach(async () => {
  await test.close()
  rmSync(folder, { recursive: true, force: true })
})

const write = (path: string, text: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
const run = (entries: AsyncIterable<ImportEntry>, app = test.app) =>
  importEntries(app.store, entries, { owner: 'ada', visibility: undefined, leavesOutUnknownCategories: true }, createPeople())
const prompts = async () => (await test.app.store.transfer.exportPrompts(null, 0, 100)).map(({ prompt }) => prompt)
const skills = async () => await test.app.store.transfer.exportSkills(null, 0, 200)

describe('a folder of a project', () => {
  const SKILL = '---\nname: tidy\ndescription: Tidies.\n---\nTidy.\n'

  it('gives what agents and editors keep in it, once', async () => {
    write('.github/prompts/review.prompt.md', '---\nmode: agent\ndescription: Reviews code\n---\n\nReview ${input:what:a file}.')
    write('.claude/commands/git/commit.md', '---\ndescription: Commits\nargument-hint: [message]\n---\nCommit $ARGUMENTS')
    write('.claude/skills/tidy/SKILL.md', SKILL)
    write('.claude/skills/tidy/.env', 'KEY=1')
    write('.cursor/rules/style.mdc', '---\nglobs: *.ts\n---\nUse tabs.')
    write('packages/a/AGENTS.md', '# A\n\n## Build\n\nRun make.\n')
    write('README.md', 'Not a prompt')
    write('node_modules/x/AGENTS.md', 'Not ours')
    write('.cursor/rules/empty.mdc', '---\nglobs: *\n---\n')
    writeFileSync(join(folder, 'secret'), 'a secret')
    symlinkSync(join(folder, 'secret'), join(folder, '.claude/commands/link.md'))
    const first = await run(readAgentFolder(folder))
    expect(first).toMatchObject({ read: 7, created: 5, refused: 2 })
    expect(first.remarks.toSorted()).toEqual([
      '.claude/commands/git/commit.md: changed: $ARGUMENTS to ${message}; variables: message.',
      '.claude/commands/link.md refused: is no regular file, and links are not followed.',
      '.claude/skills/tidy: skipped .env.',
      expect.stringMatching(/^\.cursor\/rules\/empty\.mdc refused: content/),
      '.cursor/rules/style.mdc: left out: globs.',
      '.github/prompts/review.prompt.md: left out: mode; changed: ${input:what:a file} to ${what}; variables: what.',
    ])
    expect((await prompts()).map(({ title, content, visibility }) => [title, content, visibility]).toSorted()).toEqual([
      ['Build', '## Build\n\nRun make.\n', 'private'],
      ['git:commit', 'Commit ${message}', 'private'],
      ['review', 'Review ${what}.', 'private'],
      ['style', 'Use tabs.', 'private'],
    ])
    expect((await skills()).map(({ skill, files }) => [skill.title, files.length])).toEqual([['tidy', 1]])
    expect(await run(readAgentFolder(folder))).toMatchObject({ created: 0, updated: 0, unchanged: 5 })
    write('.claude/commands/git/commit.md', 'Commit now')
    expect(await run(readAgentFolder(join(folder, '.claude/commands')))).toMatchObject({ read: 2, updated: 1, refused: 1 })
    expect(await run(readAgentFolder(folder, true))).toMatchObject({ created: 1, unchanged: 4 })
  })

  it('reads what a plugin has, and names what it passes over', async () => {
    write('tool/.claude-plugin/plugin.json', '{}')
    write('tool/commands/ship.md', 'Ship it.')
    write('tool/agents/reviewer.md', '---\nname: reviewer\ndescription: Reviews\n---\nReview it.')
    write('tool/skills/tidy/SKILL.md', SKILL)
    write('commands/none.md', 'Of nobody.')
    write('.gemini/commands/bad.toml', 'prompt = 7')
    write('.continue/prompts/x.md', 'Not read.')
    write('skills/a/SKILL.md', SKILL)
    write('skills/b/SKILL.md', SKILL)
    symlinkSync(join(folder, 'tool/commands'), join(folder, '.claude-link'))
    const report = await run(readAgentFolder(folder))
    expect(report).toMatchObject({ created: 3, refused: 1 })
    expect((await prompts()).map(({ title }) => title).toSorted()).toEqual(['reviewer', 'ship'])
    expect(report.remarks).toEqual([
      '.gemini/commands/bad.toml refused: has no string "prompt" that can be read as TOML.',
      '.claude-link passed over: is a link, and links are not followed.',
      '.continue passed over: the files of this agent are not read.',
      'commands passed over: no .claude-plugin stands beside it, and it is in no folder of an agent.',
      'skills/a and 1 more passed over: SKILL.md outside of the skills of an agent; use import skills.',
    ])
  })

  it('brings a skill up to date whose files changed', async () => {
    write('.claude/skills/tidy/SKILL.md', SKILL)
    await run(readAgentFolder(folder))
    write('.claude/skills/tidy/SKILL.md', `${SKILL}Sweep.\n`)
    expect(await run(readAgentFolder(folder))).toMatchObject({ created: 0, updated: 1, unchanged: 0 })
  })

  it('is refused where there is nothing, or no folder', async () => {
    await expect(run(readAgentFolder(folder))).rejects.toThrow('Nothing to import')
    await expect(run(readAgentFolder(join(folder, 'none')))).rejects.toThrow('is not a readable folder')
  })

  it('gives the same when it is uploaded', async () => {
    const bytes = (text: string) => new TextEncoder().encode(text)
    const entries = await readUpload([
      { filename: 'p/.claude/commands/fix.md', bytes: bytes('---\nargument-hint: [issue]\n---\nFix $1') },
      { filename: 'p/.cursor/rules/a.mdc', bytes: bytes('---\nglobs: *.ts\n---\nRule') },
      { filename: 'p/AGENTS.md', bytes: bytes('## One\na\n## Two\nb') },
      { filename: 'webui.json', bytes: bytes('[{"command":"/a","title":"A","content":"{{x}}"}]') },
      { filename: 'bad.mdc', bytes: Uint8Array.from([0xff]) },
    ])
    expect(entries.map((entry) => (entry.kind === 'prompt' ? [entry.draft.title, entry.draft.content] : [entry.name, entry.kind]))).toEqual(
      [
        ['fix', 'Fix ${issue}'],
        ['a', 'Rule'],
        ['One', '## One\na\n'],
        ['Two', '## Two\nb\n'],
        ['A', '${x}'],
        ['bad.mdc', null],
      ],
    )
  })
})

describe('entries of one title', () => {
  const skill = (name: string, text: string) => `---\nname: ${name}\ndescription: Tidies.\n---\n${text}\n`
  const importFrom = (path: string) => importSkills(test.app.store, join(folder, path), { owner: 'ada', visibility: 'public' })
  const addresses = async () =>
    new Map((await skills()).map(({ skill: { slug }, files }) => [slug, decodeText(files[0]?.bytes ?? new Uint8Array())]))

  it('keep their items and addresses when others come before them', async () => {
    const is = (...texts: string[]) => new Map(texts.map((text, index) => [index === 0 ? 'x' : `x-${index + 1}`, skill('x', text)]))
    for (const text of ['b', 'c']) write(`before/${text}/x/SKILL.md`, skill('x', text))
    await importFrom('before')
    expect(await addresses()).toEqual(is('b', 'c'))
    for (const text of ['a', 'b', 'c']) write(`after/${text}/x/SKILL.md`, skill('x', text))
    expect(await importFrom('after')).toMatchObject({ read: 3, created: 1, updated: 0, unchanged: 2 })
    expect(await addresses()).toEqual(is('b', 'c', 'a'))
    write('after/0/x/SKILL.md', skill('x', '0'))
    write('after/c/x/SKILL.md', skill('x', 'c, again'))
    rmSync(join(folder, 'after/a'), { recursive: true })
    expect(await importFrom('after')).toMatchObject({ created: 1, updated: 1, unchanged: 1 })
    expect(await addresses()).toEqual(is('b', 'c, again', 'a', '0'))
  })

  it('of three repositories, each imported in two versions, move no address', async () => {
    const names = Array.from({ length: 12 }, (_, number) => `skill-${number % 5}`)
    const paths = (version: number) =>
      ['one', 'two', 'three'].flatMap((repository, seed) =>
        names.flatMap((name, number) => {
          if ((number + seed) % 6 === (version === 1 ? 0 : 3)) return []
          const isChanged = version === 2 && (number + seed) % 4 === 0
          return [
            { path: `${repository}/plugins/${number}/skills/${name}`, name, text: `${repository} ${number}${isChanged ? ' changed' : ''}` },
          ]
        }),
      )
    for (const version of [1, 2]) {
      for (const repository of ['one', 'two', 'three']) rmSync(join(folder, repository), { recursive: true, force: true })
      for (const { path, name, text } of paths(version)) write(`${path}/SKILL.md`, skill(name, text))
      const before = await addresses()
      for (const repository of ['one', 'two', 'three']) await importFrom(repository)
      const texts = [...(await addresses()).values()]
      for (const { name, text } of paths(version)) expect(texts).toContain(skill(name, text))
      for (const [slug, text] of before) expect((await addresses()).get(slug)?.replace(' changed', '')).toBe(text)
    }
    // One of each name and place, and none besides.
    expect((await addresses()).size).toBe(new Set([1, 2].flatMap(paths).map(({ path }) => path)).size)
  })

  it('are told apart by their files in an upload too', async () => {
    const actor = { ...(await test.user('bob')).actor, scopes: new Set(['read', 'write', 'account'] as const) }
    const bytes = (text: string) => new TextEncoder().encode(text)
    const upload = async (texts: Record<string, string>) => {
      const files = Object.entries(texts).map(([name, text]) => ({
        filename: `p/.cursor/rules/${name}.mdc`,
        bytes: bytes(`# Persona\n${text}`),
      }))
      const { id } = await test.call(actor, 'check_import', { files })
      const { entries } = await test.call(actor, 'show_import', { id })
      await test.call(actor, 'run_import', { id })
      return z
        .array(z.object({ outcome: z.string() }))
        .parse(entries)
        .map(({ outcome }) => outcome)
    }
    expect(await upload({ b: 'B', c: 'C' })).toEqual(['created', 'created'])
    const before = new Map((await prompts()).map(({ id, content }) => [id, content]))
    expect(await upload({ a: 'A', b: 'B, changed', c: 'C' })).toEqual(['created', 'updated', 'unchanged'])
    for (const { id, content } of await prompts()) expect(content.replace(', changed', '')).toBe(before.get(id) ?? '# Persona\nA')
  })
})

it('keeps programs of a zip that come without #! executable', async () => {
  const actor = { ...(await test.user('zoe')).actor, scopes: new Set(['read', 'write', 'account'] as const) }
  const skill = strToU8('---\nname: run\ndescription: Runs.\n---\n')
  const unix = (mode: number) => ({ os: 3, attrs: (0o100000 | mode) << 16 })
  const bytes = zipSync({ 'run/SKILL.md': [skill, unix(0o644)], 'run/go': [strToU8('echo'), unix(0o755)] })
  const { id } = await test.call(actor, 'check_import', { files: [{ filename: 'run.zip', bytes }] })
  await test.call(actor, 'run_import', { id })
  const [found] = (await test.app.store.items.searchItems(actor, 'skill', { query: null, filter: {}, sort: 'newest', limit: 1, offset: 0 }))
    .items
  const files = await test.app.store.items.readSkillFiles(actor, found?.id ?? '')
  expect(files.map(({ filename, mode }) => [filename, mode])).toEqual([
    ['SKILL.md', 0o644],
    ['go', 0o755],
  ])
})

describe('the report', () => {
  it('says first why entries were refused, which no other remark cuts', async () => {
    const rule = (text: string) => `---\nglobs: *.ts\n---\n${text}`
    for (let number = 0; number < 210; number++) write(`.cursor/rules/a${number}.mdc`, rule(`Rule ${number}.`))
    write('.cursor/rules/z.mdc', rule(''))
    const report = await run(readAgentFolder(folder))
    expect(report.remarks[0]).toMatch(/^\.cursor\/rules\/z\.mdc refused: content/)
    expect([report.refused, report.remarks.length, report.moreRemarks]).toEqual([1, 201, 10])
  })

  it('names links, other encodings, and a skill that holds others, for what they are', async () => {
    write('all/one/SKILL.md', '---\nname: one\ndescription: d\n---\n')
    write('all/one/inner/SKILL.md', '---\nname: inner\ndescription: d\n---\n')
    write('all/u16/SKILL.md', '')
    writeFileSync(join(folder, 'all/u16/SKILL.md'), Buffer.from('\ufeff---\nname: u16\n---\n', 'utf16le'))
    write('all/linked/README.md', '')
    symlinkSync(join(folder, 'all/one/SKILL.md'), join(folder, 'all/linked/SKILL.md'))
    symlinkSync(join(folder, 'all/one'), join(folder, 'all/folder'))
    const options = { owner: 'ada', visibility: undefined }
    const { remarks } = await importSkills(test.app.store, join(folder, 'all'), options)
    expect(remarks).toEqual([
      'folder passed over: is a link, and links are not followed.',
      'linked/SKILL.md passed over: is a link, and links are not followed.',
      'Skill one: 1 other SKILL.md below it, such as inner/SKILL.md, are files of this skill.',
      'Skill u16: SKILL.md is UTF-16, not UTF-8.',
    ])
    await expect(importSkills(test.app.store, join(folder, 'all/linked'), options)).rejects.toThrow('SKILL.md: is a link')
    for (let number = 0; number < 513; number++) write(`all/one/many/${number}.txt`, '')
    const refused = await importSkills(test.app.store, join(folder, 'all/one'), options)
    expect(refused.remarks[0]).toMatch(/more than 512 files\. The SKILL\.md at its top makes the whole folder one skill/)
  })
})
