import { describe, expect, it } from 'vitest'
import { filenameClash, filenameFault, normalizeFilename } from './filename.ts'

describe('filenameFault', () => {
  it.each([
    'SKILL.md',
    'a',
    '.gitignore',
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
