import { raw } from 'hono/html'
import type { FC } from 'hono/jsx'
import { z } from 'zod'
import { SCOPES } from '../../../library/actor.ts'
import { createKey, type keyRecord, listKeys, revokeKey } from '../../../operations/account/keys.ts'
import type { Output } from '../../../operations/core/define-operation.ts'
import { listKeyUsage } from '../../../operations/usage.ts'
import { readDocument } from '../../documents.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { ConnectBox } from '../../parts/connect-box.tsx'
import { Day } from '../../parts/day.tsx'
import { ActionButton, Choice, Fault, Field, faultOf } from '../../parts/field.tsx'
import { CHART_STYLES, KeyUse, KeyUseTable } from '../../parts/usage-charts.tsx'
import type { Action, PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'
import { SettingsPage } from './settings.tsx'

type KeyRecord = z.infer<typeof keyRecord>

/** The placeholder key in the documents. */
const PLACEHOLDER = 'cpb_...'
/** The section after those of single clients. */
const OTHER_CLIENTS = 'any-other-client'
const EXPIRIES = ['', '30', '90', '365'] as const

const newKey = z.object({ id: z.string(), key: z.string(), name: z.string() })
type NewKey = z.infer<typeof newKey>

/** A person's keys, and a form for another. The key that form made is shown once. */
export async function showKeys(request: PageRequest) {
  const [{ keys }, usage] = await Promise.all([request.call(listKeys, {}), request.call(listKeyUsage, {})])
  return <Keys request={request} keys={keys} usage={usage} made={request.takeFlash(newKey)} />
}

const Keys: FC<{ request: PageRequest; keys: readonly KeyRecord[]; usage: Output<typeof listKeyUsage>; made: NewKey | null }> = ({
  request,
  keys,
  usage,
  made,
}) => {
  const { site, sent } = request
  const { words } = site
  return (
    <SettingsPage request={request} at="/settings/keys" styles={['admin.css', ...CHART_STYLES]}>
      {made ? <NewKeySection site={site} made={made} /> : null}
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
          <fieldset>
            <legend>{words.keyPermissions}</legend>
            {SCOPES.map((scope) => (
              <label class="tick">
                <input type="checkbox" name="scopes" value={scope} checked={sent ? sent.form.all('scopes').includes(scope) : true} />{' '}
                {words.scopes[scope]}
              </label>
            ))}
            {faultOf(sent, 'scopes') ? <p class="fault">{faultOf(sent, 'scopes')}</p> : null}
          </fieldset>
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
          <ul class="entries">
            {keys.map((key) => (
              <li class={key.state === 'active' ? undefined : 'over'} data-used={key.lastUsedAt === null ? undefined : key.id}>
                <div>
                  <strong>{key.name}</strong> <span class="quiet">{key.scopes.join(', ')}</span>
                  <p class="quiet">
                    {words.created} <Day at={key.createdAt} />
                    {' · '}
                    {key.lastUsedAt === null ? (
                      words.neverUsed
                    ) : (
                      <>
                        {words.lastUsed} <Day at={key.lastUsedAt} />
                      </>
                    )}
                    {key.expiresAt === null ? null : (
                      <>
                        {' · '}
                        {words.expires} <Day at={key.expiresAt} />
                      </>
                    )}
                    {key.state === 'active' ? null : ` · ${words.keyStates[key.state]}`}
                  </p>
                  <KeyUse words={words} usage={usage} keyOf={key} />
                </div>
                {key.state === 'active' ? (
                  <Confirm label={words.revoke} name={words.revokeKey(key.name)} means={words.revokeKeyMeans}>
                    <ActionButton does="revoke" values={{ id: key.id }} label={words.revokeKey(key.name)}>
                      {words.revoke}
                    </ActionButton>
                  </Confirm>
                ) : null}
              </li>
            ))}
          </ul>
          <KeyUseTable words={words} usage={usage} keys={keys} />
        </section>
      )}
    </SettingsPage>
  )
}

/** What the document on connecting says of each client, up to where it goes on to other things. */
function clientSections(site: Site): { title: string; html: string }[] {
  const { html, sections } = readDocument('connect', site)
  const starts = sections.map(({ id }) => html.indexOf(`<h2 id="${id}"`))
  const last = sections.findIndex(({ id }) => id === OTHER_CLIENTS)
  return sections.slice(0, last).flatMap(({ text }, place) => {
    const section = html.slice(starts[place], starts[place + 1])
    return [{ title: text, html: section.slice(section.indexOf('</h2>') + '</h2>'.length) }]
  })
}

/** A new key, shown once, with client configuration. */
const NewKeySection: FC<{ site: Site; made: NewKey }> = ({ site, made: { id, key, name } }) => {
  const { words, baseUrl, hasMcp } = site
  return (
    <section class="new-key" role="status">
      <h2>{words.keyCreated(name)}</h2>
      <p>{words.keyOnce}</p>
      <div data-prompt>
        <pre data-text tabindex={0}>
          {key}
        </pre>
        <button class="button first" type="button" data-copy={words.copied} hidden>
          {words.copy}
        </button>
      </div>
      <p class="quiet" role="status" data-first-call={id} data-received={words.firstCallReceived} hidden>
        {words.firstCallAwaited}
      </p>
      {hasMcp ? <h3>{words.useWithKey}</h3> : null}
      <ConnectBox site={site} apiKey={key} />
      <h3>{words.tryKey}</h3>
      <div data-prompt>
        <pre data-text tabindex={0}>{`curl '${baseUrl}/api/prompts?perPage=3' -H 'X-API-Key: ${key}'`}</pre>
        <button class="button" type="button" data-copy={words.copied} hidden>
          {words.copy}
        </button>
      </div>
      {hasMcp
        ? clientSections(site).map(({ title, html }, place) => (
            <details open={place === 0}>
              <summary>{words.connectWith(title)}</summary>
              <div class="snippets">{raw(html.replaceAll(PLACEHOLDER, key))}</div>
            </details>
          ))
        : null}
    </section>
  )
}

/** Makes a key, which the page after it shows, or revokes one. */
export const changeKeys: Action = async (request) => {
  const { call, form } = request
  if (form.text('do') === 'revoke') {
    await call(revokeKey, { id: form.text('id') })
    return { to: '/settings/keys?done=key-revoked' }
  }
  const days = form.text('expiresInDays')
  const { key, record } = await call(createKey, {
    name: form.text('name'),
    scopes: form.allChoices('scopes', SCOPES),
    expiresInDays: days === '' ? undefined : Number(days),
  })
  return { to: '/settings/keys', flash: { id: record.id, key, name: record.name } satisfies NewKey }
}
