import { z } from 'zod'
import { displayNameField } from '../../library/account.ts'
import { teamDescriptionField } from '../../library/teams.ts'
import { defineOperation } from '../core/define-operation.ts'
import type { Needs } from '../core/procedure.ts'
import {
  clearable,
  defaultVisibilityInput,
  findTeam,
  teamInput,
  teamNameField,
  teamRecord,
  toCaller,
  toKept,
  toTeamRecord,
} from './team-access.ts'

const toChange = (text: string | undefined) => (text === undefined ? undefined : toKept(text))

export const updateTeam = defineOperation({
  name: 'update_team',
  title: 'Change a team',
  summary:
    'Rename a team you maintain, or change its description or the visibility of new items. Its earlier names lead to it for ever. An empty text removes a field.',
  scope: 'write',
  needsWholeKey: true,
  writes: true,
  surfaces: { rest: { method: 'PATCH', path: '/api/teams/{team}' }, cli: { command: 'update-team', positional: ['team'] } },
  input: z.object({
    team: teamInput,
    newName: teamNameField.optional(),
    displayName: clearable(displayNameField),
    description: clearable(teamDescriptionField),
    defaultVisibility: defaultVisibilityInput.optional(),
  }),
  output: teamRecord,
  async run(context: Needs<'teams'>, { team: name, newName, displayName, description, defaultVisibility }) {
    const team = await findTeam(context, name)
    const change = { name: newName, displayName: toChange(displayName), description: toChange(description), defaultVisibility }
    return toTeamRecord(await context.store.teams.changeTeam(toCaller(context.actor), team.id, change))
  },
})

export const deleteTeam = defineOperation({
  name: 'delete_team',
  title: 'Delete a team',
  summary: 'Delete a team you maintain. It must own nothing, not even in the trash. Its names are not given to others.',
  scope: 'write',
  needsWholeKey: true,
  writes: true,
  surfaces: { rest: { method: 'DELETE', path: '/api/teams/{team}' }, cli: { command: 'delete-team', positional: ['team'] } },
  input: z.object({ team: teamInput }),
  output: z.object({ success: z.literal(true), name: z.string() }),
  async run(context: Needs<'teams'>, { team: name }) {
    const team = await findTeam(context, name)
    await context.store.teams.deleteTeam(toCaller(context.actor), team.id)
    return { success: true as const, name: team.name }
  },
})
