import { DEFAULT_VISIBILITIES, type DefaultVisibility } from '../../../domain/items/visibility.ts'
import { createTeam, listTeams } from '../../../operations/teams/teams.ts'
import type { SentForm } from '../../forms.ts'
import { Section } from '../../parts/controls.tsx'
import { Entries, Entry } from '../../parts/entries.tsx'
import { Form } from '../../parts/form.tsx'
import { TitledPage } from '../../parts/titled-page.tsx'
import { actBy, doing, type PageRequest } from '../../request.ts'
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
  const { words } = request.site
  const { teams } = await request.call(listTeams, {})
  return (
    <TitledPage
      request={request}
      title={words.teams.teams}
      lead={words.teams.lead}
      about={<a href="/docs/teams">{words.teams.about}</a>}
      current="teams"
      isIndexed={false}
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
