import type { FC } from 'hono/jsx'
import { DEFAULT_VISIBILITIES } from '../../../domain/items/visibility.ts'
import { TEAM_ROLES } from '../../../domain/people/teams.ts'
import { scopePath } from '../../../domain/skills/channel-scope.ts'
import { AppError } from '../../../errors.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { listTeamMembers, removeTeamMember, setTeamMember, suggestMembers } from '../../../operations/teams/team-members.ts'
import { deleteTeam, showTeam, updateTeam } from '../../../operations/teams/teams.ts'
import { Layout } from '../../layout.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Day } from '../../parts/day.tsx'
import { ActionButton, Choice, Done, Fault, Field, sentOr } from '../../parts/field.tsx'
import { PageLinks } from '../../parts/page-links.tsx'
import { type Action, type PageRequest, readListPage } from '../../request.ts'
import type { Site } from '../../site.ts'

const PER_PAGE = 50
const FIELDS = ['newName', 'displayName', 'description', 'defaultVisibility', 'username', 'role']

type ShownTeam = Output<typeof showTeam>
type Member = Output<typeof listTeamMembers>['members'][number]

const toPath = (name: string) => `/teams/${encodeURIComponent(name)}`

/** A team for its members; others are led to its items. A name of earlier leads to that of now. */
export async function showTeamPage(request: PageRequest) {
  const { site, call, sent, query, param } = request
  if (site.reader === null) throw new AppError('unauthenticated', site.words.errors.signInFirst)
  const team = await call(showTeam, { team: param('team') })
  if (team.role === null) return { to: scopePath({ kind: 'author', name: team.name }) }
  const path = toPath(team.name)
  if (team.name.toLowerCase() !== param('team').toLowerCase()) return { to: path, isPermanent: true as const }
  const matching = (query.get('q') ?? '').slice(0, 64)
  const found = await readListPage(request, (page) => call(listTeamMembers, { team: team.name, matching, page, perPage: PER_PAGE }))
  if ('to' in found) return found
  const isMaintainer = team.role === 'maintainer'
  const candidates = isMaintainer ? (await call(suggestMembers, { team: team.name })).usernames : []
  const { words } = site
  const toUrl = (page: number) => {
    const params = new URLSearchParams({ ...(matching === '' ? {} : { q: matching }), ...(page === 1 ? {} : { page: String(page) }) })
    return params.size === 0 ? path : `${path}?${params}`
  }
  return (
    <Layout site={site} title={team.name} current="teams" isIndexed={false} styles={['admin.css']}>
      <h1>{team.displayName ?? team.name}</h1>
      <p class="quiet">
        {team.displayName === null ? null : `${team.name} · `}
        {words.teams.memberCount(team.members ?? 0)} · {words.teams.yourRole(words.teams.roles[team.role])}
      </p>
      {team.description === null ? null : <p class="lead">{team.description}</p>}
      <p>
        <a href={scopePath({ kind: 'author', name: team.name })}>{words.teams.items}</a> · <a href="/teams">{words.teams.yours}</a>
        {isMaintainer ? (
          <>
            {' · '}
            <a href={`${path}/activity`}>{words.teams.activity}</a>
          </>
        ) : null}
      </p>
      <Done words={words} query={query} sent={sent} />
      <Fault sent={sent} fields={FIELDS} words={words} />
      {isMaintainer ? <NewMember request={request} path={path} candidates={candidates} /> : null}
      <section>
        <h2>{words.teams.members}</h2>
        {(team.members ?? 0) > PER_PAGE ? (
          <search>
            <form method="get" class="search">
              <input
                type="search"
                name="q"
                value={matching}
                aria-label={words.teams.findMembers}
                placeholder={words.teams.findMembers}
                maxlength={64}
              />
              <button class="button" type="submit">
                {words.search}
              </button>
            </form>
          </search>
        ) : null}
        {found.members.length === 0 ? <p>{words.teams.noMembers}</p> : null}
        <ul class="entries members">
          {found.members.map((member) => (
            <MemberRow site={site} member={member} path={path} isMaintainer={isMaintainer} />
          ))}
        </ul>
        <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={toUrl} />
      </section>
      {isMaintainer ? <Settings request={request} team={team} path={path} /> : null}
    </Layout>
  )
}

/** A name, completed from the accounts there are, and a role. */
const NewMember: FC<{ request: PageRequest; path: string; candidates: readonly string[] }> = ({ request, path, candidates }) => {
  const { sent, site } = request
  const { words } = site
  return (
    <section>
      <h2>{words.teams.addMember}</h2>
      <form method="post" action={path} class="fields">
        <Field sent={sent} name="username" label={words.teams.username} maxlength={64} autocomplete="off" list="people" isRequired />
        <datalist id="people">
          {candidates.map((name) => (
            <option value={name} />
          ))}
        </datalist>
        <Choice
          sent={sent}
          name="role"
          label={words.teams.role}
          value="reader"
          options={TEAM_ROLES.map((role) => [role, words.teams.roleMeans[role]])}
        />
        <p>
          <button class="button first" type="submit" name="do" value="add">
            {words.teams.add}
          </button>
        </p>
      </form>
    </section>
  )
}

