import { describe, expect, it } from 'vitest'
import { type Actor, ANONYMOUS, type Scope, strangerTo } from '../people/actor.ts'
import type { TeamRole } from '../people/teams.ts'
import {
  askedVisibility,
  isVisible,
  type Reach,
  standingOf,
  VISIBILITIES,
  type Visibility,
  visibleSet,
  visibleVersions,
} from './visibility.ts'

const user = (userId: string, ...scopes: Scope[]): Actor => ({ kind: 'user', userId, username: userId, scopes: new Set(scopes) })
const ACTORS: Record<string, Actor> = {
  anonymous: ANONYMOUS,
  outside: strangerTo({ isForMembers: true }),
  owner: user('ann', 'read', 'write', 'improve'),
  'owner, read only': user('ann', 'read'),
  'owner, key without read': user('ann', 'write', 'improve'),
  other: user('bob', 'read', 'write', 'improve'),
  'other, key without read': user('bob', 'write'),
  'member of the team': user('cleo', 'read', 'write', 'improve'),
  'member of the team, key without read': user('cleo', 'write'),
}

/** Ann owns the item, or the team that Ann maintains and Cleo reads. */
const ROLES: Record<string, TeamRole> = { ann: 'maintainer', cleo: 'reader' }
const SEEING = Object.keys(ROLES)
const roleOf = (actor: Actor): TeamRole | null => (actor.kind === 'user' ? (ROLES[actor.userId] ?? null) : null)

const OWNERS = ['owner', 'owner, read only', 'member of the team']

/** Everybody who reaches an open library. */
const INSIDE = Object.keys(ACTORS).filter((who) => who !== 'outside')

/** Who sees an item that is not deleted, by how it was come by. Written out from the contract; everybody else does not. */
const SEEN_BY: Record<Visibility, Record<Reach, readonly string[]>> = {
  public: { id: Object.keys(ACTORS), slug: Object.keys(ACTORS), list: INSIDE },
  members: { id: [...OWNERS, 'other'], slug: [...OWNERS, 'other'], list: [...OWNERS, 'other'] },
  unlisted: { id: INSIDE, slug: OWNERS, list: OWNERS },
  private: { id: OWNERS, slug: OWNERS, list: OWNERS },
}

const CASES = Object.entries(ACTORS).flatMap(([who, actor]) =>
  VISIBILITIES.flatMap((visibility) =>
    (['id', 'slug', 'list'] as const).map((reach) => ({ who, actor, visibility, reach, sees: SEEN_BY[visibility][reach].includes(who) })),
  ),
)

it('has a stranger of its own in a library for members', () => {
  expect(strangerTo({ isForMembers: false })).toBe(ANONYMOUS)
  const outside = strangerTo({ isForMembers: true })
  expect([standingOf(ANONYMOUS), standingOf(outside)]).toEqual(['stranger', 'outsider'])
  expect(visibleVersions(outside)).toEqual([])
})

describe('the visibility rule', () => {
  it.each(CASES)('$who, $visibility item by $reach: $sees, and never once it is deleted', ({ actor, visibility, reach, sees }) => {
    expect(isVisible(actor, { visibility, deletedAt: null }, roleOf(actor), reach)).toBe(sees)
    expect(isVisible(actor, { visibility, deletedAt: '2026-01-01T00:00:00.000Z' }, roleOf(actor), reach)).toBe(false)
    // What the store gets to filter by says the same.
    const set = visibleSet(actor, reach)
    expect(set.visibilities.includes(visibility) || SEEING.includes(set.readerId ?? '')).toBe(sees)
  })
})

it.each([
  [{}, null],
  [{ isPrivate: true }, 'private'],
  [{ isPrivate: false }, 'public'],
  [{ visibility: 'unlisted' as const }, 'unlisted'],
  [{ visibility: 'private' as const }, 'private'],
])('askedVisibility(%j) is %s', (input, expected) => {
  expect(askedVisibility(input)).toBe(expected)
})
