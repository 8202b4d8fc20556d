import type { FC } from 'hono/jsx'
import { TEAM_ROLES } from '../../../domain/people/teams.ts'
import { scopePath } from '../../../domain/skills/channel-scope.ts'
import { AppError } from '../../../errors.ts'
import { listLevels } from '../../../operations/check/waivers.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import {
  deleteTeam,
  listTeamMembers,
  removeTeamMember,
  setTeamMember,
  showTeam,
  suggestMembers,
  updateTeam,
} from '../../../operations/teams/teams.ts'
import type { SentForm } from '../../forms.ts'
import { Layout } from '../../layout.tsx'
import { Options, Section, Submit, Suggestions } from '../../parts/controls.tsx'
import { Day } from '../../parts/facts.tsx'
import { Done, Fault } from '../../parts/field.tsx'
import { ConfirmedAction, Form, sentWith } from '../../parts/form.tsx'
import { Entry, List, readQuery } from '../../parts/lists.tsx'
import { actBy, doing, type PageRequest, readListPage } from '../../request.ts'
import { checkPath } from '../reading/findings.tsx'
import { CheckLevels, saveLevels } from '../reading/rules.tsx'
import { readTeam, teamFields, teamPath } from './teams.tsx'

const PER_PAGE = 50

/** A team for its members; others are led to its items. A name of earlier leads to that of now. */
export async function showTeamPage(request: PageRequest) {
  const { site, words, call, sent, query, param } = request
  if (site.reader === null) throw new AppError('unauthenticated', words.errors.signInFirst)
  const team = await call(showTeam, { team: param('team') })
  const items = scopePath({ kind: 'author', name: team.name })
  if (team.role === null) return { to: items }
  const path = teamPath(team.name)
  if (team.name.toLowerCase() !== param('team').toLowerCase()) return { to: path, isPermanent: true as const }
  const matching = readQuery(request)
  const found = await readListPage(request, (page) => call(listTeamMembers, { team: team.name, matching, page, perPage: PER_PAGE }))
  if ('to' in found) return found
  const isMaintainer = team.role === 'maintainer'
  const levels = isMaintainer ? await call(listLevels, { owner: team.name }) : null
  const candidates = isMaintainer ? (await call(suggestMembers, { team: team.name })).usernames : []
  return (
    <Layout site={site} title={team.name} styles={['admin.css']}>
      <h1>{team.displayName ?? team.name}</h1>
      <p class="quiet">
        {team.displayName === null ? null : `${team.name} · `}
        {words.teams.memberCount(team.members ?? 0)} · {words.teams.yourRole(words.teams.roles[team.role])}
      </p>
      {team.description === null ? null : <p class="lead">{team.description}</p>}
      <p>
        <a href={items}>{words.teams.items}</a> · <a href={checkPath(items)}>{words.checking.link}</a> ·{' '}
        <a href="/teams">{words.teams.yours}</a>
        {isMaintainer ? (
          <>
            {' · '}
            <a href={`${path}/activity`}>{words.adminSections['/admin/activity']}</a>
          </>
        ) : null}
      </p>
      <Done words={words} query={query} sent={sent} />
      <Fault sent={sentWith(sent, 'role', 'remove', 'leave', 'delete')} words={words} />
      {isMaintainer ? (
        <Section title={words.teams.addMember}>
          <Form
            request={request}
            does="add"
            of={setTeamMember}
            action={path}
            fields={{
              username: { label: words.username, maxlength: 64, autocomplete: 'off', list: 'people' },
              role: { label: words.role, options: TEAM_ROLES.map((role) => [role, words.teams.roleMeans[role]]) },
            }}
            submit={words.teams.add}
          />
          <Suggestions id="people" of={candidates} />
        </Section>
      ) : null}
      <Section title={words.teams.members}>
        <List
          request={request}
          path={path}
          found={found}
          of={found.members}
          none={words.teams.noMembers}
          find={(team.members ?? 0) > PER_PAGE ? words.teams.findMembers : null}
          class="members"
          row={(member) => <MemberRow request={request} member={member} path={path} isMaintainer={isMaintainer} />}
        />
      </Section>
      {levels ? (
        <Section title={words.findings.levels}>
          <p class="quiet">
            {words.findings.teamLevelsLead} <a href="/rules">{words.findings.rules}</a>
          </p>
          <CheckLevels words={words} levels={levels} />
        </Section>
      ) : null}
      {isMaintainer ? (
        <Section title={words.settings}>
          <Form
            request={request}
            does="save"
            of={updateTeam}
            action={path}
            fields={{
              newName: { label: words.teams.name, value: team.name, hint: words.teams.renameHint, autocomplete: 'off', isRequired: true },
              ...teamFields(words, team),
            }}
            submit={words.save}
          />
          <ConfirmedAction action={path} does="delete" label={words.teams.deleteTeam} means={words.teams.deleteMeans} />
        </Section>
      ) : null}
    </Layout>
  )
}

