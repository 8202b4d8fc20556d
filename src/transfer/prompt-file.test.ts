import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PromptDraft, readPromptFile } from './prompt-file.ts'

let folder = ''
let files = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'commonplace-prompts-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})

/** Writes a file and reads its rows. */
async function rowsOf(ending: string, content: string | Buffer) {
  const path = join(folder, `${++files}.${ending}`)
  await writeFile(path, content)
  return await Array.fromAsync(readPromptFile(path))
}

/** The drafts of a file in which nothing is wrong. */
async function draftsOf(ending: string, content: string | Buffer): Promise<PromptDraft[]> {
  return (await rowsOf(ending, content)).map((row) => {
    if ('fault' in row) throw new Error(row.fault)
    return row.draft
  })
}

it.each(['csv', 'json', 'jsonl'])('names fields of %s that no item has once', async (ending) => {
  const rows = [
    { title: 'One', content: 'x', notes: '', Visibilty: 'public' },
    { title: 'Two', content: 'y', notes: 'n', Visibilty: 'public' },
    { title: 'Three', content: 'z', notes: 'n', Visibilty: '' },
  ]
  const write = FORMATS.find(([name]) => name === ending)?.[1]
  expect((await draftsOf(ending, write?.(rows) ?? '')).map(({ remark }) => remark)).toEqual([
    'left out, here and below: Visibilty',
    'left out, here and below: notes',
    undefined,
  ])
})

