import type { FC } from 'hono/jsx'
import { z } from 'zod'
import { DEFAULT_SCOPES, SCOPES, type Scope } from '../../domain/people/actor.ts'
import { createKey } from '../../operations/account/keys.ts'
import { listCollections } from '../../operations/collections/collections.ts'
import { listTeams } from '../../operations/teams/teams.ts'
import type { ClientId } from '../client-configs.ts'
import type { SentForm } from '../forms.ts'
import { claudeCommand, linkInstalls } from '../install-links.ts'
import type { Action, PageRequest } from '../request.ts'
import type { Site, Words } from '../site.ts'
import { ClientTabs } from './client-tabs.tsx'
import { Link, LinkLine, Submit } from './controls.tsx'
import { Field, faultOf } from './field.tsx'
import { Sample, ShownOnce } from './sample.tsx'

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
  reaches.length === 0 ? null : <Field sent={sent} name="reach" label={label} value="" options={[['', words.keyReachesAll], ...reaches]} />

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

/** The data for the page after a form that creates a key. */
export const newKey = z.object({ id: z.string(), key: z.string(), name: z.string() })
export type NewKey = z.infer<typeof newKey>

/** Creates the key that a form describes. */
export async function makeKey({ call, form }: Pick<Parameters<Action>[0], 'call' | 'form'>): Promise<NewKey> {
  const days = form.text('expiresInDays')
  const { key, record } = await call(createKey, {
    name: form.text('name'),
    scopes: form.allChoices('scopes', SCOPES),
    expiresInDays: days === '' ? undefined : Number(days),
    ...chosenReach(form),
  })
  return { id: record.id, key, name: record.name }
}

/** The fields of a form with one button that creates a key with the default scopes. */
export const FirstKeyFields: FC<{ words: Site['words'] }> = ({ words }) => (
  <>
    <input type="hidden" name="name" value={words.firstKeyName} />
    {DEFAULT_SCOPES.map((scope) => (
      <input type="hidden" name="scopes" value={scope} />
    ))}
  </>
)

/** A new key, shown once, with the configuration of each client. */
export const NewKeySection: FC<{ site: Site; made: NewKey; chosen: ClientId }> = ({ site, made: { id, key, name }, chosen }) => {
  const { words, baseUrl, hasMcp } = site
  return (
    <ShownOnce words={words} title={words.keyCreated(name)} lead={words.keyOnce} texts={[key]}>
      <p class="quiet" role="status" data-first-call={id} data-received={words.firstCallReceived} hidden>
        {words.firstCallAwaited}
      </p>
      {hasMcp ? (
        <>
          <h3>{words.useWithKey}</h3>
          <ClientTabs site={site} apiKey={key} chosen={chosen} />
        </>
      ) : null}
      <h3>{words.tryKey}</h3>
      <Sample words={words} text={`curl '${baseUrl}/api/prompts?perPage=3' -H 'X-API-Key: ${key}'`} />
    </ShownOnce>
  )
}

/** How to use the service from a client, in one step, for public items. Where every item needs a key, a link to the page that creates one. */
export const ConnectBox: FC<{ site: Site }> = ({ site: { words, baseUrl, hasMcp, isForMembers, reader } }) => {
  if (!hasMcp) return null
  if (isForMembers) return <LinkLine to="/connect" look="button" text={words.connect} />
  const endpoint = `${baseUrl}/api/mcp`
  return (
    <div class="connect-box">
      <div class="actions">
        {linkInstalls(endpoint, null).map(({ client, href }) => (
          <Link to={href} look="button" rel="nofollow" text={words.installIn[client]} />
        ))}
      </div>
      <Sample words={words} text={claudeCommand(endpoint, null)} />
      {reader ? (
        <form method="post" action="/connect">
          <p class="quiet">
            <FirstKeyFields words={words} />
            {words.publicOnly} <Submit does="create" look="link" text={words.createKeyHere} />
          </p>
        </form>
      ) : null}
    </div>
  )
}
