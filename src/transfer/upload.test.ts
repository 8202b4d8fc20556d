import { type Zippable, zipSync } from 'fflate'
import { expect, it } from 'vitest'
import { MAX_FILE_BYTES } from '../domain/skills/skill.ts'
import { readUpload } from './upload.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

it('stops reading files that take too long, also in a zip', async () => {
  let now = 0
  const slow = () => (now += 2_000)
  const files = Array.from({ length: 5 }, (_, n) => ({ filename: `${n}.md`, bytes: bytes('Text.') }))
  await expect(readUpload(files, slow)).rejects.toMatchObject({ code: 'too_large' })
  const zip = zipSync(Object.fromEntries(files.map((file) => [file.filename, file.bytes])))
  await expect(readUpload([{ filename: 'a.zip', bytes: zip }], slow)).rejects.toMatchObject({ code: 'too_large' })
  expect(await readUpload(files, () => 0)).toHaveLength(5)
})

it('reads tags of a frontmatter in each form they are written in', async () => {
  const read = async (tags: string) => {
    const [entry] = await readUpload([{ filename: 'a.md', bytes: bytes(`---\ntitle: A\n${tags}\n---\nText.`) }])
    return entry?.kind === 'prompt' ? entry.draft.tags : entry
  }
  for (const tags of ['tags:\n  - one\n  - "two words"', 'tags: [one, two words]', 'tags: one, two words', "tags: ['one', 'two words']"]) {
    expect(await read(tags), tags).toEqual(['one', 'two words'])
  }
  expect(await read('other: x')).toEqual([])
})

it('reads Markdown whose frontmatter is no YAML field by field, and takes text between two rules as text', async () => {
  const read = async (text: string) => (await readUpload([{ filename: 'a.md', bytes: bytes(text) }]))[0]
  expect(await read('---\ntitle: Sum: up\ntype: command\ntags: [a, b, c, d, e, f, g, h, i, j, k]\n---\nText.')).toMatchObject({
    draft: {
      title: 'Sum: up',
      content: 'Text.',
      type: 'TEXT',
      tags: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'],
      remark: expect.stringMatching(/^"title" in line 2 is not valid YAML.*; left out: type "command".*; 1 of its tags were left out$/),
    },
  })
  expect(await read('---\nSum up.\ntitle: Sum: up\n---\nText.')).toMatchObject({ fault: expect.stringMatching(/not valid YAML in line 2/) })
  expect(await read('---\nSum up\n---\nText.')).toMatchObject({ draft: { content: '---\nSum up\n---\nText.' } })
  expect(await read('\n---\ntitle: Sum: up\n---\nText.')).toMatchObject({ draft: { content: '---\ntitle: Sum: up\n---\nText.' } })
})

it('names a prompt by its frontmatter, its first heading, or its file', async () => {
  const titleOf = async (filename: string, text: string) => {
    const [entry] = await readUpload([{ filename, bytes: bytes(text) }])
    return entry?.kind === 'prompt' ? entry.draft.title : entry
  }
  expect(await titleOf('x.md', '---\ntitle: Told\n---\n# Heading\nText.')).toBe('Told')
  expect(await titleOf('x.md', '# Heading #\nText.')).toBe('Heading')
  expect(await titleOf('a/release-notes_short.prompt.md', 'Text.')).toBe('release notes short')
  expect(await titleOf('x.md', '---\nname: a-name\n---\nText.')).toBe('a-name')
})

it('reads an archive though single files in it cannot be read, and names those', async () => {
  const skill = bytes('---\nname: s\ndescription: d\n---\n')
  const link: Zippable = { 'r/CLAUDE.md': [bytes('AGENTS.md'), { os: 3, attrs: 0o120777 << 16 }] }
  const files: Zippable = {
    'r/one/SKILL.md': skill,
    'r/one/.env.example': bytes('A='),
    'r/one/ref.py': bytes('-----BEGIN PRIVATE KEY-----\n'),
    'r/two/SKILL.md': skill,
    'r/two/notes: v1.md': bytes('x'),
    'r/three/SKILL.md': skill,
    'r/three/big.bin': new Uint8Array(MAX_FILE_BYTES + 1),
    'r\\four\\SKILL.md': skill,
    'r\\four\\a\\b.md': bytes('x'),
    'r/big.md': new Uint8Array(MAX_FILE_BYTES + 1),
    [`r/${'long'.repeat(200)}.md`]: bytes('x'),
    '__MACOSX/r/._SKILL.md': bytes('x'),
  }
  const archive = Buffer.from(zipSync({ ...link, ...files, 'r/caf?.md': bytes('x') }))
  for (let at = archive.indexOf('caf?'); at !== -1; at = archive.indexOf('caf?', at + 1)) archive[at + 3] = 0xe9
  const entries = await readUpload([{ filename: 'r.zip', bytes: new Uint8Array(archive) }])
  const shown = entries.map((entry) => [entry.name.slice(0, 20), entry.kind === 'skill' ? entry.draft.remarks : Object(entry).fault])
  expect(new Map(shown as [string, unknown][])).toEqual(
    new Map<string, unknown>([
      ['r/r/CLAUDE.md', expect.stringContaining('is a link')],
      ['r/r/big.md', expect.stringContaining('1 MiB')],
      ['r/r/longlonglonglong', expect.stringContaining('has more than 512 bytes')],
      ['r/r/caf\ufffd.md', expect.stringContaining('is not UTF-8')],
      ['r/r/one/SKILL.md', [expect.anything(), 'skipped .env.example: is never imported', 'skipped ref.py: contains a private key']],
      ['r/r/two/SKILL.md', expect.stringContaining('notes: v1.md" in the archive contains a colon')],
      ['r/r/three/SKILL.md', expect.stringContaining('big.bin" in the archive exceeds')],
      ['r/r/four/SKILL.md', [expect.anything()]],
    ]),
  )
})
