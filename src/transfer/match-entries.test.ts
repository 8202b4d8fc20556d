import { expect, it } from 'vitest'
import { type Candidate, matchAtOnce, matchEntries, type OpenEntry, startMatching } from './match-entries.ts'

/** The items of entries, each written `root/path`, with candidates `id@source`; equal ones have a `=` at the end. */
async function match(entries: readonly (readonly [place: string, candidates: string])[], below: Record<string, number> = {}) {
  const state = startMatching()
  const open = entries.map(([at, list]): OpenEntry => {
    const [root = '', ...rest] = at.split('/')
    const candidates = list.split(' ').flatMap((text): Candidate[] => {
      const [id = '', source = ''] = text.replace('=', '').split('@')
      return id === '' ? [] : [{ id, isEqual: text.endsWith('='), ...(source === '' ? {} : { source }) }]
    })
    return { place: at === '' ? undefined : { root, path: rest.join('/') }, candidates }
  })
  const found = open.map((entry) => matchAtOnce(entry, state))
  const waiting = open.filter((_, index) => found[index] === undefined)
  const later = await matchEntries(waiting, state, async (root) => below[root] ?? 0)
  return found.map((one) => (one ?? later.shift())?.id ?? 'new')
}

it('lets equal ones claim first, then those of a place, then those of a title', async () => {
  const items = 'b@r/b c@r/c'
  expect(
    await match([
      ['r/a', items],
      ['r/b', 'b@r/b= c@r/c'],
      ['r/c', 'b@r/b c@r/c='],
    ]),
  ).toEqual(['new', 'b', 'c'])
  expect(
    await match([
      ['r/a', items],
      ['r/b', items],
      ['r/c', 'b@r/b c@r/c='],
    ]),
  ).toEqual(['new', 'b', 'c'])
  expect(
    await match([
      ['r/c', items],
      ['r/b', items],
      ['r/a', items],
    ]),
  ).toEqual(['c', 'b', 'new'])
  expect(
    await match([
      ['r/c', 'b@r/b= c@r/c'],
      ['r/b', 'b@r/b c@r/c='],
    ]),
  ).toEqual(['b', 'c'])
  expect(
    await match([
      ['', 'a b'],
      ['', 'a b='],
      ['', 'a b'],
    ]),
  ).toEqual(['a', 'b', 'new'])
})

it('takes an item of its title only where nobody else can mean it', async () => {
  expect(await match([['r/new', 'a@r/old']])).toEqual(['a'])
  expect(
    await match([
      ['r/new', 'a@r/old'],
      ['r/newer', 'a@r/old'],
    ]),
  ).toEqual(['new', 'new'])
  expect(
    await match([
      ['r/new', 'a@r/old b@r/b'],
      ['r/b', 'a@r/old b@r/b='],
    ]),
  ).toEqual(['new', 'b'])
  expect(await match([['r/new', 'a']])).toEqual(['a'])
  expect(
    await match([
      ['r/x', 'a@s/x'],
      ['', 'b@s/y'],
    ]),
  ).toEqual(['new', 'new'])
})

it('shares an equal item of another source, and finds a source again that moved', async () => {
  expect(
    await match(
      [
        ['r/x', 'a@s/x='],
        ['r/y', 'b@s/y'],
      ],
      { s: 9 },
    ),
  ).toEqual(['a', 'new'])
  const moved = [
    ['r/a', 'b@s/b c@s/c'],
    ['r/b', 'b@s/b c@s/c'],
    ['r/c', 'b@s/b c@s/c='],
  ] as const
  expect(await match(moved, { s: 2 })).toEqual(['new', 'b', 'c'])
  // Nothing of it is equal: another repository with the same names.
  expect(
    await match(
      [
        ['r/x', 'a@s/x'],
        ['r/y', 'b@s/y'],
      ],
      { s: 2 },
    ),
  ).toEqual(['new', 'new'])
})
