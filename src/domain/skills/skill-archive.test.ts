import fc from 'fast-check'
import { zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../errors.ts'
import { finish } from '../service/running-work.ts'
import { checkSkillFiles, listSkillFiles, MAX_FILE_BYTES, type SkillFile } from './skill.ts'
import { readSkillArchiveInSteps, writeSkillArchive } from './skill-archive.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const zip = (files: Record<string, Uint8Array>, os?: { os: number; attrs: number }) =>
  zipSync(Object.fromEntries(Object.entries(files).map(([name, content]) => [name, [content, { ...os }]])))
const write = (files: readonly SkillFile[]) => new Uint8Array(Buffer.concat([...writeSkillArchive(files, 'a-skill')]))
const names = (archive: Uint8Array) => finish(readSkillArchiveInSteps(archive)).files.map((file) => file.filename)

/** The code and the sentence of what was refused. */
function refusal(archive: Uint8Array): [string, string] {
  try {
    finish(readSkillArchiveInSteps(archive))
  } catch (error) {
    if (error instanceof AppError) return [error.code, error.message]
    throw error
  }
  return ['nothing', '']
}

/** An archive with some bytes of its directory's first entry changed. */
function patch(archive: Uint8Array, offset: number, ...values: number[]): Uint8Array {
  const copy = archive.slice()
  const at = Buffer.from(copy.buffer).indexOf(Buffer.from([0x50, 0x4b, 1, 2]))
  copy.set(values, at + offset)
  return copy
}

describe('readSkillArchiveInSteps', () => {
  it('reads what writeSkillArchive wrote, byte for byte, whatever the files are', () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'B', '7', 'é', '文', '-', ' x'), minLength: 1, maxLength: 6 })
    const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/').normalize('NFC'))
    const file = fc.record({ filename: path, bytes: fc.uint8Array({ maxLength: 3000 }) })
    fc.assert(
      fc.property(fc.array(file, { maxLength: 8 }), (some) => {
        const files = listSkillFiles([{ filename: 'SKILL.md', bytes: bytes('# Hi') }, ...some])
        try {
          checkSkillFiles(files)
        } catch {
          return fc.pre(false)
        }
        const read = finish(readSkillArchiveInSteps(write(files)))
        expect(read.skipped).toEqual([])
        expect(read.files.map((one) => [one.filename, Buffer.from(one.bytes).toString('hex')])).toEqual(
          files.map((one) => [one.filename, Buffer.from(one.bytes).toString('hex')]),
        )
      }),
    )
  })

  it('reads an archive that is padded with zeros', () => {
    expect(names(Buffer.concat([zip({ 'SKILL.md': bytes('x') }), Buffer.alloc(5_000)]))).toEqual(['SKILL.md'])
  })

  it('takes off one folder around everything, and no more', () => {
    expect(names(zip({ 'my-skill/SKILL.md': bytes('x'), 'my-skill/docs/a.md': bytes('y') }))).toEqual(['SKILL.md', 'docs/a.md'])
    expect(names(zip({ 'SKILL.md': bytes('x'), 'docs/a.md': bytes('y') }))).toEqual(['SKILL.md', 'docs/a.md'])
    // What macOS adds beside the folder does not keep it on.
    expect(names(zip({ 'my-skill/SKILL.md': bytes('x'), '__MACOSX/my-skill/._SKILL.md': bytes('y') }))).toEqual(['SKILL.md'])
    expect(refusal(zip({ 'a/b/SKILL.md': bytes('x') }))).toEqual(['invalid_input', expect.stringContaining('SKILL.md is missing')])
  })

  it('leaves out secrets and tool folders, and names each once', () => {
    const { files, skipped } = finish(
      readSkillArchiveInSteps(
        zip({
          's/SKILL.md': bytes('x'),
          's/.git/config': bytes('y'),
          's/.git/HEAD': bytes('y'),
          's/.env.local': bytes('y'),
          's/.DS_Store': bytes('y'),
          's/keys/id_rsa': bytes('y'),
          's/notes.txt': bytes('-----BEGIN OPENSSH PRIVATE KEY-----\nabc'),
        }),
      ),
    )
    expect(files.map((file) => file.filename)).toEqual(['SKILL.md'])
    expect(skipped).toEqual([
      { filename: 's/.git', reason: 'is never imported' },
      { filename: 's/.env.local', reason: 'is never imported' },
      { filename: 's/.DS_Store', reason: 'belongs to the operating system' },
      { filename: 's/keys/id_rsa', reason: 'may contain a secret' },
      { filename: 'notes.txt', reason: 'contains a private key' },
    ])
  })

  it('refuses names that lead elsewhere or stand twice', () => {
    const beside = { 'SKILL.md': bytes('x') }
    for (const name of ['../a', '/etc/a', 'a/../../b', 'C:/a', '..\\a', './a'])
      expect(refusal(zip({ ...beside, [name]: bytes('y') }))[0], name).toBe('invalid_input')
    expect(refusal(zip({ ...beside, 'a.txt': bytes('y'), 'A.txt': bytes('z') }))).toEqual([
      'invalid_input',
      expect.stringContaining('differ only in case'),
    ])
    const twice = Buffer.from(zip({ ...beside, 'b.md': bytes('1'), 'c.md': bytes('2') }))
    for (let at = twice.indexOf('c.md'); at !== -1; at = twice.indexOf('c.md')) twice.write('b.md', at)
    expect(refusal(new Uint8Array(twice))).toEqual(['invalid_input', expect.stringContaining('listed twice')])
  })

  it('refuses links, encryption, other methods, Zip64 and what is no zip', () => {
    expect(refusal(zip({ 'SKILL.md': bytes('/etc/passwd') }, { os: 3, attrs: 0o120777 << 16 }))).toEqual([
      'invalid_input',
      expect.stringContaining('link'),
    ])
    const plain = zip({ 'SKILL.md': bytes('x'.repeat(100)) })
    expect(refusal(patch(plain, 8, 1))).toEqual(['invalid_input', expect.stringContaining('encrypted')])
    expect(refusal(patch(plain, 10, 9))).toEqual(['invalid_input', expect.stringContaining('unsupported compression method')])
    expect(refusal(bytes('PK but not really'))).toEqual(['invalid_input', expect.stringContaining('not a zip')])
    expect(refusal(new Uint8Array(0))[0]).toBe('invalid_input')
    const split = plain.slice()
    split[split.length - 12] = 0xff
    split[split.length - 11] = 0xff
    expect(refusal(split)).toEqual(['invalid_input', expect.stringContaining('Zip64')])
  })

  it('stops inflating at the limits, whatever the headers say', () => {
    const bomb = zip({ 'SKILL.md': bytes('x'), 'zeros.bin': new Uint8Array(20 * 1024 * 1024) })
    expect(bomb.length).toBeLessThan(100 * 1024)
    expect(refusal(bomb)).toEqual(['too_large', expect.stringContaining('1 MiB')])
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`${n}.bin`, new Uint8Array(MAX_FILE_BYTES)]))
    expect(refusal(zip({ 'SKILL.md': bytes('x'), ...many }))).toEqual(['too_large', expect.stringContaining('8 MiB')])
    const files = Object.fromEntries(Array.from({ length: 512 }, (_, n) => [`${n}.txt`, bytes('')]))
    expect(refusal(zip({ 'SKILL.md': bytes('x'), ...files }))).toEqual(['too_large', expect.stringContaining('513 files')])
    expect(refusal(new Uint8Array(9 * 1024 * 1024 + 1))[0]).toBe('too_large')
  })

  it('refuses a size or checksum that is not true, and bytes that are damaged', () => {
    const honest = zip({ 'SKILL.md': bytes('x'.repeat(5000)) })
    expect(names(honest)).toEqual(['SKILL.md'])
    expect(refusal(patch(honest, 24, 1, 0, 0, 0))).toEqual(['invalid_input', expect.stringContaining('damaged')])
    expect(refusal(patch(honest, 16, 1, 2, 3, 4))).toEqual(['invalid_input', expect.stringContaining('damaged')])
    expect(refusal(patch(honest, 42, 0xff, 0xff, 0, 0))).toEqual(['invalid_input', expect.stringContaining('damaged')])
    expect(refusal(patch(honest, 20, 5))).toEqual(['invalid_input', expect.stringContaining('damaged')])
  })

  it('refuses any broken archive with a sentence, never with another error', () => {
    const archive = zip({ 's/SKILL.md': bytes('x'.repeat(300)), 's/b/c.md': bytes('hello') })
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(archive.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }), (changes) => {
        const broken = archive.slice()
        for (const [at, value] of changes) broken[at] = value
        expect(['nothing', 'invalid_input', 'too_large']).toContain(refusal(broken)[0])
      }),
    )
  })
})
