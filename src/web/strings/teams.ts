import type { TeamRole } from '../../library/teams.ts'

/** Teams. */
export const TEAM_WORDS = {
  roles: { reader: 'Reader', editor: 'Editor', maintainer: 'Maintainer' } satisfies Record<TeamRole, string>,
}
