import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { type PackedRuntime, packRuntime } from '../../packaging/pack-runtime.ts'
import { PAPERS, RUNTIME } from '../../packaging/runtime-contents.ts'
import { makeTarball } from '../../packaging/tar.ts'
import { cacheFolder, unpackRuntime } from '../../packaging/unpack-runtime.ts'

/** The parts of the packages. test/long/packages.test.ts builds and starts them. */

const folder = mkdtempSync(join(tmpdir(), 'commonplace-executable-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')

it('packages have what the image has', () => {
  const copied = [...read('Dockerfile').matchAll(/^COPY (?:--from=build \/app\/)?(.+) \S+$/gm)]
  const ofRuntime = copied.slice(copied.findIndex(([line]) => line.includes('--from'))).flatMap(([, names = '']) => names.split(' '))
  const packed = [...RUNTIME.map((name) => name.replace(/^dist\/.*/, 'dist')), 'node_modules/@resvg']
  expect([...new Set(packed)].toSorted()).toEqual(ofRuntime.toSorted())
  for (const name of PAPERS) expect(read(name).length).toBeGreaterThan(100)
})

describe('a tarball', () => {
  const long = `${'a-folder/'.repeat(15)}a-file.txt`
  const files = [
    { path: 'one', bytes: Buffer.from('#!/bin/sh\n'), isExecutable: true },
    { path: long, bytes: Buffer.alloc(513, 'x'), isExecutable: false },
    { path: 'empty', bytes: Buffer.alloc(0), isExecutable: false },
    { path: 'full', bytes: Buffer.alloc(512, 'y'), isExecutable: false },
  ]
  const time = new Date('2026-11-22')

  it('is read by tar, with modes and times', () => {
    const place = mkdtempSync(join(folder, 'tar-'))
    writeFileSync(join(place, 'a.tar.gz'), makeTarball(files, time))
    const { status, stderr } = spawnSync('tar', ['-xzf', 'a.tar.gz'], { cwd: place, encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
    for (const { path, bytes, isExecutable } of files) {
      const { mode, mtime } = statSync(join(place, path))
      expect([readFileSync(join(place, path)).equals(bytes), (mode & 0o100) !== 0, mtime], path).toEqual([true, isExecutable, time])
    }
    expect(() => makeTarball([{ path: 'x'.repeat(101), bytes: Buffer.alloc(0), isExecutable: false }], time)).toThrow(/too long/)
  })
})

describe('the cache of the executable', () => {
  it.each([
    ['/own', { COMMONPLACE_CACHE: '/own', CACHE_DIRECTORY: '/unit', XDG_CACHE_HOME: '/xdg' }],
    ['/unit', { CACHE_DIRECTORY: '/unit:/other', XDG_CACHE_HOME: '/xdg' }],
    ['/xdg/commonplace', { XDG_CACHE_HOME: '/xdg' }],
    [join(homedir(), '.cache/commonplace'), {}],
  ])('is %s', (expected, environment) => {
    expect(cacheFolder(environment, 'linux')).toBe(expected)
  })
})

describe('the executable unpacks itself', () => {
  const contents = [
    { path: 'dist/cli/main.js', bytes: Buffer.from('main()') },
    { path: 'package.json', bytes: Buffer.from('{}') },
  ]
  let cache = ''
  let unpacked = 0
  let runtime: PackedRuntime
  beforeEach(() => {
    cache = join(mkdtempSync(join(folder, 'cache-')), 'below')
    unpacked = 0
    const packed = packRuntime('1.2.3', contents)
    const readArchive = () => {
      unpacked++
      return packed.readArchive()
    }
    runtime = { ...packed, readArchive }
  })
  const unpack = () => unpackRuntime(runtime, cache)
  const main = () => readFileSync(join(unpack(), 'dist/cli/main.js'), 'utf8')

  it('once, for its user alone', () => {
    const place = unpack()
    expect(place).toBe(join(cache, runtime.name))
    expect(runtime.name).toMatch(/^1\.2\.3-[0-9a-f]{16}$/)
    expect([main(), unpacked]).toEqual(['main()', 1])
    for (const path of [cache, place, join(place, 'dist')]) expect(statSync(path).mode & 0o777, path).toBe(0o700)
    expect(statSync(join(place, 'package.json')).mode & 0o777).toBe(0o600)
    expect(readdirSync(cache).toSorted()).toEqual(['.lock', runtime.name])
  })

  it.each<[string, (place: string) => void]>([
    ['a changed file', (place) => writeFileSync(join(place, 'dist/cli/main.js'), 'evil')],
    ['a missing file', (place) => rmSync(join(place, 'package.json'))],
    ['a file too many', (place) => writeFileSync(join(place, 'dist/cli/more.js'), 'evil')],
    ['a link too many', (place) => symlinkSync('/', join(place, 'node_modules'))],
    ['a folder that others may write to', (place) => chmodSync(place, 0o777)],
  ])('again in place of %s', (_what, damage) => {
    damage(unpack())
    expect([main(), unpacked]).toEqual(['main()', 2])
    expect(readdirSync(join(cache, runtime.name), { recursive: true })).toHaveLength(4)
    expect(statSync(join(cache, runtime.name)).mode & 0o777).toBe(0o700)
  })

  it('anew after a start that was cut off', () => {
    mkdirSync(join(cache, '.unpacking-1234', 'dist'), { recursive: true })
    expect(main()).toBe('main()')
    expect(readdirSync(cache).toSorted()).toEqual(['.lock', runtime.name])
  })

  it('not when it is damaged itself', () => {
    runtime = {
      ...runtime,
      readArchive: packRuntime(
        '1.2.3',
        contents.map((one) => ({ ...one, bytes: Buffer.from('????') })),
      ).readArchive,
    }
    expect(unpack).toThrow('the executable is damaged')
    expect(readdirSync(cache)).toEqual(['.lock'])
  })

  it('not where others may write', () => {
    mkdirSync(cache)
    chmodSync(cache, 0o777)
    expect(unpack).toThrow(`others may write to ${cache}`)
  })

  it.skipIf(process.getuid?.() !== 0)("not into another user's folder", () => {
    mkdirSync(cache)
    chownSync(cache, 65534, 65534)
    expect(unpack).toThrow(`${cache} belongs to another user`)
  })

  it.skipIf(process.getuid?.() !== 0)('again in place of what another user put there', () => {
    chownSync(unpack(), 65534, 65534)
    expect([main(), unpacked]).toEqual(['main()', 2])
    expect(statSync(join(cache, runtime.name)).uid).toBe(0)
  })
})