interface MemberRowProps {
  readonly request: PageRequest
  readonly member: Output<typeof listTeamMembers>['members'][number]
  readonly path: string
  readonly isMaintainer: boolean
}

const MemberRow: FC<MemberRowProps> = ({ request, member, path, isMaintainer }) => {
  const { words, reader } = request.site
  const { username, displayName, role, joinedAt, isSuspended } = member
  const { teams } = words
  const isSelf = username === reader?.username
  return (
    <Entry
      title={<strong>{username}</strong>}
      note={[displayName, isSelf ? `(${words.audit.you})` : null].filter((text) => text !== null).join(' ')}
      state={isSuspended ? words.suspended : null}
      facts={[
        <>
          {teams.roles[role]} {words.since} <Day words={words} at={joinedAt} />
        </>,
      ]}
    >
      {isMaintainer ? (
        <form method="post" action={path} class="role">
          <input type="hidden" name="username" value={username} />
          <select name="role" aria-label={teams.roleOf(username)}>
            <Options of={TEAM_ROLES.map((one) => [one, teams.roles[one]])} chosen={role} />
          </select>
          <Submit does="role" look="button quiet" aria-label={teams.setRoleOf(username)} text={teams.setRole} />
        </form>
      ) : null}
      {isSelf ? (
        <ConfirmedAction action={path} does="leave" label={teams.leave} means={teams.leaveMeans} />
      ) : isMaintainer ? (
        <ConfirmedAction
          action={path}
          does="remove"
          values={{ username }}
          label={words.remove}
          name={words.factors.removeNamed(username)}
          means={teams.removeMeans}
        />
      ) : null}
    </Entry>
  )
}

const readMember = ({ form, param }: Pick<PageRequest, 'param'> & { readonly form: SentForm }) => ({
  team: param('team'),
  ...form.texts('username'),
  role: form.choice('role', TEAM_ROLES),
})

/** Does what a button of the page says. */
export const changeTeamPage = actBy({
  add: doing(setTeamMember, readMember, 'member-added'),
  role: doing(setTeamMember, readMember, 'role-set'),
  remove: doing(removeTeamMember, ({ form, param }) => ({ team: param('team'), ...form.texts('username') }), 'member-removed'),
  leave: doing(removeTeamMember, ({ site, param }) => ({ team: param('team'), username: site.reader?.username ?? '' }), 'left', '/teams'),
  save: doing(
    updateTeam,
    ({ form, param }) => ({ team: param('team'), ...form.texts('newName'), ...readTeam(form) }),
    'saved',
    (_, { name }) => teamPath(name),
  ),
  levels: saveLevels(({ param }) => ({ owner: param('team') })),
  delete: doing(deleteTeam, ({ param }) => ({ team: param('team') }), 'team-deleted', '/teams'),
})
