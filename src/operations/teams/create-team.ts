import { z } from 'zod'
import { displayNameField } from '../../library/account.ts'
import { teamDescriptionField } from '../../library/teams.ts'
import { defineOperation } from '../core/define-operation.ts'
import type { Needs } from '../core/procedure.ts'
import { clearable, defaultVisibilityInput, memberInput, teamNameField, teamRecord, toCaller, toKept, toTeamRecord } from './team-access.ts'

/** Creates a team; whoever creates it maintains it. */
export const createTeam = defineOperation({
  name: 'create_team',
  title: 'Create a team',
  summary:
    'Create a team that owns prompts and skills. You are its maintainer. Its name is one among those of users, and never given to others.',
  scope: 'write',
  needsWholeKey: true,
  writes: true,
  // Its name is taken for good: at most a dozen a minute, by the default limits.
  cost: 1_000,
  surfaces: { rest: { method: 'POST', path: '/api/teams', status: 201 }, cli: { command: 'create-team', positional: ['team'] } },
  input: z.object({
    team: teamNameField.describe('Name of the team'),
    displayName: clearable(displayNameField),
    description: clearable(teamDescriptionField),
    defaultVisibility: defaultVisibilityInput.default('private'),
    maintainer: memberInput.optional().describe('Username of somebody else; only administrators may name one'),
  }),
  output: teamRecord,
  async run({ actor, store }: Needs<'teams'>, { team: name, displayName, description, defaultVisibility, maintainer }) {
    const draft = { name, displayName: toKept(displayName), description: toKept(description), defaultVisibility, maintainer }
    return toTeamRecord(await store.teams.createTeam(toCaller(actor), draft))
  },
})
