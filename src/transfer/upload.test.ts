import { zipSync } from 'fflate'
import { expect, it } from 'vitest'
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
