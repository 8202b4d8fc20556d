import { DEFAULT_VISIBILITIES } from '../../../domain/items/visibility.ts'
import { createTeam, listTeams } from '../../../operations/teams/teams.ts'
import { Layout } from '../../layout.tsx'
import { Choice, Done, Fault, Field } from '../../parts/field.tsx'
import type { Action, PageRequest } from '../../request.ts'

/** The teams the reader is in, and a form for another. */
export async function showTeams(request: PageRequest) {
  const { site, call, sent, query } = request
  const { words } = site
  const { teams } = await call(listTeams, {})
  return (
    <Layout site={site} title={words.teams.teams} current="teams" isIndexed={false} styles={['admin.css']}>
      <h1>{words.teams.teams}</h1>
      <p class="lead">
        {words.teams.lead} <a href="/docs/teams">{words.teams.about}</a>
      </p>
      <Done words={words} query={query} sent={sent} />
      <section>
        <h2>{words.teams.yours}</h2>
        {teams.length === 0 ? <p>{words.teams.none}</p> : null}
        <ul class="entries">
          {teams.map(({ name, displayName, description, role }) => (
            <li>
              <div>
                <a href={`/teams/${encodeURIComponent(name)}`}>{displayName ?? name}</a>{' '}
                {displayName === null ? null : <span class="quiet">{name}</span>}
                <p class="quiet">
                  {words.teams.roles[role]}
                  {description === null ? '' : ` · ${description}`}
                </p>
              </div>
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h2>{words.teams.newTeam}</h2>
        <Fault sent={sent} fields={['team', 'displayName', 'description', 'defaultVisibility']} words={words} />
        <form method="post" class="fields">
          <Field
            sent={sent}
            name="team"
            label={words.teams.name}
            hint={words.teams.nameHint}
            maxlength={64}
            autocomplete="off"
            isRequired
          />
          <Field sent={sent} name="displayName" label={words.teams.displayName} maxlength={100} autocomplete="off" />
          <Field sent={sent} name="description" label={words.teams.description} maxlength={500} rows={2} />
          <Choice
            sent={sent}
            name="defaultVisibility"
            label={words.teams.newItems}
            value="private"
            options={DEFAULT_VISIBILITIES.map((one) => [one, words.visibilities[one]])}
          />
          <p>
            <button class="button first" type="submit" name="do" value="create">
              {words.teams.create}
            </button>
          </p>
        </form>
      </section>
    </Layout>
  )
}

/** Creates a team, whose page is next. */
export const submitTeam: Action = async ({ call, form }) => {
  const { name } = await call(createTeam, {
    team: form.text('team').trim(),
    displayName: form.text('displayName').trim(),
    description: form.text('description').trim(),
    defaultVisibility: form.choice('defaultVisibility', DEFAULT_VISIBILITIES),
  })
  return { to: `/teams/${encodeURIComponent(name)}?done=team-created` }
}
