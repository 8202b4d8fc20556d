import type { FC } from 'hono/jsx'
import { VISIBILITIES } from '../../domain/items/visibility.ts'
import { hasRight } from '../../domain/people/teams.ts'
import { createCollection } from '../../operations/collections/collections.ts'
import { listTeams } from '../../operations/teams/teams.ts'
import type { SentForm } from '../forms.ts'
import type { PageRequest } from '../request.ts'
import { Form } from './form.tsx'

/** Teams that the reader may create collections for. */
export async function readCollectingTeams({ site, call }: PageRequest): Promise<string[]> {
  if (!site.reader) return []
  const { teams } = await call(listTeams, {})
  return teams.filter(({ role }) => hasRight(role, 'edit')).map(({ name }) => name)
}

interface NewCollectionProps {
  readonly request: PageRequest
  /** Teams that the reader may create one for, by name. */
  readonly teams: readonly string[]
  /** The label of the button. */
  readonly label: string
  readonly action?: string
}

/** The form of a new collection. */
export const NewCollection: FC<NewCollectionProps> = ({ request, teams, label, action }) => {
  const { collecting, visibilityMeans, privateToOwner } = request.site.words
  const means = teams.length === 0 ? visibilityMeans : { ...visibilityMeans, private: privateToOwner }
  return (
    <Form
      request={request}
      does="create"
      of={createCollection}
      action={action}
      fields={{
        title: { label: request.site.words.title, autocomplete: 'off' },
        description: { label: request.site.words.description, rows: 2 },
        ...(teams.length > 0 && {
          owner: {
            label: request.site.words.owner,
            options: [['', collecting.yourself] as const, ...teams.map((name) => [name, request.site.words.teamNamed(name)] as const)],
          },
        }),
        visibility: {
          label: request.site.words.visibility,
          options: [['', collecting.asDefault], ...VISIBILITIES.map((one) => [one, means[one]] as const)],
        },
      }}
      submit={label}
    />
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
