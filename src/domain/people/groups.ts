import { AppError } from '../../errors.ts'
import { TEAM_ROLES, type TeamRole } from './teams.ts'
import { usernameFault } from './username.ts'

/** Entries of one map, and groups of one person that are looked at. */
const MAX_MAPPED = 500
const MAX_GROUPS = 2_000
const MAX_GROUP_NAME = 300
/** In a map: the role of administrators, where others name a team. */
const ADMIN = 'admin'

/** The right that a group of a sign-in provider gives: a role in a team, or the role of administrators. */
interface MappedGroup {
  readonly group: string
  /** Null: the role of administrators. */
  readonly team: { readonly name: string; readonly role: TeamRole } | null
}

/** The rights that groups of a sign-in provider, a proxy or a directory give. */
export type GroupMap = readonly MappedGroup[]

/** The rights that somebody's groups give, and those that the map decides about: what it names and does not give is taken away. */
export interface Grants {
  /** By name. */
  readonly teams: ReadonlyMap<string, TeamRole>
  readonly isAdmin: boolean
  readonly decidesTeams: readonly string[]
  readonly decidesAdmin: boolean
}

/** The right of a group, from `TEAM:ROLE`, `TEAM` (a reader of it) or `admin`. @throws AppError `invalid_input`, a clause without a full stop */
function readMeaning(text: string): MappedGroup['team'] {
  if (text === ADMIN) return null
  const [, name = '', role = 'reader'] = /^([^:]*)(?::(.*))?$/.exec(text) ?? []
  const known = TEAM_ROLES.find((one) => one === role)
  if (known === undefined) throw new AppError('invalid_input', `has the role "${role.slice(0, 40)}"; use ${TEAM_ROLES.join(', ')}`)
  const fault = usernameFault(name)
  if (fault !== null) throw new AppError('invalid_input', `has the team "${name.slice(0, 80)}", whose name ${fault}`)
  return { name, role: known }
}

/**
 * A map from pairs of a group and its meanings.
 * @throws AppError `invalid_input`: a clause that ends a sentence which begins with the name of the setting
 */
export function toGroupMap(pairs: readonly (readonly [group: string, meaning: string])[]): GroupMap {
  if (pairs.length > MAX_MAPPED) throw new AppError('invalid_input', `has ${pairs.length} entries; the most are ${MAX_MAPPED}`)
  return pairs.map(([group, meaning]) => {
    if (group === '' || group.length > MAX_GROUP_NAME) {
      throw new AppError('invalid_input', `must name a group of 1 to ${MAX_GROUP_NAME} characters before each =`)
    }
    return { group, team: readMeaning(meaning) }
  })
}

/** A map as a setting has it: `engineering=acme:editor, library-admins=admin`. @throws AppError as {@link toGroupMap} */
export function parseGroupMap(text: string): GroupMap {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  const pairs = entries.map((entry): [string, string] => {
    const at = entry.lastIndexOf('=')
    if (at < 1) throw new AppError('invalid_input', 'must be pairs such as engineering=acme:editor, library-admins=admin')
    return [entry.slice(0, at).trim(), entry.slice(at + 1).trim()]
  })
  return toGroupMap(pairs)
}

/** The rights of somebody in these groups. Of several roles in one team the highest counts. */
export function toGrants(map: GroupMap, groups: readonly string[]): Grants {
  const own = new Set(groups.slice(0, MAX_GROUPS))
  const teams = new Map<string, TeamRole>()
  let isAdmin = false
  for (const { group, team } of map) {
    if (!own.has(group)) continue
    if (team === null) isAdmin = true
    else {
      const held = teams.get(team.name)
      if (held === undefined || TEAM_ROLES.indexOf(team.role) > TEAM_ROLES.indexOf(held)) teams.set(team.name, team.role)
    }
  }
  return {
    teams,
    isAdmin,
    decidesTeams: [...new Set(map.flatMap(({ team }) => (team ? [team.name] : [])))],
    decidesAdmin: map.some(({ team }) => team === null),
  }
}

/** The groups of a claim or a header, whatever its form: a list of texts, or one text with commas. */
export function readGroups(value: unknown): readonly string[] {
  const texts = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : []
  return texts.flatMap((text) => (typeof text === 'string' && text.trim() !== '' ? [text.trim()] : [])).slice(0, MAX_GROUPS)
}
