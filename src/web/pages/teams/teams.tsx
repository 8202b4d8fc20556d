import type { FC } from 'hono/jsx'
import { DEFAULT_VISIBILITIES, type DefaultVisibility } from '../../../domain/items/visibility.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { bindTeam, createTeam, listAllTeams, listTeams, setTeamMember } from '../../../operations/teams/teams.ts'
import type { SentForm } from '../../forms.ts'
import { Section, Submit } from '../../parts/controls.tsx'
import { On } from '../../parts/facts.tsx'
import { ActionButton } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Entries, Entry, List, readQuery } from '../../parts/lists.tsx'
import { SectionPage, TitledPage } from '../../parts/page-frames.tsx'
import { actBy, doing, type PageRequest, readListPage } from '../../request.ts'
import type { Words } from '../../site.ts'

/** The page of a team for its members. */
export const teamPath = (name: string) => `/teams/${encodeURIComponent(name)}`

interface Described {
  readonly displayName: string | null
  readonly description: string | null
  readonly defaultVisibility?: DefaultVisibility | undefined
}

/** The fields of a team besides its name. */
export function teamFields({ teams, visibilities, displayName, description }: Words, team: Described | null) {
  return {
    displayName: { label: displayName, value: team?.displayName, autocomplete: 'off' },
    description: { label: description, value: team?.description, rows: 2 },
    defaultVisibility: {
      label: teams.newItems,
      value: team?.defaultVisibility ?? 'private',
      options: DEFAULT_VISIBILITIES.map((one) => [one, visibilities[one]] as const),
    },
  }
}

/** The values of {@link teamFields}. */
export function readTeam(form: SentForm) {
  return { ...form.texts('displayName', 'description'), defaultVisibility: form.choice('defaultVisibility', DEFAULT_VISIBILITIES) }
}

/** The teams the reader is in, and a form for another. */
export async function showTeams(request: PageRequest) {
  const { words } = request
  const { teams } = await request.call(listTeams, {})
  return (
    <TitledPage
      request={request}
      title={words.teams.teams}
      lead={words.teams.lead}
      about={<a href="/docs/teams">{words.teams.about}</a>}
      styles={['admin.css']}
    >
      <Section title={words.teams.yours}>
        <Entries
          of={teams}
          none={words.teams.none}
          row={({ name, displayName, description, role }) => (
            <Entry
              title={<a href={teamPath(name)}>{displayName ?? name}</a>}
              note={displayName === null ? null : name}
              facts={[words.teams.roles[role], description]}
            />
          )}
        />
      </Section>
      <Section title={words.teams.newTeam}>
        <Form
          request={request}
          does="create"
          of={createTeam}
          fields={{
            team: { label: words.teams.name, hint: words.teams.nameHint, maxlength: 64, autocomplete: 'off' },
            ...teamFields(words, null),
          }}
          submit={words.teams.create}
        />
      </Section>
    </TitledPage>
  )
}

/** Creates a team, whose page is next. */
export const submitTeam = actBy({
  create: doing(
    createTeam,
    ({ form }) => ({ ...form.texts('team'), ...readTeam(form) }),
    'team-created',
    (_, { name }) => teamPath(name),
  ),
})

const PATH = '/admin/teams'

/** All teams, which of them have nobody to maintain them, and a form for one of others. */
export async function showAllTeams(request: PageRequest) {
  const { words } = request
  const { all } = words.teams
  const orphaned = request.query.get('kind') === 'orphaned'
  const found = await readListPage(request, (page) =>
    request.call(listAllTeams, { perPage: 50, page, matching: readQuery(request), orphaned }),
  )
  if ('to' in found) return found
  return (
    <SectionPage request={request} at={PATH} forms={['create']}>
      <p class="quiet">{all.lead}</p>
      <List
        request={request}
        path={PATH}
        found={found}
        of={found.teams}
        none={all.none}
        find={all.find}
        kinds={Object.entries(all.tabs)}
        row={(team) => <Row words={words} team={team} />}
      />
      <Section title={words.teams.newTeam} lead={all.createLead}>
        <Form
          request={request}
          does="create"
          of={createTeam}
          action={PATH}
          fields={{
            team: { label: words.teams.name, hint: words.teams.nameHint, maxlength: 64, autocomplete: 'off' },
            maintainer: { label: all.maintainer, maxlength: 64, autocomplete: 'off', isRequired: true },
          }}
          submit={words.teams.create}
        />
      </Section>
    </SectionPage>
  )
}

const Row: FC<{ words: Words; team: Output<typeof listAllTeams>['teams'][number] }> = ({ words, team }) => {
  const { name, displayName, members, items, maintainers, isOrphaned, isAsked, createdAt } = team
  const { all } = words.teams
  return (
    <Entry
      title={<strong>{name}</strong>}
      note={displayName}
      state={isOrphaned ? words.teams.all.tabs.orphaned : null}
      facts={[
        words.teams.memberCount(members),
        words.itemCount(items),
        isOrphaned ? null : all.maintainedBy(maintainers.join(', ')),
        <On label={words.since} words={words} at={createdAt} />,
      ]}
    >
      {isAsked ? <p class="quiet">{all.asked}</p> : null}
      {isAsked ? <ActionButton action={PATH} does="bind" values={{ bound: name }} text={all.bind} /> : null}
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
          <Submit does="appoint" text={all.appoint} />
        </form>
      ) : null}
    </Entry>
  )
}

/** Appoints a maintainer, lets groups fill a team, or creates a team for somebody. */
export const changeAllTeams = actBy({
  appoint: doing(
    setTeamMember,
    ({ form }) => ({ team: form.text('appointed'), ...form.texts('username'), role: 'maintainer' as const }),
    'appointed',
  ),
  bind: doing(bindTeam, ({ form }) => ({ team: form.text('bound') }), 'saved'),
  create: doing(createTeam, ({ form }) => form.texts('team', 'maintainer'), 'saved'),
})
