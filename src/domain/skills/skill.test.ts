import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../errors.ts'
import {
  applyFileChange,
  checkSkillFiles,
  decodeText,
  type FileChange,
  fromFileContent,
  listSkillFiles,
  MAX_FILE_BYTES,
  MAX_SKILL_BYTES,
  MAX_SKILL_FILES,
  SKILL_MD,
  type SkillFile,
  toFileContent,
} from './skill.ts'

const file = (filename: string, content: string | number = ''): SkillFile => ({
  filename,
  bytes: typeof content === 'number' ? new Uint8Array(content) : Buffer.from(content),
})
const SKILL = file(SKILL_MD, '# A skill')

/** The AppError a call throws. */
function refusalOf(call: () => unknown): AppError {
  try {
    call()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('checkSkillFiles', () => {
  it.each([[[]], [[file('skill.md')]], [[file('docs/SKILL.md')]], [[file('Skill.md'), file('a')]]])(
    'refuses a skill without SKILL.md at its root, exactly so (%#)',
    (files) => {
      expect(refusalOf(() => checkSkillFiles(files))).toMatchObject({ code: 'invalid_input', message: expect.stringContaining('SKILL.md') })
    },
  )

  it('takes 512 files, one of 1 MiB, and 8 MiB in all, and names what is more', () => {
    expect([MAX_SKILL_FILES, MAX_FILE_BYTES, MAX_SKILL_BYTES]).toEqual([512, 2 ** 20, 8 * 2 ** 20])
    const many = (count: number) => [SKILL, ...Array.from({ length: count - 1 }, (_, i) => file(`f${i}`))]
    const large = (bytes: number) => [SKILL, file('big.bin', bytes)]
    const full = Array.from({ length: 7 }, (_, i) => file(`f${i}`, 2 ** 20))
    const inAll = (more: number) => [SKILL, ...full, file('rest', 2 ** 20 - SKILL.bytes.length - 10), file('last', 10 + more)]
    for (const files of [[SKILL], many(512), large(2 ** 20), inAll(0)]) expect(() => checkSkillFiles(files)).not.toThrow()
    const refusals = [many(513), large(2 ** 20 + 1), inAll(1)].map((files) => refusalOf(() => checkSkillFiles(files)))
    expect(refusals.map(({ code }) => code)).toEqual(['invalid_input', 'invalid_input', 'invalid_input'])
    expect(refusals.map(({ message }) => message)).toEqual([
      expect.stringContaining('512'),
      expect.stringContaining('big.bin'),
      expect.anything(),
    ])
  })

  it('names every bad name with its place', () => {
    const refusal = refusalOf(() => checkSkillFiles([SKILL, file('../a'), file('ok'), file('b:c')]))
    expect(refusal.code).toBe('invalid_input')
    expect(refusal.details.map((detail) => detail.path)).toEqual(['files[1].filename', 'files[3].filename'])
  })
})

describe('applyFileChange', () => {
  const files = [SKILL, file('a.md', 'a'), file('docs/b.md', 'b')]
  const names = (change: FileChange) => applyFileChange(files, change).map((entry) => entry.filename)

  it('adds, updates and removes one file and leaves the rest as it was', () => {
    expect(applyFileChange(files, { kind: 'add', file: file('c', 'c') })).toEqual([...files, file('c', 'c')])
    expect(applyFileChange(files, { kind: 'update', file: file('a.md', 'new') })).toEqual([
      SKILL,
      file('a.md', 'new'),
      file('docs/b.md', 'b'),
    ])
    expect(applyFileChange(files, { kind: 'remove', filename: 'a.md' })).toEqual([SKILL, file('docs/b.md', 'b')])
  })

  it('lets SKILL.md be updated, never removed or added again', () => {
    expect(applyFileChange(files, { kind: 'update', file: file(SKILL_MD, 'new') })[0]).toEqual(file(SKILL_MD, 'new'))
    expect(refusalOf(() => names({ kind: 'remove', filename: SKILL_MD })).code).toBe('invalid_input')
    expect(refusalOf(() => names({ kind: 'add', file: file(SKILL_MD) })).code).toBe('invalid_input')
  })

  it.each<[string, FileChange, string]>([
    ['adding what is there', { kind: 'add', file: file('a.md') }, 'conflict'],
    ['updating what is not there', { kind: 'update', file: file('x') }, 'not_found'],
    ['removing what is not there', { kind: 'remove', filename: 'x' }, 'not_found'],
    ['removing under another case', { kind: 'remove', filename: 'skill.md' }, 'not_found'],
    ['adding a case twin', { kind: 'add', file: file('A.md') }, 'invalid_input'],
    ['adding a case twin of SKILL.md', { kind: 'add', file: file('skill.md') }, 'invalid_input'],
    ['adding below a file', { kind: 'add', file: file('a.md/x') }, 'invalid_input'],
    ['adding over a folder', { kind: 'add', file: file('docs') }, 'invalid_input'],
    ['a bad name', { kind: 'add', file: file('../x') }, 'invalid_input'],
    ['removing a bad name', { kind: 'remove', filename: '/a.md' }, 'invalid_input'],
    ['a file over its limit', { kind: 'update', file: file('a.md', 2 ** 20 + 1) }, 'invalid_input'],
  ])('refuses %s', (_, change, code) => {
    expect(refusalOf(() => applyFileChange(files, change)).code).toBe(code)
  })

  it('finds a file under either spelling of its name', () => {
    const accented = [SKILL, file('caf\u00e9')]
    expect(applyFileChange(accented, { kind: 'remove', filename: 'cafe\u0301' })).toEqual([SKILL])
    expect(refusalOf(() => applyFileChange(accented, { kind: 'add', file: file('cafe\u0301') })).code).toBe('conflict')
    expect(applyFileChange([SKILL], { kind: 'add', file: file('cafe\u0301') })[1]?.filename).toBe('caf\u00e9')
  })

  it('holds to the limits of the whole', () => {
    const full = [SKILL, ...Array.from({ length: 511 }, (_, i) => file(`f${i}`))]
    expect(refusalOf(() => applyFileChange(full, { kind: 'add', file: file('one more') })).code).toBe('invalid_input')
    expect(applyFileChange(full, { kind: 'update', file: file('f0', 'x') })).toHaveLength(512)
  })
})

describe('contents', () => {
  it.each(['', 'plain', '\ufeffwith BOM', 'a\r\nb\rc\n', ' \n trailing \t', 'nul \0 inside', '😀 e\u0301'])(
    'carries the text %j byte for byte',
    (text) => {
      const there = fromFileContent({ filename: 'a', content: text }, '')
      expect(Buffer.from(there.bytes).equals(Buffer.from(text))).toBe(true)
      expect(toFileContent(there)).toEqual({ filename: 'a', content: text })
    },
  )

  it('carries any bytes there and back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const back = fromFileContent(toFileContent({ filename: 'a', bytes }), '')
        expect(Buffer.compare(back.bytes, bytes)).toBe(0)
      }),
    )
  })

  it('goes out as base64 exactly when it is not UTF-8', () => {
    expect(toFileContent({ filename: 'a', bytes: Buffer.from([0xff, 0x00]) })).toEqual({
      filename: 'a',
      content: '/wA=',
      encoding: 'base64',
    })
    expect(toFileContent({ filename: 'a', bytes: Buffer.from('é') })).not.toHaveProperty('encoding')
    expect(decodeText(Buffer.from([0xed, 0xa0, 0x80]))).toBeNull()
    expect(decodeText(Buffer.from([0xef, 0xbb, 0xbf, 0x61]))).toBe('\ufeffa')
  })

  it.each(['A', 'AA', 'AAA', 'A===', '====', 'AA=A', 'AAAA=', 'AA==AA==', 'AA AA', 'AAAA\n', '-_8=', 'ÄÄÄÄ'])(
    'refuses %j as base64',
    (content) => {
      expect(refusalOf(() => fromFileContent({ filename: 'a', content, encoding: 'base64' }, 'files[2].'))).toMatchObject({
        code: 'invalid_input',
        details: [{ path: 'files[2].content' }],
      })
    },
  )

  it('reads base64 of many megabytes', () => {
    const bytes = Buffer.alloc(8 * 2 ** 20, 7)
    expect(fromFileContent({ filename: 'a', content: bytes.toString('base64'), encoding: 'base64' }, '').bytes).toHaveLength(bytes.length)
  })

  it('refuses a lone surrogate, naming the place', () => {
    expect(refusalOf(() => fromFileContent({ filename: 'a', content: 'x\ud800' }, 'files[0].'))).toMatchObject({
      code: 'invalid_input',
      details: [{ path: 'files[0].content' }],
    })
  })

  it('stores the name in NFC', () => {
    expect(fromFileContent({ filename: 'cafe\u0301', content: '' }, '').filename).toBe('caf\u00e9')
  })
})

it('lists SKILL.md first, the others by name, and none that Git takes for its own', () => {
  const shown = listSkillFiles([file('z'), file('A'), SKILL, file('a/b'), file('x/.git/config'), file('a')]).map((entry) => entry.filename)
  expect(shown).toEqual(['SKILL.md', 'A', 'a', 'a/b', 'z'])
})
