import type { FC } from 'hono/jsx'
import type { Output } from '../../../operations/core/procedure.ts'
import { setTeamMember } from '../../../operations/teams/team-members.ts'
import { bindTeam, createTeam, listAllTeams } from '../../../operations/teams/teams.ts'
import { Day } from '../../parts/day.tsx'
import { Fault, Field } from '../../parts/field.tsx'
import { PageLinks } from '../../parts/page-links.tsx'
import { type Action, type PageRequest, readListPage } from '../../request.ts'
import type { Site } from '../../site.ts'
import { AdminPage } from './admin-page.tsx'

const PATH = '/admin/teams'
const PER_PAGE = 50

type ListedTeam = Output<typeof listAllTeams>['teams'][number]

/** All teams, which of them have nobody to maintain them, and a form for one of others. */
export async function showAllTeams(request: PageRequest) {
  const { site, query, call, sent } = request
  const { words } = site
  const { all } = words.teams
  const matching = (query.get('q') ?? '').slice(0, 64)
  const orphaned = query.get('kind') === 'orphaned'
  const toUrl = (isOrphaned: boolean, page = 1) => {
    const fields = { ...(isOrphaned ? { kind: 'orphaned' } : {}), ...(matching === '' ? {} : { q: matching }) }
    const params = new URLSearchParams({ ...fields, ...(page === 1 ? {} : { page: String(page) }) })
    return params.size === 0 ? PATH : `${PATH}?${params}`
  }
  const found = await readListPage(request, (page) => call(listAllTeams, { perPage: PER_PAGE, page, matching, orphaned }))
  if ('to' in found) return found
  return (
    <AdminPage request={request} at={PATH}>
      <p class="quiet">{all.lead}</p>
      <Fault sent={sent} fields={['team', 'maintainer']} words={words} />
      <search>
        <form method="get" class="search">
          {orphaned ? <input type="hidden" name="kind" value="orphaned" /> : null}
          <input type="search" name="q" value={matching} aria-label={all.find} placeholder={all.find} maxlength={64} />
          <button class="button" type="submit">
            {words.search}
          </button>
        </form>
      </search>
      <nav aria-label={words.filters}>
        <ul class="filters tabs">
          {[false, true].map((one) => (
            <li>
              <a href={toUrl(one)} aria-current={one === orphaned ? 'page' : undefined}>
                {one ? all.tabs.orphaned : all.tabs.all}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {found.teams.length === 0 ? <p>{all.none}</p> : null}
      <ul class="entries">
        {found.teams.map((team) => (
          <Row site={site} team={team} />
        ))}
      </ul>
      <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={(page) => toUrl(orphaned, page)} />
      <section>
        <h2>{words.teams.newTeam}</h2>
        <p class="quiet">{all.createLead}</p>
        <form method="post" action={PATH} class="fields">
          <Field
            sent={sent}
            name="team"
            label={words.teams.name}
            hint={words.teams.nameHint}
            maxlength={64}
            autocomplete="off"
            isRequired
          />
          <Field sent={sent} name="maintainer" label={all.maintainer} maxlength={64} autocomplete="off" isRequired />
          <p>
            <button class="button first" type="submit" name="do" value="create">
              {words.teams.create}
            </button>
          </p>
        </form>
      </section>
    </AdminPage>
  )
}

const Row: FC<{ site: Site; team: ListedTeam }> = ({ site: { words }, team }) => {
  const { name, displayName, members, items, maintainers, isOrphaned, isAsked, createdAt } = team
  const { all } = words.teams
  return (
    <li>
      <div>
        <strong>{name}</strong> {displayName === null ? null : <span class="quiet">{displayName}</span>}{' '}
        {isOrphaned ? <strong class="state">{all.orphaned}</strong> : null}
        <p class="quiet">
          {words.teams.memberCount(members)} · {words.itemCount(items)} ·{' '}
          {isOrphaned ? '' : `${all.maintainedBy(maintainers.join(', '))} · `}
          {words.since} <Day words={words} at={createdAt} />
        </p>
      </div>
      {isAsked ? (
        <form method="post" action={PATH} class="controls">
          <input type="hidden" name="bound" value={name} />
          <p class="quiet">{all.asked}</p>
          <button class="button" type="submit" name="do" value="bind">
            {all.bind}
          </button>
        </form>
      ) : null}
      {isOrphaned ? (
        <form method="post" action={PATH} class="controls">
          <input type="hidden" name="appointed" value={name} />
          <input
            type="text"
            name="username"
            required
            maxlength={64}
            autocomplete="off"
            aria-label={all.appointFor(name)}
            placeholder={words.username}
          />
          <button class="button" type="submit" name="do" value="appoint">
            {all.appoint}
          </button>
        </form>
      ) : null}
    </li>
  )
}

/** Appoints a maintainer, or creates a team for somebody. */
export const changeAllTeams: Action = async ({ call, form }) => {
  if (form.text('do') === 'appoint') {
    await call(setTeamMember, { team: form.text('appointed'), username: form.text('username').trim(), role: 'maintainer' })
    return { to: `${PATH}?done=appointed` }
  }
  if (form.text('do') === 'bind') {
    await call(bindTeam, { team: form.text('bound') })
    return { to: `${PATH}?done=saved` }
  }
  await call(createTeam, { team: form.text('team').trim(), maintainer: form.text('maintainer').trim() })
  return { to: `${PATH}?done=saved` }
}
