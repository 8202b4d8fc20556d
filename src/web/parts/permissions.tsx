import type { FC } from 'hono/jsx'
import { DEFAULT_SCOPES, type Scope } from '../../domain/people/actor.ts'
import { listCollections } from '../../operations/collections/collections.ts'
import { listTeams } from '../../operations/teams/teams.ts'
import type { SentForm } from '../forms.ts'
import type { PageRequest } from '../request.ts'
import type { Words } from '../site.ts'
import { Choice, faultOf } from './field.tsx'

/** A team or collection that a key or a program can be narrowed to, with its name. */
export type Reaches = readonly (readonly [value: string, name: string])[]

/** The teams and collections that a key of the reader can be narrowed to. */
export async function readReaches({ call, site: { words } }: Pick<PageRequest, 'call' | 'site'>): Promise<Reaches> {
  const [{ teams }, { collections }] = await Promise.all([call(listTeams, {}), call(listCollections, { perPage: 100 })])
  return [
    ...teams.map(({ name }) => [`team ${name}`, words.keyReachesTeam(name)] as const),
    ...collections.map(({ id, title }) => [`collection ${id}`, words.keyReachesCollection(title)] as const),
  ]
}

/** The choice of a form. */
export function chosenReach(form: SentForm): { team?: string; collections?: string[] } {
  const reach = form.text('reach')
  if (reach.startsWith('team ')) return { team: reach.slice(5) }
  return reach.startsWith('collection ') ? { collections: [reach.slice(11)] } : {}
}

/** The field to choose one. */
export const Reach: FC<{ sent: PageRequest['sent']; words: Words; label: string; reaches: Reaches }> = ({ sent, words, label, reaches }) =>
  reaches.length === 0 ? null : <Choice sent={sent} name="reach" label={label} value="" options={[['', words.keyReachesAll], ...reaches]} />

/** A tick for each scope. */
export const Permissions: FC<{ sent: PageRequest['sent']; words: Words; scopes: readonly Scope[] }> = ({ sent, words, scopes }) => (
  <fieldset>
    <legend>{words.keyPermissions}</legend>
    {scopes.map((scope) => (
      <label class="tick">
        <input
          type="checkbox"
          name="scopes"
          value={scope}
          checked={sent ? sent.form.all('scopes').includes(scope) : DEFAULT_SCOPES.some((one) => one === scope)}
        />{' '}
        {words.scopes[scope]}
      </label>
    ))}
    {faultOf(sent, 'scopes') ? <p class="fault">{faultOf(sent, 'scopes')}</p> : null}
  </fieldset>
)