/** The same entries in each of the formats. */
const FORMATS = [
  ['csv', (rows: Record<string, string>[]) => toCsv(rows)],
  ['json', (rows: Record<string, string>[]) => JSON.stringify(rows)],
  ['jsonl', (rows: Record<string, string>[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')],
] as const

function toCsv(rows: Record<string, string>[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const quote = (text = '') => `"${text.replaceAll('"', '""')}"`
  return [columns.join(','), ...rows.map((row) => columns.map((column) => quote(row[column])).join(','))].join('\n')
}

describe.each(FORMATS)('%s', (ending, write) => {
  it('reads the columns of the public data set', async () => {
    const [draft] = await draftsOf(
      ending,
      write([{ act: 'Linux Terminal', prompt: 'Act as ${x:1}', for_devs: 'TRUE', type: 'TEXT', contributor: 'ann,bob' }]),
    )
    expect(draft).toMatchObject({
      title: 'Linux Terminal',
      content: 'Act as ${x:1}',
      description: null,
      type: 'TEXT',
      category: 'coding',
      tags: [],
      contributors: ['ann', 'bob'],
      visibility: undefined,
      owner: undefined,
      remark: undefined,
    })
  })

  it('reads the columns of our own', async () => {
    const own = { title: 'T', content: 'C', description: 'D', category: 'design' }
    const [draft] = await draftsOf(ending, write([{ ...own, type: 'image', tags: 'a, b', author: 'ann', visibility: 'Public' }]))
    expect(draft).toMatchObject({ ...own, type: 'IMAGE', tags: ['a', 'b'], contributors: ['ann'], visibility: 'public' })
  })

  it('keeps texts as they are, past a byte order mark', async () => {
    const content = ' \ufeff"quoted", a\r\nb\rc\u2028d\u2029e\n\ttab 😀 e\u0301 '
    expect(await draftsOf(ending, write([{ title: ' T ', content }]))).toMatchObject([{ title: ' T ', content }])
    expect(await draftsOf(ending, `\ufeff${write([{ title: 'T', content: 'C' }])}`)).toMatchObject([{ title: 'T', content: 'C' }])
  })

  it('names a bad entry by its number and goes on', async () => {
    const bad: Record<string, string>[] = [
      { title: '' },
      { title: 'x'.repeat(201) },
      { content: '  ' },
      { content: 'x'.repeat(200_001) },
      { content: 'a\0b' },
      { description: 'a\0b' },
      { type: 'SONG' },
      { visibility: 'secret' },
      { isPrivate: 'perhaps' },
      { tags: 'a,b,c,d,e,f,g,h,i,j,k' },
      { tags: 'x'.repeat(51) },
    ]
    const entries = [{}, ...bad, {}]
    const rows = await rowsOf(ending, write(entries.map((entry) => ({ title: 'T', content: 'C', ...entry }))))
    expect(rows.map((row) => row.number)).toEqual(entries.map((_, index) => index + 1))
    const faults = rows.map((row) => ('fault' in row ? row.fault : null))
    expect(faults).toEqual([null, ...bad.map((fields) => expect.stringContaining(Object.keys(fields)[0] ?? '')), null])
  })

  it('reads isPrivate', async () => {
    const said = ['true', '1', 'false', 'no', '']
    const drafts = await draftsOf(ending, write(said.map((isPrivate) => ({ title: 'T', content: 'C', isPrivate }))))
    expect(drafts.map(({ visibility }) => visibility)).toEqual(['private', 'private', 'public', 'public', undefined])
  })

  it('takes titles and texts at their limits', async () => {
    const [draft] = await draftsOf(ending, write([{ title: '😀'.repeat(200), content: '😀'.repeat(200_000) }]))
    expect(draft?.content).toBe('😀'.repeat(200_000))
  })

  it.each([
    [500, false],
    [501, true],
  ])('cuts a description of %i characters at a word and says so: %s', async (length, isCut) => {
    const description = 'word '
      .repeat(101)
      .slice(0, length - 1)
      .concat('d')
    const [draft] = await draftsOf(ending, write([{ title: 'T', content: 'C', description }]))
    expect([...(draft?.description ?? '')].length).toBeLessThanOrEqual(500)
    expect(draft?.description === description).toBe(!isCut)
    expect(draft?.remark === undefined).toBe(!isCut)
    if (isCut) expect(draft?.description).toMatch(/ word…$/)
  })

  it('reads a file without entries', async () => {
    expect(await rowsOf(ending, ending === 'csv' ? 'title,content\n' : write([]))).toEqual([])
  })
})

describe('CSV', () => {
  it('reads CRLF, quoted line breaks and empty lines', async () => {
    const drafts = await draftsOf('csv', 'act,prompt\r\n"a","one\r\ntwo, ""three"""\r\n\r\nb,c\r\n')
    expect(drafts.map(({ title, content }) => [title, content])).toEqual([
      ['a', 'one\r\ntwo, "three"'],
      ['b', 'c'],
    ])
  })

  it.each([
    ['semicolons', 'act;prompt\na;"b;\r\nc"\n'],
    ['tabs', 'act\tprompt\na\t"b;\r\nc"\n'],
    ['a line that says so', 'sep=;\r\nact;prompt\r\na;"b;\r\nc"\r\n'],
    ['other cases, and spaces', ' Act , PROMPT, For Devs\na, "b;\r\nc", TRUE\n'],
    ['quoted names', '"Title";"Content"\n"a";"b;\r\nc"\n'],
  ])('reads columns with %s', async (_, text) => {
    expect(await draftsOf('csv', `\ufeff${text}`)).toMatchObject([{ title: 'a', content: 'b;\r\nc' }])
  })

  it('says that a file is of another encoding', async () => {
    await expect(rowsOf('csv', Buffer.from('\ufeffact\tprompt\na\tb\n', 'utf16le'))).rejects.toThrow('is UTF-16, not UTF-8')
    await expect(rowsOf('csv', Buffer.from('act,prompt\na,\xe9\n', 'latin1'))).rejects.toThrow('is not UTF-8')
  })

  it.each(['a,b\n1,2\n', 'act\nx\n', 'prompt\nx\n', 'Linux Terminal,Act as a terminal\n'])(
    'refuses a file without its header: %j',
    async (content) => {
      await expect(rowsOf('csv', content)).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringMatching(/header/) })
    },
  )

  it('goes on after a row with too many or too few columns', async () => {
    const rows = await rowsOf('csv', 'act,prompt\na,1\nb,2,3\nc\nd,4\n')
    expect(rows.map((row) => ('fault' in row ? 'fault' : row.draft.title))).toEqual(['a', 'fault', 'fault', 'd'])
    expect(rows.map((row) => row.number)).toEqual([1, 2, 3, 4])
  })
})

describe('JSON', () => {
  it('reads an object with a list of prompts', async () => {
    expect(await draftsOf('json', JSON.stringify({ prompts: [{ title: 'T', content: 'C', tags: ['a,b', 'c'] }] }))).toMatchObject([
      { title: 'T', tags: ['a,b', 'c'] },
    ])
  })

  it.each(['', '{', '{"a": 1}', '"text"', '{"prompts": {}}', 'null'])('refuses %j as a whole', async (content) => {
    await expect(rowsOf('json', content)).rejects.toMatchObject({ code: 'invalid_input' })
  })

  it('names entries that are none', async () => {
    const rows = await rowsOf('json', JSON.stringify([1, null, [], { title: 1, content: 'C' }, { title: 'T', content: 'C' }]))
    expect(rows.map((row) => 'fault' in row)).toEqual([true, true, true, true, false])
  })
})

describe('JSONL', () => {
  it('reads CRLF, empty lines and a last line without a break, and names lines that are no JSON', async () => {
    const rows = await rowsOf('jsonl', '{"title":"a","content":"1"}\r\n\r\n{broken\r\n{"title":"b","content":"2"}')
    expect(rows.map((row) => ('fault' in row ? 'fault' : row.draft.title))).toEqual(['a', 'fault', 'b'])
    expect(rows.map((row) => row.number)).toEqual([1, 2, 3])
  })

  it('puts lines together that arrive in pieces', async () => {
    const titles = Array.from({ length: 500 }, (_, i) => `😀 ${i}`)
    const drafts = await draftsOf(
      'jsonl',
      titles.map((title) => JSON.stringify({ title, content: '😀'.repeat(1000 + title.length) })).join('\n'),
    )
    expect(drafts.map((draft) => draft.title)).toEqual(titles)
    expect(drafts.every((draft) => /^(😀)+$/u.test(draft.content))).toBe(true)
  })

  it('keeps addresses and times of an export, and leaves out a time that is none', async () => {
    const row = {
      title: 'T',
      content: 'C',
      id: 'i',
      slug: 's',
      owner: 'ann',
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: 'yesterday',
    }
    expect(await draftsOf('jsonl', JSON.stringify(row))).toMatchObject([
      { id: 'i', slug: 's', owner: 'ann', createdAt: '2026-01-01T00:00:00.000Z', updatedAt: undefined },
    ])
  })
})

describe('files', () => {
  it('refuses what is not there, a folder, and an ending it does not know', async () => {
    await writeFile(join(folder, 'prompts.txt'), 'x')
    for (const path of [join(folder, 'missing.csv'), folder, join(folder, 'prompts.txt')]) {
      await expect(Array.fromAsync(readPromptFile(path))).rejects.toMatchObject({ code: 'invalid_input' })
    }
  })

  it('follows no link', async () => {
    await writeFile(join(folder, 'real.json'), '[]')
    await symlink(join(folder, 'real.json'), join(folder, 'link.json'))
    await expect(Array.fromAsync(readPromptFile(join(folder, 'link.json')))).rejects.toMatchObject({ code: 'invalid_input' })
    expect(await Array.fromAsync(readPromptFile(join(folder, 'real.json')))).toEqual([])
  })

  it('can be left before its end', async () => {
    for (const ending of ['csv', 'jsonl']) {
      const path = join(folder, `long.${ending}`)
      const line = ending === 'csv' ? 't,c\n' : '{"title":"t","content":"c"}\n'
      await writeFile(path, (ending === 'csv' ? 'title,content\n' : '') + line.repeat(50_000))
      for await (const row of readPromptFile(path)) {
        expect(row.number).toBe(1)
        break
      }
    }
  })
})
