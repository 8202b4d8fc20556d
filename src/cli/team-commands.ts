import type { Command } from 'commander'
import { setTeamMember } from '../operations/teams/team-members.ts'
import { createTeam, listAllTeams } from '../operations/teams/teams.ts'
import { asOperator, type WithApp } from './operator.ts'
import { print } from './print.ts'
import { JSON_OPTION, printList, readPages } from './print-list.ts'

/** `teams`: what administrators do. Members use `create-team`, `list-teams` and so on, an operator for them with `--user NAME`. */
export function addTeamCommands(program: Command, withApp: WithApp): void {
  const run = asOperator(withApp)
  const teams = program
    .command('teams')
    .description(
      'Create teams for others, list all, and appoint maintainers. For what members do, see create-team and the commands after it.',
    )
  teams
    .command('list')
    .description('List every team with its maintainers; an orphaned one has no maintainer whose account can act')
    .option('--orphaned', 'only orphaned teams')
    .option(...JSON_OPTION)
    .action((options: { orphaned?: true; json?: true }) =>
      run(async (call) => {
        const found = await readPages(async (page) => {
          const { teams: rows, totalPages } = await call(listAllTeams, { ...page, orphaned: options.orphaned === true })
          return { rows, totalPages }
        })
        printList('teams', { teams: found }, options)
      }),
    )
  teams
    .command('create <name>')
    .description('Create a team for somebody, who maintains it')
    .requiredOption('--maintainer <name>', 'user who maintains it')
    .option('--description <text>', 'what it is for')
    .action((team: string, options: { maintainer: string; description?: string }) =>
      run(async (call) => {
        const { name } = await call(createTeam, { team, ...options })
        print(`Created team "${name}", maintained by ${options.maintainer}.\n`)
      }),
    )
  teams
    .command('appoint <team> <name>')
    .description('Appoint a user as maintainer of an orphaned team')
    .action((team: string, name: string) =>
      run(async (call) => {
        const { username } = await call(setTeamMember, { team, username: name, role: 'maintainer' })
        print(`${username} is now a maintainer of "${team}".\n`)
      }),
    )
}
