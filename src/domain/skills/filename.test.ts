import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { filenameClash, filenameFault, normalizeFilename } from './filename.ts'

describe('filenameFault', () => {
  it.each([
    'SKILL.md',
    'a',
    '.gitignore',
    '.github/git~/.gitkeep',
    'git/x.git/gitmodules',
    'scripts/run.sh',
    'a/b/c/d/e.txt',
    'with space.md',
    ' leading-space',
    'a..b',
    '..a',
    '...a/b',
    'naïve.md',
    '北京/文件.md',
    '🚀.md',
    'a&b;c*d?e"f<g>|h',
  ])('takes %j', (filename) => {
    expect(filenameFault(filename)).toBeNull()
  })

  it.each([
    '',
    '/',
    '/etc/passwd',
    'a/',
    'a//b',
    '.',
    '..',
    './a',
    '../a',
    'a/./b',
    'a/../b',
    'a/..',
    'a\\b',
    '\\',
    'C:/a',
    'a:b',
    'a\0b',
    'a\nb',
    'a\tb',
    'a\u007fb',
    'a\u0085b',
    'a.',
    'a ',
    'a./b',
    'a /b',
    'a\ud800',
    '\udc00',
    '.git',
    '.git/config',
    'a/.GIT/hooks/post-checkout',
    '.g\u200cit/config',
    '.gi\ufefft',
    '.git /config',
    '.git. ./x',
    'git~1/config',
    'GIT~23',
    '.gitmodules',
    '.gitmodule\u017f',
    'a/.gitattributes',
    'gitmod~1',
    'GI7EBA~1',
  ])('refuses %j', (filename) => {
    expect(filenameFault(filename)).toEqual(expect.any(String))
  })

  it.each([
    [254, true],
    [255, true],
    [256, false],
  ])('a name of %i bytes is good: %s', (bytes, isGood) => {
    expect(filenameFault('a'.repeat(bytes)) === null).toBe(isGood)
    expect(filenameFault(`é${'a'.repeat(bytes - 2)}`) === null).toBe(isGood)
    expect(filenameFault(`d/${'🚀'.repeat(10)}${'a'.repeat(bytes - 42)}`) === null).toBe(isGood)
  })
})

it('accepts no name that git refuses to add, on any file system', () => {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-names-'))
  const git = (args: string[], input = '') =>
    execFileSync('git', ['-C', folder, '-c', 'core.protectHFS=true', '-c', 'core.protectNTFS=true', ...args], { input, stdio: 'pipe' })
  try {
    git(['init', '--quiet'])
    const blob = git(['hash-object', '-w', '--stdin'], 'x').toString().trim()
    const piece = fc.constantFrom(
      '.',
      'git',
      'GIT',
      '~',
      '1',
      'modules',
      '/',
      ' ',
      'a',
      '\u200c',
      '\ufeff',
      'é',
      '::$INDEX',
      '\\',
      'ſ',
      '"',
    )
    const name = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => normalizeFilename(pieces.join('')))
    fc.assert(
      fc.property(fc.array(name, { maxLength: 200 }), (names) => {
        const good = ['x', ...new Set(names.filter((one) => filenameFault(one) === null))].map((one, place) => `${place}/${one}`)
        git(['read-tree', '--empty'])
        git(['update-index', '-z', '--index-info'], good.map((one) => `100644 ${blob}\t${one}\0`).join(''))
        expect(git(['ls-files', '-z']).toString().split('\0').slice(0, -1).toSorted()).toEqual(good.toSorted())
        git(['fsck', '--strict', git(['write-tree']).toString().trim()])
      }),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it('stores names in NFC', () => {
  expect(normalizeFilename('cafe\u0301.md')).toBe('caf\u00e9.md')
})

describe('filenameClash', () => {
  it.each([[[]], [['SKILL.md']], [['SKILL.md', 'a/b', 'a/c', 'ab', 'b/a']], [['a-b', 'a/b', 'a.b']], [['a/a', 'b/a', 'b/b/a']]])(
    'lets %j stand side by side',
    (filenames) => {
      expect(filenameClash(filenames)).toBeNull()
    },
  )

  it.each([[['a', 'a']], [['readme.md', 'README.md']], [['SKILL.md', 'skill.md']], [['x/Y', 'X/y']], [['É.md', 'é.md']], [['Я', 'я']]])(
    'refuses %j: equal but for case',
    (filenames) => {
      expect(filenameClash(filenames)).toEqual(expect.any(String))
    },
  )

  it.each([[['a', 'a/b']], [['a/b', 'a']], [['x', 'a/b', 'a/b/c/d']], [['A', 'a/b']]])(
    'refuses %j: a file and a folder at once',
    (filenames) => {
      expect(filenameClash(filenames)).toEqual(expect.any(String))
    },
  )

  it('names both of the two', () => {
    expect(filenameClash(['docs/a.md', 'x', 'docs/A.md'])).toMatch(/docs\/A\.md.*docs\/a\.md|docs\/a\.md.*docs\/A\.md/)
  })
})
