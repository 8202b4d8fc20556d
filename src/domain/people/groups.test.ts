import { describe, expect, it } from 'vitest'
import { parseGroupMap, readGroups, toGrants, toGroupMap } from '../sign-in/sign-in-ways.ts'

describe('a map of groups', () => {
  it('is read from a setting, with slashes, colons and equals signs in the names of groups', () => {
    expect(parseGroupMap('engineering=acme:editor, /staff/all=acme , cn=ops=core:maintainer, library-admins=admin,')).toEqual([
      { group: 'engineering', team: { name: 'acme', role: 'editor' } },
      { group: '/staff/all', team: { name: 'acme', role: 'reader' } },
      { group: 'cn=ops', team: { name: 'core', role: 'maintainer' } },
      { group: 'library-admins', team: null },
    ])
  })

  it.each([
    ['engineering', 'must be pairs'],
    ['=acme', 'must be pairs'],
    ['engineering=acme:owner', 'has the role "owner"; use reader, editor, maintainer'],
    ['engineering=ac me', 'has the team "ac me", whose name may contain only'],
    ['engineering=settings:editor', 'is reserved for addresses of this service'],
    ['engineering=', 'whose name is empty'],
  ])('%s is refused', (text, clause) => {
    expect(() => parseGroupMap(text)).toThrow(clause)
  })

  it('has a limit', () => {
    expect(() => toGroupMap(Array.from({ length: 501 }, (_, n) => [`g${n}`, 'acme'] as const))).toThrow('has 501 entries; the most are 500')
  })
})

describe('rights by groups', () => {
  const map = parseGroupMap('a=acme:reader, b=acme:maintainer, c=acme:editor, d=other:editor, e=admin')

  it('are the highest role in each team', () => {
    expect([...toGrants(map, ['a', 'b', 'c']).teams]).toEqual([['acme', 'maintainer']])
    expect([...toGrants(map, ['c', 'a', 'd', 'unknown']).teams]).toEqual([
      ['acme', 'editor'],
      ['other', 'editor'],
    ])
  })

  it('say what the map decides about, also for somebody in no group', () => {
    expect(toGrants(map, [])).toEqual({ teams: new Map(), isAdmin: false, decidesTeams: ['acme', 'other'], decidesAdmin: true })
    expect(toGrants(map, ['e']).isAdmin).toBe(true)
    expect(toGrants(parseGroupMap('a=acme'), ['e'])).toMatchObject({ isAdmin: false, decidesAdmin: false })
  })
})

it('reads groups from a list or a text', () => {
  const values = [['a', ' b ', '', 7, null], 'a, b,,c', undefined, { a: 1 }]
  expect(values.map(readGroups)).toEqual([['a', 'b'], ['a', 'b', 'c'], [], []])
})

it('looks at a bounded number of groups', () => {
  expect(readGroups(Array.from({ length: 5_000 }, (_, n) => `g${n}`))).toHaveLength(2_000)
})
