import type { FC } from 'hono/jsx'
import { VISIBILITIES } from '../../domain/items/visibility.ts'
import { hasRight } from '../../domain/people/teams.ts'
import { createCollection } from '../../operations/collections/collections.ts'
import { listTeams } from '../../operations/teams/teams.ts'
import type { SentForm } from '../forms.ts'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { Choice, Field } from './field.tsx'
import { nameVisibility } from './item-fields.tsx'

/** Longest texts that the fields take. */
const MAX_TITLE = 200
const MAX_DESCRIPTION = 500

interface NewCollectionProps {
  readonly site: Site
  readonly sent: PageRequest['sent']
  /** Teams that the reader may create one for, by name. */
  readonly teams: readonly string[]
  /** The label of the button. */
  readonly label: string
}

/** Teams that the reader may create collections for. */
export async function readCollectingTeams({ site, call }: PageRequest): Promise<string[]> {
  if (!site.reader) return []
  const { teams } = await call(listTeams, {})
  return teams.filter(({ role }) => hasRight(role, 'edit')).map(({ name }) => name)
}

/** The form of a new collection. */
export const NewCollection: FC<NewCollectionProps> = ({ site: { words }, sent, teams, label }) => {
  const { collecting } = words
  return (
    <form method="post" class="fields">
      <Field sent={sent} name="title" label={collecting.title} maxlength={MAX_TITLE} autocomplete="off" isRequired />
      <Field sent={sent} name="description" label={collecting.description} rows={2} maxlength={MAX_DESCRIPTION} />
      {teams.length === 0 ? null : (
        <Choice
          sent={sent}
          name="owner"
          label={collecting.owner}
          value=""
          options={[['', collecting.yourself], ...teams.map((name) => [name, collecting.team(name)] as const)]}
        />
      )}
      <Choice
        sent={sent}
        name="visibility"
        label={collecting.visibility}
        value=""
        options={[
          ['', collecting.asDefault],
          ...VISIBILITIES.map((one) => [one, nameVisibility(words, one, null, teams.length > 0)] as const),
        ]}
      />
      <p>
        <button class="button first" type="submit" name="do" value="create">
          {label}
        </button>
      </p>
    </form>
  )
}

/** Creates the collection of the form. */
export async function createFromForm({ call, form }: Pick<PageRequest, 'call'> & { readonly form: SentForm }) {
  const { collection } = await call(createCollection, {
    title: form.text('title'),
    owner: form.text('owner') || undefined,
    description: form.text('description') || undefined,
    visibility: form.text('visibility') === '' ? undefined : form.choice('visibility', VISIBILITIES),
  })
  return collection
}
