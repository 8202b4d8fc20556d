import type { FC } from 'hono/jsx'
import { SCOPES } from '../../../domain/people/actor.ts'
import { listKeys, revokeKey } from '../../../operations/account/keys.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { listKeyUsage } from '../../../operations/usage.ts'
import { CLIENT_IDS } from '../../client-configs.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Day } from '../../parts/day.tsx'
import { ActionButton, Choice, Fault, Field } from '../../parts/field.tsx'
import { makeKey, type NewKey, NewKeySection, newKey } from '../../parts/new-key.tsx'
import { Permissions, Reach, type Reaches, readReaches } from '../../parts/permissions.tsx'
import { CHART_STYLES, KeyUse, KeyUseTable } from '../../parts/usage-charts.tsx'
import type { Action, PageRequest } from '../../request.ts'
import type { Words } from '../../site.ts'
import { SettingsPage } from './settings.tsx'

type KeyRecord = Output<typeof listKeys>['keys'][number]

const EXPIRIES = ['', '30', '90', '365'] as const

/** A person's keys, and a form for another. The key that form made is shown once. */
export async function showKeys(request: PageRequest) {
  const [{ keys }, usage, reaches] = await Promise.all([request.call(listKeys, {}), request.call(listKeyUsage, {}), readReaches(request)])
  const own = keys.filter(({ program }) => program === null)
  return <Keys request={request} keys={own} usage={usage} made={request.takeFlash(newKey)} reaches={reaches} />
}

interface KeysProps {
  readonly request: PageRequest
  readonly keys: readonly KeyRecord[]
  readonly usage: Output<typeof listKeyUsage>
  readonly made: NewKey | null
  readonly reaches: Reaches
}

const Keys: FC<KeysProps> = ({ request, keys, usage, made, reaches }) => {
  const { site, sent } = request
  const { words } = site
  return (
    <SettingsPage request={request} at="/settings/keys" styles={['admin.css', 'connect.css', ...CHART_STYLES]}>
      {made ? <NewKeySection site={site} made={made} chosen={CLIENT_IDS[0]} /> : null}
      <section>
        <h2>{words.newKey}</h2>
        <p class="quiet">{words.keysLead}</p>
        <Fault sent={sent} fields={['name', 'scopes', 'expiresInDays']} words={words} />
        <form method="post" class="fields">
          <Field
            sent={sent}
            name="name"
            label={words.keyName}
            value={keys.length === 0 ? words.firstKeyName : ''}
            hint={words.keyNameHint}
            maxlength={100}
            autocomplete="off"
            isRequired
          />
          <Permissions sent={sent} words={words} scopes={SCOPES} />
          <Reach sent={sent} words={words} label={words.keyReaches} reaches={reaches} />
          <Choice
            sent={sent}
            name="expiresInDays"
            label={words.keyExpires}
            value=""
            options={EXPIRIES.map((days) => [days, days === '' ? words.never : words.inDays(Number(days))])}
          />
          <p>
            <button class="button first" type="submit" name="do" value="create">
              {words.createKey}
            </button>
          </p>
        </form>
      </section>
      {keys.length === 0 ? null : (
        <section>
          <h2>{words.yourKeys}</h2>
          <KeyEntries
            words={words}
            keys={keys}
            usage={usage}
            ends={words.revoke}
            endsNamed={words.revokeKey}
            means={words.revokeKeyMeans}
          />
          <KeyUseTable words={words} usage={usage} keys={keys} />
        </section>
      )}
    </SettingsPage>
  )
}

interface KeyEntriesProps {
  readonly words: Words
  readonly keys: readonly KeyRecord[]
  readonly usage: Output<typeof listKeyUsage>
  /** The label of the button that ends one, alone and with its name, and its explanation. */
  readonly ends: string
  readonly endsNamed: (name: string) => string
  readonly means: string
}

/** Keys, or what programs hold, with a button that ends each. */
export const KeyEntries: FC<KeyEntriesProps> = ({ words, keys, usage, ends, endsNamed, means }) => (
  <ul class="entries">
    {keys.map((key) => (
      <li class={key.state === 'active' ? undefined : 'over'} data-used={key.lastUsedAt === null ? undefined : key.id}>
        <div>
          <strong>{key.name}</strong> <span class="quiet">{key.scopes.join(', ')}</span>
          {key.narrowedTo === null ? null : <span class="quiet"> · {words.narrowedTo(key.narrowedTo)}</span>}
          <p class="quiet">
            {words.created} <Day words={words} at={key.createdAt} />
            {' · '}
            {key.lastUsedAt === null ? (
              words.neverUsed
            ) : (
              <>
                {words.lastUsed} <Day words={words} at={key.lastUsedAt} />
              </>
            )}
            {key.expiresAt === null ? null : (
              <>
                {' · '}
                {words.expires} <Day words={words} at={key.expiresAt} />
              </>
            )}
            {key.state === 'active' ? null : ` · ${words.keyStates[key.state]}`}
          </p>
          <KeyUse words={words} usage={usage} keyOf={key} />
        </div>
        {key.state === 'active' ? (
          <Confirm label={ends} name={endsNamed(key.name)} means={means}>
            <ActionButton does="revoke" values={{ id: key.id }} label={endsNamed(key.name)}>
              {ends}
            </ActionButton>
          </Confirm>
        ) : null}
      </li>
    ))}
  </ul>
)

/** Makes a key, which the page after it shows, or revokes one. */
export const changeKeys: Action = async (request) => {
  const { call, form } = request
  if (form.text('do') === 'revoke') {
    await call(revokeKey, { id: form.text('id') })
    return { to: '/settings/keys?done=key-revoked' }
  }
  return { to: '/settings/keys', flash: await makeKey(request) }
}