const MemberRow: FC<{ site: Site; member: Member; path: string; isMaintainer: boolean }> = ({ site, member, path, isMaintainer }) => {
  const { words, reader } = site
  const { username, displayName, role, joinedAt, isSuspended } = member
  const isSelf = username === reader?.username
  return (
    <li>
      <div>
        <strong>{username}</strong> {displayName === null ? null : <span class="quiet">{displayName}</span>}{' '}
        {isSelf ? <span class="quiet">({words.teams.you})</span> : null}{' '}
        {isSuspended ? <strong class="state">{words.teams.suspended}</strong> : null}
        <p class="quiet">
          {words.teams.roles[role]} {words.teams.since} <Day words={words} at={joinedAt} />
        </p>
      </div>
      <div class="controls">
        {isMaintainer ? (
          <form method="post" action={path} class="role">
            <input type="hidden" name="username" value={username} />
            <select name="role" aria-label={words.teams.roleOf(username)}>
              {TEAM_ROLES.map((one) => (
                <option value={one} selected={one === role}>
                  {words.teams.roles[one]}
                </option>
              ))}
            </select>
            <button class="button quiet" type="submit" name="do" value="role" aria-label={words.teams.setRoleOf(username)}>
              {words.teams.setRole}
            </button>
          </form>
        ) : null}
        {isSelf ? (
          <Confirm label={words.teams.leave} means={words.teams.leaveMeans}>
            <ActionButton action={path} does="leave">
              {words.teams.leave}
            </ActionButton>
          </Confirm>
        ) : isMaintainer ? (
          <Confirm label={words.teams.remove} name={words.teams.removeMember(username)} means={words.teams.removeMeans}>
            <ActionButton action={path} does="remove" values={{ username }} label={words.teams.removeMember(username)}>
              {words.teams.remove}
            </ActionButton>
          </Confirm>
        ) : null}
      </div>
    </li>
  )
}

const Settings: FC<{ request: PageRequest; team: ShownTeam; path: string }> = ({ request: { site, sent }, team, path }) => {
  const { words } = site
  return (
    <section>
      <h2>{words.teams.settings}</h2>
      <form method="post" action={path} class="fields">
        <Field
          sent={sent}
          name="newName"
          label={words.teams.name}
          value={team.name}
          hint={words.teams.renameHint}
          maxlength={64}
          autocomplete="off"
          isRequired
        />
        <Field sent={sent} name="displayName" label={words.teams.displayName} value={team.displayName} maxlength={100} autocomplete="off" />
        <Field sent={sent} name="description" label={words.teams.description} value={team.description} maxlength={500} rows={2} />
        <Choice
          sent={sent}
          name="defaultVisibility"
          label={words.teams.newItems}
          value={sentOr(sent, 'defaultVisibility', team.defaultVisibility)}
          options={DEFAULT_VISIBILITIES.map((one) => [one, words.visibilities[one]])}
        />
        <p>
          <button class="button first" type="submit" name="do" value="save">
            {words.save}
          </button>
        </p>
      </form>
      <Confirm label={words.teams.deleteTeam} means={words.teams.deleteMeans}>
        <ActionButton action={path} does="delete">
          {words.deleteForGood}
        </ActionButton>
      </Confirm>
    </section>
  )
}

/** Does what a button of the page says. */
export const changeTeamPage: Action = async ({ site, call, form, param }) => {
  const team = param('team')
  const path = toPath(team)
  const username = form.text('username').trim()
  switch (form.text('do')) {
    case 'add':
      await call(setTeamMember, { team, username, role: form.choice('role', TEAM_ROLES) })
      return { to: `${path}?done=member-added` }
    case 'role':
      await call(setTeamMember, { team, username, role: form.choice('role', TEAM_ROLES) })
      return { to: `${path}?done=role-set` }
    case 'remove':
      await call(removeTeamMember, { team, username })
      return { to: `${path}?done=member-removed` }
    case 'leave':
      await call(removeTeamMember, { team, username: site.reader?.username ?? '' })
      return { to: '/teams?done=left' }
    case 'save': {
      const { name } = await call(updateTeam, {
        team,
        newName: form.text('newName').trim(),
        displayName: form.text('displayName').trim(),
        description: form.text('description').trim(),
        defaultVisibility: form.choice('defaultVisibility', DEFAULT_VISIBILITIES),
      })
      return { to: `${toPath(name)}?done=saved` }
    }
    case 'delete':
      await call(deleteTeam, { team })
      return { to: '/teams?done=team-deleted' }
    default:
      throw new AppError('invalid_input', site.words.errors.noButton)
  }
}
