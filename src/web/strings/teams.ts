import type { TeamRole } from '../../domain/people/teams.ts'
import { count, number } from './count.ts'

/** Teams. */
export const TEAM_WORDS = {
  roles: { reader: 'Reader', editor: 'Editor', maintainer: 'Maintainer' } satisfies Record<TeamRole, string>,
  roleMeans: {
    reader: 'Reader: sees its private items',
    editor: 'Editor: also creates and edits items',
    maintainer: 'Maintainer: also publishes, deletes, and manages members',
  } satisfies Record<TeamRole, string>,
  teams: 'Teams',
  lead: 'A team owns prompts and skills together. What members may do depends on their role.',
  about: 'How teams work',
  yours: 'Your teams',
  none: 'You are not in a team yet.',
  create: 'Create team',
  newTeam: 'New team',
  name: 'Name',
  nameHint: 'a–z, A–Z, 0–9, dot, hyphen and underscore. Used in links. It cannot be reused by others.',
  newItems: 'New items are',
  isTeam: 'A team.',
  manageLink: 'Members and settings',
  items: 'Items',
  activityOf: (name: string) => `Activity of ${name}`,
  back: (name: string) => `Back to ${name}`,
  yourRole: (role: string) => `Your role: ${role}`,
  members: 'Members',
  memberCount: (n: number) => count(n, 'member'),
  findMembers: 'Find members',
  noMembers: 'No member has this name.',
  addMember: 'Add a member',
  add: 'Add',
  roleOf: (name: string) => `Role of ${name}`,
  setRole: 'Save role',
  setRoleOf: (name: string) => `Save role: ${name}`,
  removeMeans: 'They lose access to private items of the team immediately. What they made stays.',
  leave: 'Leave',
  leaveMeans: 'You lose access to private items of the team. What you made stays. A maintainer can add you again.',
  renameHint: 'Old names keep redirecting here and are never reused.',
  deleteTeam: 'Delete team',
  deleteMeans: 'The team must own nothing, not even in the trash. Its names are never reused. This cannot be undone.',
  handOver: 'Give the items to',
  handOverNone: 'Nobody (delete them for good)',
  handOverHint: 'A user or a team gets everything, with all versions. Leave empty to delete it.',
  all: {
    find: 'Find teams',
    none: 'None found.',
    tabs: { all: 'All', orphaned: 'Orphaned' },
    lead: 'An orphaned team has no maintainer who can act. Appoint one. You still cannot see its private items.',
    maintainedBy: (names: string) => `maintained by ${names}`,
    asked: 'A group map names this team, which someone here created. Its maintainers would see what the group saves.',
    bind: 'Let groups fill it',
    appoint: 'Appoint maintainer',
    appointFor: (name: string) => `Username of the new maintainer of ${name}`,
    createLead: 'Create a team for others. The person you name maintains it.',
    maintainer: 'Maintainer',
  },
}

/** Transfers of items between owners. */
export const TRANSFER_WORDS = {
  transfer: 'Transfer',
  title: 'Transfer to another owner',
  lead: (title: string) => `“${title}” is transferred immediately, with its addresses, versions and votes.`,
  about: 'How transfers work',
  none: 'There is no team you could transfer this to.',
  privateVersions: (count: number) =>
    count === 1
      ? 'One earlier version was private. The new owner would see it.'
      : `${number(count)} earlier versions were private. The new owner would see them.`,
  leaveOut: 'Delete private versions, and the tags they had while private, for good first',
  to: 'New owner',
  becomesPrivate: (name: string) => `${name} (becomes private: you cannot publish there)`,
}
